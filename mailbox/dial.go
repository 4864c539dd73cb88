package mailbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// errNotLoopback refuses a password on the wire in clear (I13, X5).
var errNotLoopback = errors.New("no TLS is allowed to loopback addresses only: set tls or starttls")

func (e Endpoint) addr() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// check refuses an endpoint that must not be connected to.
func (e Endpoint) check() error {
	switch e.TLS {
	case ImplicitTLS, StartTLS:
		return nil
	case NoTLS:
		// RFC 6761 §6.3: the name localhost is always the loopback.
		if ip := net.ParseIP(e.Host); e.Host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return errNotLoopback
		}
		return nil
	}
	return fmt.Errorf("unknown TLS mode %q", e.TLS)
}

func (e Endpoint) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: e.Host, RootCAs: e.RootCAs, MinVersion: tls.VersionTLS12}
}

const dialTimeout = time.Minute // for the connection and for TLS

// dial opens the connection, with TLS already on it in the implicit mode.
func (e Endpoint) dial(ctx context.Context, dial DialFunc) (net.Conn, error) {
	if err := e.check(); err != nil {
		return nil, failed("connecting to", e.addr(), err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, dialTimeout, errTimeout)
	defer cancel()
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(ctx, "tcp", e.addr())
	if err != nil {
		return nil, failed("connecting to", e.addr(), err)
	}
	conn = prompt(conn)
	if e.TLS != ImplicitTLS {
		return conn, nil
	}
	return e.secure(ctx, conn)
}

// secure puts TLS on a connection and proves the server's name.
func (e Endpoint) secure(ctx context.Context, conn net.Conn) (net.Conn, error) {
	secured := tls.Client(conn, e.tlsConfig())
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, failed("starting TLS with", e.addr(), err)
	}
	return secured, nil
}

// password asks for the account's password.
func (a Account) password(ctx context.Context) (string, error) {
	if a.Password == nil {
		return "", failed("logging in to", a.addr(), errors.New("no password is configured"))
	}
	password, err := a.Password(ctx)
	if err == nil && password == "" {
		err = errNoSecret
	}
	if err != nil {
		return "", failed("logging in to", a.addr(), err)
	}
	return password, nil
}
