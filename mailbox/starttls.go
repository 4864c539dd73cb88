package mailbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

const (
	maxPlainLine  = 8 << 10
	maxPlainLines = 64
)

// imapStartTLS goes from the greeting to TLS on a plain connection, before the
// library sees it: nothing said in clear reaches the library, and it parses
// nothing below TLS, where the guard could not watch it. Errors close nothing.
func imapStartTLS(ctx context.Context, conn net.Conn, e Endpoint) (net.Conn, error) {
	greeting, err := plainLine(conn)
	if err != nil {
		return nil, failed("awaiting the greeting of", e.addr(), err)
	}
	// RFC 9051 §7.1.4: PREAUTH would skip TLS and show a man in the middle
	// everything that follows.
	if !strings.HasPrefix(strings.ToUpper(greeting), "* OK") {
		return nil, failed("awaiting the greeting of", e.addr(), fmt.Errorf("the server says: %s", greeting))
	}
	if _, err := io.WriteString(conn, "S1 STARTTLS\r\n"); err != nil {
		return nil, failed("asking for STARTTLS at", e.addr(), err)
	}
	if err := startTLSAccepted(conn); err != nil {
		return nil, failed("asking for STARTTLS at", e.addr(), err)
	}
	return e.secure(ctx, conn)
}

// startTLSAccepted reads to the answer of S1. Untagged lines are dropped: they
// are not authenticated. What follows the answer is left to the handshake,
// which fails on injected plaintext (I12).
func startTLSAccepted(r io.Reader) error {
	for range maxPlainLines {
		line, err := plainLine(r)
		if err != nil {
			return err
		}
		if tag, rest, _ := strings.Cut(line, " "); tag == "S1" {
			if strings.HasPrefix(strings.ToUpper(rest), "OK") {
				return nil
			}
			return fmt.Errorf("the server says: %s", rest)
		}
	}
	return errors.New("the server does not come to the point")
}

// plainLine reads one line byte by byte, so that nothing behind it is taken
// from the connection.
func plainLine(r io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) < maxPlainLine; {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, one[0])
	}
	return "", fmt.Errorf("%w: a line over %d bytes", errBeyondBudget, maxPlainLine)
}
