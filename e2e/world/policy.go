package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
)

// servePolicy answers a Postfix server that asks about each recipient of a
// submitted mail, in its policy protocol: lines name=value up to an empty one.
func servePolicy(addr, access string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			recipient := ""
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				if name, value, _ := strings.Cut(lines.Text(), "="); name == "recipient" {
					recipient = value
				} else if name == "" {
					fmt.Fprintf(conn, "action=%s\n\n", action(access, recipient))
				}
			}
		}()
	}
}

// action looks a recipient up in lines such as "a@b.test 450 4.2.0 later".
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
