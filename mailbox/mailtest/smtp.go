package mailtest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// smtpSession is one connection; it knows one transaction at a time.
type smtpSession struct {
	server *Server
	client string // the name it gave at EHLO
	authed bool
	from   string
	to     []string
}

func (s *Server) newSMTPSession(c *smtp.Conn) (smtp.Session, error) {
	return &smtpSession{server: s, client: c.Hostname()}, nil
}

// AuthMechanisms names the only one.
func (s *smtpSession) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth checks a user's address and password.
func (s *smtpSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if !s.server.knows(username, password) {
			return smtp.ErrAuthFailed
		}
		s.authed = true
		return nil
	}), nil
}

// Mail begins a transaction.
func (s *smtpSession) Mail(from string, _ *smtp.MailOptions) error {
	if !s.authed {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return s.server.refusal("MAIL")
}

// Rcpt takes the server's own users only.
func (s *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := s.server.refusal("RCPT"); err != nil {
		return err
	}
	if s.server.users[to] == nil {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such user"}
	}
	s.to = append(s.to, to)
	return nil
}

// Data takes the mail and delivers it.
func (s *smtpSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.server.refusal("DATA"); err != nil {
		return err
	}
	return s.server.accept(Received{From: s.from, To: slices.Clone(s.to), Raw: raw}, s.client)
}

// Reset forgets the transaction.
func (s *smtpSession) Reset() { s.from, s.to = "", nil }

// Logout has nothing to do.
func (s *smtpSession) Logout() error { return nil }

// accept delivers a mail as an MTA does, with its trace on top, RFC 5321 §4.4.
func (s *Server) accept(mail Received, client string) error {
	s.mu.Lock()
	s.sent = append(s.sent, mail)
	n := len(s.sent)
	s.mu.Unlock()
	now := s.now()
	for _, to := range mail.To {
		var b bytes.Buffer
		fmt.Fprintf(&b, "Return-Path: <%s>\r\n", mail.From)
		fmt.Fprintf(&b, "Received: from %s ([127.0.0.1]) by mailtest.invalid with ESMTPA id %d\r\n\tfor <%s>; %s\r\n",
			client, n, to, now.Format(time.RFC1123Z))
		b.Write(mail.Raw)
		if err := s.Append(to, b.Bytes(), now); err != nil {
			return err
		}
	}
	return nil
}
