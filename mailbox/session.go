package mailbox

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-sasl"
)

// errTimeout is the cause when the other side let an exchange run out of time.
var errTimeout = errors.New("the server did not answer in time")

// session is one IMAP connection, logged in.
type session struct {
	client *imapclient.Client
	guard  *guard
	addr   string
	idle   bool          // the server has IDLE, RFC 2177
	wake   chan struct{} // holds one token once the server spoke of mail unasked
}

// newSession connects and logs in. The caller closes the session.
func newSession(ctx context.Context, a Account, dial DialFunc) (*session, error) {
	password, err := a.password(ctx)
	if err != nil {
		return nil, err
	}
	conn, preface, err := imapConn(ctx, a.Endpoint, dial)
	if err != nil {
		return nil, err
	}
	s := &session{guard: newGuard(conn, preface), addr: a.addr(), wake: make(chan struct{}, 1)}
	s.client = imapclient.New(s.guard, &imapclient.Options{
		UnilateralDataHandler: &imapclient.UnilateralDataHandler{Mailbox: s.told},
	})
	if err := s.logIn(ctx, a.User, password); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// imapConn opens a connection on which it is safe to say the password. Where
// the server has greeted already, before TLS, a preface stands for that.
func imapConn(ctx context.Context, e Endpoint, dial DialFunc) (conn net.Conn, preface string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, budgetSmall.wait, errTimeout)
	defer cancel()
	plain, err := e.dial(ctx, dial)
	if err != nil || e.TLS != StartTLS {
		return plain, "", err
	}
	defer context.AfterFunc(ctx, func() { plain.Close() })()
	secured, err := imapStartTLS(ctx, plain, e)
	if err != nil {
		plain.Close()
		return nil, "", orCause(ctx, err)
	}
	return secured, "* OK secured\r\n", nil
}

// orCause prefers the reason why a connection was closed here to the error
// that the closing made.
func orCause(ctx context.Context, err error) error {
	var at *connError
	if ctx.Err() != nil && errors.As(err, &at) {
		return failed(at.phase, at.addr, context.Cause(ctx))
	}
	return err
}

// exchange runs one command with its answer inside a budget. The connection is
// closed when the budget or ctx is at its end.
func (s *session) exchange(ctx context.Context, phase string, b budget, run func() error) error {
	s.guard.allow(b)
	ctx, cancel := context.WithTimeoutCause(ctx, b.wait, errTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { s.guard.Close() })()
	err := run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case s.guard.failure() != nil:
		err = s.guard.failure() // the library hides it in a text
	}
	return failed(phase, s.addr, err)
}

// told is called by the library for what the server says unasked.
func (s *session) told(data *imapclient.UnilateralDataMailbox) {
	if data.NumMessages == nil {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *session) logIn(ctx context.Context, user, password string) error {
	err := s.exchange(ctx, "awaiting the greeting of", budgetSmall, s.client.WaitGreeting)
	if err != nil {
		return err
	}
	// RFC 9051 §7.1.4: an account that we did not log in to is not ours.
	if s.client.State() != imap.ConnStateNotAuthenticated {
		return failed("awaiting the greeting of", s.addr, errors.New("the server says PREAUTH"))
	}
	return s.exchange(ctx, "logging in to", budgetSmall, func() error {
		if err := s.authenticate(user, password); err != nil {
			return redacted(err, user, password)
		}
		// Asked for again: logging in may change them, RFC 9051 §6.2.
		caps, err := s.client.Capability().Wait()
		s.idle = caps.Has(imap.CapIdle)
		return err
	})
}

func (s *session) authenticate(user, password string) error {
	caps := s.client.Caps()
	switch {
	case caps.Has(imap.AuthCap(sasl.Plain)):
		return s.client.Authenticate(sasl.NewPlainClient("", user, password))
	case caps.Has(imap.CapLoginDisabled): // RFC 9051 §6.2.3
		return errors.New("the server allows no password login here (LOGINDISABLED)")
	}
	return s.client.Login(user, password).Wait()
}

// examine opens the folder read-only, so that no flag can change by it.
func (s *session) examine(ctx context.Context, folder string) (*imap.SelectData, error) {
	var data *imap.SelectData
	err := s.exchange(ctx, fmt.Sprintf("opening folder %q at", folder), budgetSmall, func() (err error) {
		data, err = s.client.Select(folder, &imap.SelectOptions{ReadOnly: true}).Wait()
		return err
	})
	if err != nil {
		return nil, err
	}
	if data.UIDValidity == 0 {
		return nil, failed("opening folder at", s.addr, errors.New("the server gives no UIDVALIDITY"))
	}
	return data, nil
}

// logOut ends the session politely; what comes of it does not matter.
func (s *session) logOut(ctx context.Context) {
	_ = s.exchange(ctx, "logging out of", budgetSmall, func() error { return s.client.Logout().Wait() })
	s.close()
}

func (s *session) close() {
	s.guard.Close()
	s.client.Close()
}
