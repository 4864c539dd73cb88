package mailbox

import (
	"cmp"
	"context"
	"errors"
	"net"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Sender sends letters through one SMTP submission server, RFC 6409. It may be
// used by several goroutines, and is closed after use. The fields are set
// before.
type Sender struct {
	Account   Account
	LocalName string        // for EHLO; localhost if empty
	Timeout   time.Duration // of sending one letter; 20 min if 0
	Dial      DialFunc      // nil: net.Dialer

	kept keptConn
}

// Phase is how far a letter came.
type Phase string

// The phases in which sending may fail.
const (
	PhaseLetter  Phase = "letter"  // refused here, nothing was connected to
	PhaseConnect Phase = "connect" // name, network, TLS, greeting
	PhaseLogin   Phase = "login"   // the password source or the server refused
	PhaseMail    Phase = "mail"    // MAIL FROM: the sender was refused
	PhaseRcpt    Phase = "rcpt"    // RCPT TO: the recipient was refused
	PhaseData    Phase = "data"    // the content was refused, or it is unknown whether it was taken
)

// SendError is every error of Send and Probe.
type SendError struct {
	Phase     Phase
	Code      int  // the SMTP reply, 0 if there was none
	Temporary bool // the same letter may go through later
	Text      string

	err error
}

// Error says in one printable line, without credentials, what failed where.
func (e *SendError) Error() string { return "sending mail: " + e.Text }

// Told is Error for whoever may not know of this side's hosts, files and
// commands, as a model that talks to strangers.
func (e *SendError) Told() string {
	switch {
	case e.Phase == PhaseLetter:
		return e.Text
	case e.Phase == PhaseConnect || e.Phase == PhaseLogin:
		return "the mail server cannot be reached, or lets nobody in; the owner sees why"
	case e.Code != 0:
		return words(e.err)
	}
	return "the connection to the mail server was lost"
}

// Unwrap gives the cause, whose text may hold anything.
func (e *SendError) Unwrap() error { return e.err }

// RFC 5321 §4.5.3.2. Shorter waits for the last reply make duplicates.
const (
	smtpCommandTimeout = 5 * time.Minute
	smtpDataTimeout    = 10 * time.Minute
	smtpTimeout        = 20 * time.Minute
	maxSMTPReplies     = 256 << 10 // bytes of one connection, TLS records included
)

// Send makes one SMTP transaction of the letter. Its error is a *SendError:
// permanent for a letter that may not be sent and after a 5xx reply, temporary
// for everything else, also when the connection is lost before the last reply,
// so that a letter may arrive twice but is not lost. nil means the server has
// taken it; the connection is then kept for a few seconds for the next letter.
func (s *Sender) Send(ctx context.Context, l Letter) error {
	if err := l.check(); err != nil {
		return &SendError{Phase: PhaseLetter, Text: visible(err.Error()), err: err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(s.Timeout, smtpTimeout), errTimeout)
	defer cancel()
	if c := s.kept.take(); c != nil {
		if err := s.sendOn(ctx, c, l); err == nil || ctx.Err() != nil || !wasGone(err) {
			return err
		}
	}
	c, err := s.open(ctx)
	if err != nil {
		return err
	}
	return s.sendOn(ctx, c, l)
}

// sendOn sends a letter on a connection, which is kept if the letter was taken
// and closed otherwise.
func (s *Sender) sendOn(ctx context.Context, c *smtpConn, l Letter) error {
	err := c.until(ctx, func() error { return s.transfer(ctx, c.Client, l) })
	if err != nil {
		c.conn.Close()
		return err
	}
	s.kept.put(c)
	return nil
}

// Close ends what is left of earlier letters. The Sender may be used again.
func (s *Sender) Close() {
	if c := s.kept.take(); c != nil {
		c.quit()
	}
}

// Probe connects, logs in and leaves again.
func (s *Sender) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(s.Timeout, smtpTimeout), errTimeout)
	defer cancel()
	c, err := s.open(ctx)
	if err == nil {
		c.quit()
	}
	return err
}

// open connects and logs in.
func (s *Sender) open(ctx context.Context) (*smtpConn, error) {
	password, err := s.Account.password(ctx)
	if err != nil {
		return nil, s.failed(ctx, PhaseLogin, err)
	}
	conn, err := s.Account.dial(ctx, s.Dial)
	if err != nil {
		return nil, s.failed(ctx, PhaseConnect, err)
	}
	c := &smtpConn{conn: &cappedConn{conn, maxSMTPReplies}}
	phase := PhaseConnect
	err = c.until(ctx, func() (err error) {
		if c.Client, err = s.greet(c.conn); err != nil {
			return err
		}
		phase = PhaseLogin
		if err = s.logIn(c.Client, password); err != nil {
			err = redacted(err, s.Account.User, password)
		}
		return err
	})
	if err != nil {
		c.conn.Close()
		return nil, s.failed(ctx, phase, err)
	}
	return c, nil
}

// greet goes to the EHLO that counts, over TLS if that is asked for. The
// library drops what was said before TLS, and refuses a server without it.
func (s *Sender) greet(conn net.Conn) (*smtp.Client, error) {
	var c *smtp.Client
	var err error
	if s.Account.TLS == StartTLS {
		c, err = smtp.NewClientStartTLS(conn, s.Account.tlsConfig())
	} else {
		c = smtp.NewClient(conn)
	}
	if err != nil {
		return nil, err
	}
	c.CommandTimeout, c.SubmissionTimeout = smtpCommandTimeout, smtpDataTimeout
	return c, c.Hello(cmp.Or(s.LocalName, "localhost"))
}

func (s *Sender) logIn(c *smtp.Client, password string) error {
	switch {
	case c.SupportsAuth(sasl.Plain):
		return c.Auth(sasl.NewPlainClient("", s.Account.User, password))
	case c.SupportsAuth(sasl.Login):
		return c.Auth(sasl.NewLoginClient(s.Account.User, password))
	}
	return errors.New("the server offers neither AUTH PLAIN nor AUTH LOGIN")
}

func (s *Sender) transfer(ctx context.Context, c *smtp.Client, l Letter) error {
	if err := c.Mail(l.From, &smtp.MailOptions{Size: int64(len(l.Raw))}); err != nil {
		return s.failed(ctx, PhaseMail, err)
	}
	if err := c.Rcpt(l.To, nil); err != nil {
		return s.failed(ctx, PhaseRcpt, err)
	}
	data, err := c.Data()
	if err != nil {
		return s.failed(ctx, PhaseData, err)
	}
	// Dot-stuffing, RFC 5321 §4.5.2, is the library's.
	if _, err := data.Write(l.Raw); err != nil {
		return s.failed(ctx, PhaseData, err)
	}
	if err := data.Close(); err != nil && !accepted(err) {
		return s.failed(ctx, PhaseData, err)
	}
	return nil
}

// accepted knows a positive reply that is not the usual 250: RFC 5321 §4.2.1,
// the first digit decides.
func accepted(err error) bool {
	var reply *smtp.SMTPError
	return errors.As(err, &reply) && reply.Code/100 == 2
}

func (s *Sender) failed(ctx context.Context, phase Phase, err error) *SendError {
	e := &SendError{Phase: phase, Temporary: true, err: err}
	var reply *smtp.SMTPError
	var at *connError
	switch {
	case ctx.Err() != nil:
		e.Text = failed(string(phase), s.Account.addr(), context.Cause(ctx)).Error()
	case errors.As(err, &reply):
		e.Code, e.Temporary = reply.Code, reply.Code/100 != 5
		e.Text = failed(string(phase), s.Account.addr(), err).Error()
	case errors.As(err, &at):
		e.Text = at.Error()
	default:
		e.Text = failed(string(phase), s.Account.addr(), err).Error()
	}
	return e
}
