package mailbox

import (
	"io"
	"net"
	"syscall"
	"testing"
)

// quick reads or sets TCP_QUICKACK.
func quick(t *testing.T, c promptConn, option func(fd int) (int, error)) (value int) {
	t.Helper()
	var err error
	if failed := c.raw.Control(func(fd uintptr) { value, err = option(int(fd)) }); failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	return value
}

func TestPrompt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	looked := make(chan struct{}) // the end of a connection clears the option
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = conn.Write([]byte("hello"))
			<-looked
			conn.Close()
		}
	}()
	dialed, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	c := prompt(dialed).(promptConn)
	quick(t, c, func(fd int) (int, error) {
		return 0, syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 0)
	})
	if got, err := io.ReadAll(io.LimitReader(c, 5)); err != nil || string(got) != "hello" {
		t.Errorf("read %q, %v", got, err)
	}
	set := quick(t, c, func(fd int) (int, error) {
		return syscall.GetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_QUICKACK)
	})
	if set != 1 {
		t.Error("what was read is not acknowledged at once")
	}
	close(looked)
	if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
}

// TestPromptOther leaves alone what has no such option.
func TestPromptOther(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if prompt(a) != a {
		t.Error("wrapped")
	}
}
