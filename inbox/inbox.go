// Package inbox is one agent inbox. A mail changes its state only through
// Deliver, an action only through Do; either is one transaction of the store.
// It knows neither IMAP nor SMTP nor HTTP.
package inbox

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/agentmaild/agentmaild/limits"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/pricelist"
	"github.com/agentmaild/agentmaild/store"
)

// Unsigned says what a valid message without a checked signature leads to
// (D20).
type Unsigned string

// The three settings; the zero value means UnsignedHold.
const (
	UnsignedHold   Unsigned = "hold"   // it waits for the owner
	UnsignedIgnore Unsigned = "ignore" // it is a normal email (D43)
	UnsignedAllow  Unsigned = "allow"  // it counts like a signed one
)

// Settings are who the inbox is.
type Settings struct {
	Name      string // of the inbox, as configured; keys its rows in the store
	Address   string // in comparable form (D9)
	Sender    string // display name of From, may be empty
	Party     string // public party id, may be empty
	OrgName   string // acting_for.org_name
	Contact   string // acting_for.contact
	AgentName string // agent.name
	AgentKind string // agent.kind

	Keys     *party.Ring // sign messages and records; nil sends messages unsigned
	JKU      string      // address of the party key page
	Unsigned Unsigned
	// HourlyLimit is how many mails go to one address within an hour; what is
	// beyond it waits for the owner. 0 means 20.
	HourlyLimit int
	// Notify is the address that is mailed about what waits for the owner, at
	// most once an hour; "" mails nobody.
	Notify   string
	Webhooks []string // ids of those that are told of events, without hyphens
	Handled  bool     // a handler answers events; without one nothing is pending

	// Limits are those of the agent. Nil: none are set, and an agent that
	// proposes something is asked about, see Propose and Handle.
	Limits *limits.Limits
	Prices *pricelist.List // what quotes are held against, nil without one

	Agent *Agent // nil: the inbox does not speak Agent Emailing
}

// Services are what an inbox uses of the world. Clock and randomness come in
// here so that the same inputs give the same outputs.
type Services struct {
	Store  *store.Store
	DKIM   *dkim.Checker
	Keys   *party.Verifier
	Signer *dkim.Signer // nil where the mail provider signs
	Now    func() time.Time
	Random io.Reader
	Spool  *os.Root // where the files of messages are kept; nil: nowhere, they are only compared
	Log    *slog.Logger

	// Private names files and folders that no message may carry (D193).
	Private func() []string
}

// Inbox is an open inbox. Its methods may be called from any goroutine.
type Inbox struct {
	set Settings
	srv Services

	letters *signal       // something was put into the outbox
	events  *signal       // an event was recorded
	proving chan struct{} // slots for new mails
	trying  chan struct{} // and for those that are tried again: dead DNS holds up no new mail

	reminded   atomic.Int64 // when it was last looked whether the owner is to be mailed, Unix seconds
	rosterHeld atomic.Pointer[heldRoster]
}

// Open checks the settings and returns the inbox. Nothing is written.
func Open(set Settings, srv Services) (*Inbox, error) {
	addresses := map[string]string{"address": set.Address, "contact": set.Contact}
	if set.Notify != "" {
		addresses["notify"] = set.Notify
	}
	for name, value := range addresses {
		if parsed, err := address.Parse(value); err != nil || parsed != value {
			return nil, fmt.Errorf("inbox %q: %s %q is not a plain email address", set.Name, name, value)
		}
	}
	switch set.Unsigned {
	case "":
		set.Unsigned = UnsignedHold
	case UnsignedHold, UnsignedIgnore, UnsignedAllow:
	default:
		return nil, fmt.Errorf("inbox %q: unsigned is %q, not hold, ignore or allow", set.Name, set.Unsigned)
	}
	if set.HourlyLimit == 0 {
		set.HourlyLimit = defaultHourly
	}
	in := &Inbox{
		set: set, srv: srv,
		letters: newSignal(), events: newSignal(),
		proving: make(chan struct{}, maxProving), trying: make(chan struct{}, maxProving),
	}
	return in, nil
}

// Begin puts in order what a crash or another configuration left behind: files
// in the spool that no message has any more, a roster signed by an agent key of
// before, webhooks of before. It is called before the first Deliver, when no other Inbox of the
// name delivers any more: the files of mails under way are no message's yet.
func (in *Inbox) Begin() error {
	return errors.Join(in.sweep(), in.resignRoster(), in.forgetHooks())
}

// defaultHourly is the hourly limit where none is set.
const defaultHourly = 20

// maxProving bounds how many new mails of an inbox are verified at once, and
// how many that are tried again.
const maxProving = 8

// Name is the inbox's configured name.
func (in *Inbox) Name() string { return in.set.Name }

// Address is the inbox's email address.
func (in *Inbox) Address() string { return in.set.Address }

// AgentID is the id of the inbox's agent, "" without one.
func (in *Inbox) AgentID() string {
	if in.set.Agent == nil {
		return ""
	}
	return in.set.Agent.Identity.ID()
}

// SealingKey is the public key that is sealed to for the agent, "" without one.
func (in *Inbox) SealingKey() string {
	if in.set.Agent == nil {
		return ""
	}
	return in.set.Agent.Sealing.Public()
}

func (in *Inbox) update(fn func(*store.Tx) error) error {
	return in.srv.Store.Update(in.set.Name, fn)
}

func (in *Inbox) view(fn func(*store.Tx) error) error {
	return in.srv.Store.View(in.set.Name, fn)
}

// sign makes the compact JWS over canonical bytes, or "" without keys.
func (in *Inbox) sign(canonical []byte) (string, error) {
	if in.set.Keys == nil {
		return "", nil
	}
	key, err := in.set.Keys.Signing(in.srv.Now())
	if err != nil {
		return "", fmt.Errorf("signing a message: %w", err)
	}
	token, err := jws.Sign(key.Private, in.set.JKU, jws.TypMessage, canonical)
	if err != nil {
		return "", fmt.Errorf("signing a message: %w", err)
	}
	return token, nil
}

// signal wakes whoever waits for something to have happened. It may wake
// without cause, never fail to.
type signal struct {
	mu sync.Mutex
	ch chan struct{}
}

func newSignal() *signal { return &signal{ch: make(chan struct{})} }

func (s *signal) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ch)
	s.ch = make(chan struct{})
}

// wait is closed at the next fire.
func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ch
}
