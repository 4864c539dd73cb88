package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
)

// greylist is an action of the access file: the first try of a sender at a
// recipient is put off, every later one is let through.
const greylist = "greylist"

// tried holds the sender and recipient of each try that was put off.
type tried struct{ sync.Map }

func (t *tried) action(sender, recipient string) string {
	if _, again := t.LoadOrStore(sender+" "+recipient, true); again {
		return "DUNNO"
	}
	return "450 4.2.0 greylisted, come back later"
}

// servePolicy answers a Postfix server that asks about each recipient of a
// submitted mail, in its policy protocol: lines name=value up to an empty one.
func servePolicy(addr, access string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	var before tried
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			ask := map[string]string{}
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				name, value, _ := strings.Cut(lines.Text(), "=")
				if name != "" {
					ask[name] = value
					continue
				}
				what := action(access, ask["recipient"])
				if what == greylist {
					what = before.action(ask["sender"], ask["recipient"])
				}
				fmt.Fprintf(conn, "action=%s\n\n", what)
			}
		}()
	}
}

// action looks a recipient up in lines such as "a@b.test 450 4.2.0 later" and
// "c@d.test greylist".
func action(access, recipient string) string {
	data, err := os.ReadFile(access)
	if err != nil {
		return "451 4.3.0 the access file cannot be read"
	}
	for line := range strings.Lines(string(data)) {
		if address, reply, ok := strings.Cut(strings.TrimSpace(line), " "); ok && address == recipient {
			return reply
		}
	}
	return "DUNNO"
}
