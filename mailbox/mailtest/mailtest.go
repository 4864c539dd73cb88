// Package mailtest is a mail server within the process, for the demo and for
// tests: SMTP submission, delivery between its users, and IMAP with IDLE. It
// listens on the loopback only and keeps everything in memory.
package mailtest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-smtp"

	"github.com/agentmaild/agentmaild/mailbox"
)

// Options say what a Server is to be.
type Options struct {
	Users    map[string]string // password by address; the address is the login name
	TLS      bool              // implicit TLS, under a CA of its own
	StartTLS bool              // TLS by STARTTLS; neither: none
	Clock    func() time.Time  // of arrivals; nil: time.Now
}

// Received is a mail that SMTP accepted.
type Received struct {
	From string // return path, empty for the null one
	To   []string
	Raw  []byte // as it was sent, without the lines that delivery adds
}

// Server is a running mail server. Its methods may be called from any
// goroutine.
type Server struct {
	options    Options
	roots      *x509.CertPool
	imapServer *imapserver.Server
	smtpServer *smtp.Server
	imap, smtp net.Listener
	serving    sync.WaitGroup
	users      map[string]user

	mu       sync.Mutex
	sent     []Received
	refusals map[string]*smtp.SMTPError // by SMTP command, for the next one
	arrived  chan struct{}              // closed and replaced at every arrival
}

// Start listens on two free ports of the loopback. The caller closes the
// server.
func Start(options Options) (*Server, error) {
	s := &Server{
		options:  options,
		users:    make(map[string]user),
		refusals: make(map[string]*smtp.SMTPError),
		arrived:  make(chan struct{}),
	}
	for address := range options.Users {
		s.users[address] = user{"INBOX": new(folder), "Sent": new(folder)}
	}
	if err := s.listen(); err != nil {
		return nil, fmt.Errorf("starting the mail server: %w", err)
	}
	return s, nil
}

func (s *Server) listen() error {
	var config *tls.Config
	if s.options.TLS || s.options.StartTLS {
		var err error
		if config, s.roots, err = newCertificate(); err != nil {
			return err
		}
	}
	var err error
	if s.imap, err = s.listener(config); err != nil {
		return err
	}
	if s.smtp, err = s.listener(config); err != nil {
		s.imap.Close()
		return err
	}
	s.imapServer, s.smtpServer = s.newIMAP(config), s.newSMTP(config)
	s.serving.Go(func() { _ = s.imapServer.Serve(s.imap) })
	s.serving.Go(func() { _ = s.smtpServer.Serve(s.smtp) })
	return nil
}

func (s *Server) listener(config *tls.Config) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil && s.options.TLS {
		l = tls.NewListener(l, config)
	}
	return l, err
}

func (s *Server) newIMAP(config *tls.Config) *imapserver.Server {
	options := &imapserver.Options{
		Caps:         imap.CapSet{imap.CapIMAP4rev1: {}, imap.CapUIDPlus: {}},
		NewSession:   s.newIMAPSession,
		InsecureAuth: config == nil,
		Logger:       log.New(io.Discard, "", 0),
	}
	if s.options.StartTLS {
		options.TLSConfig = config
	}
	return imapserver.New(options)
}

func (s *Server) newSMTP(config *tls.Config) *smtp.Server {
	server := smtp.NewServer(smtp.BackendFunc(s.newSMTPSession))
	server.Domain = "mailtest.invalid"
	server.MaxMessageBytes = mailbox.MaxMail
	server.AllowInsecureAuth = config == nil
	server.ErrorLog = log.New(io.Discard, "", 0)
	if s.options.StartTLS {
		server.TLSConfig = config
	}
	return server
}

// IMAP is where to read mail.
func (s *Server) IMAP() mailbox.Endpoint { return s.endpoint(s.imap) }

// SMTP is where to send mail.
func (s *Server) SMTP() mailbox.Endpoint { return s.endpoint(s.smtp) }

func (s *Server) endpoint(l net.Listener) mailbox.Endpoint {
	mode := mailbox.NoTLS
	switch {
	case s.options.TLS:
		mode = mailbox.ImplicitTLS
	case s.options.StartTLS:
		mode = mailbox.StartTLS
	}
	return mailbox.Endpoint{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, TLS: mode, RootCAs: s.roots}
}

// RootCAs holds the server's CA; nil without TLS.
func (s *Server) RootCAs() *x509.CertPool { return s.roots }

// Append puts a mail into a user's INBOX, as it is, and tells who idles there.
// The arrival becomes its INTERNALDATE, in whole seconds; zero means now.
func (s *Server) Append(address string, raw []byte, arrival time.Time) error {
	user := s.users[address]
	if user == nil {
		return fmt.Errorf("appending a mail: no user %q", address)
	}
	if arrival.IsZero() {
		arrival = s.now()
	}
	user["INBOX"].add(slices.Clone(raw), arrival)
	s.announce()
	return nil
}

// Sent gives every mail accepted by SMTP, the oldest first.
func (s *Server) Sent() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// Refuse lets the next "MAIL", "RCPT" or "DATA" of any connection end in an
// SMTP reply, say 450 or 550.
func (s *Server) Refuse(command string, code int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals[strings.ToUpper(command)] = &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: text}
}

func (s *Server) refusal(command string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	refusal := s.refusals[command]
	delete(s.refusals, command)
	if refusal == nil {
		return nil
	}
	return refusal
}

// Close ends both servers and their connections.
func (s *Server) Close() error {
	err := errors.Join(s.imapServer.Close(), s.smtpServer.Close())
	// Again, since a server that was not serving yet does not know its own.
	s.imap.Close()
	s.smtp.Close()
	s.serving.Wait()
	return err
}

func (s *Server) now() time.Time {
	if s.options.Clock != nil {
		return s.options.Clock()
	}
	return time.Now()
}

// announce wakes every IDLE.
func (s *Server) announce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.arrived)
	s.arrived = make(chan struct{})
}

func (s *Server) arrivals() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrived
}
