package mailbox_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// FuzzServer lets a server say anything at all: its lines are given in turns,
// one for each command, cut at empty lines. Whatever it says, Run comes back
// from its context and from nothing else, leaves no goroutine, and keeps what
// Deliver promises.
func FuzzServer(f *testing.F) {
	seeds, err := filepath.Glob("testdata/server/*")
	if err != nil || len(seeds) < 3 {
		f.Fatalf("seeds %q, error %v", seeds, err)
	}
	for _, path := range seeds {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		synctest.Test(t, func(t *testing.T) {
			server, l := newFake(), seenLedger()
			w := server.watcher()
			w.Dial = func(context.Context, string, string) (net.Conn, error) {
				client, conn := net.Pipe()
				server.serving.Go(func() { recite(conn, said) })
				return client, nil
			}
			server.run(t, w, l, 10*time.Minute)
		})
	})
}

func recite(conn net.Conn, said []byte) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for _, turn := range bytes.Split(said, []byte("\r\n\r\n")) {
		if _, err := conn.Write(append(turn, "\r\n"...)); err != nil {
			return
		}
		if _, err := r.ReadString('\n'); err != nil {
			return
		}
	}
	_, _ = io.Copy(io.Discard, r)
}

// The seeds are worth something: the first delivers its mail.
func TestRecital(t *testing.T) {
	said, err := os.ReadFile("testdata/server/mail")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		server, l := newFake(), seenLedger()
		w := server.watcher()
		w.Dial = func(context.Context, string, string) (net.Conn, error) {
			client, conn := net.Pipe()
			server.serving.Go(func() { recite(conn, said) })
			return client, nil
		}
		server.run(t, w, l, time.Minute)
		if got := l.raws(); len(got) != 1 || got[0] != "hello" {
			t.Errorf("delivered %q, %+v", got, w.Health())
		}
	})
}
