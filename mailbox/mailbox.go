// Package mailbox stands beside one email account: a Watcher reads its folder
// over IMAP, a Sender hands letters to its SMTP server. Both work against
// servers that may be slow, broken or hostile: every wait, line, literal and
// answer is bounded here, because the protocol libraries bound none of them.
//
// The package changes nothing in the mailbox it reads and stores nothing: what
// has been seen is the caller's to keep, as a Position.
package mailbox

import (
	"context"
	"crypto/x509"
	"net"
	"time"
)

// MaxMail is the size in bytes of the largest mail fetched or sent, 32 MiB.
const MaxMail = 32 << 20

// Position is how far a folder has been seen. The zero value means never.
type Position struct {
	UIDValidity uint32    // RFC 9051 §2.3.1.1; never 0 once the folder was opened
	UID         uint32    // everything up to this one is done with
	Seen        time.Time // INTERNALDATE of the newest mail seen, never later than the local clock
}

// Incoming is one mail of the folder, or, with Raw nil and Problem empty, the
// bare news that the position moved.
type Incoming struct {
	Raw      []byte    // as the server sent it, at most MaxMail bytes; nil if not fetched
	Arrival  time.Time // INTERNALDATE, RFC 9051 §2.3.3: the server's word, not checked against the clock
	Position Position  // of the folder once this mail is done with
	Problem  string    // why the mail could not be fetched, printable; empty if it was
}

// TLSMode is how a connection is made safe.
type TLSMode string

// The three modes. Nothing is opportunistic: where TLS is asked for and not to
// be had, no password is sent.
const (
	ImplicitTLS TLSMode = "tls"      // from the first byte, RFC 8314 §3
	StartTLS    TLSMode = "starttls" // RFC 9051 §6.2.1, RFC 3207
	NoTLS       TLSMode = "none"     // loopback addresses only
)

// Endpoint is one server.
type Endpoint struct {
	Host    string // a name, which the certificate must carry, or an address
	Port    int
	TLS     TLSMode
	RootCAs *x509.CertPool // nil: those of the system
}

// Account is a login at an Endpoint. The password is asked for anew at every
// connection, so that a changed one needs no restart.
type Account struct {
	Endpoint
	User     string
	Password Secret
}

// DialFunc opens a connection as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)
