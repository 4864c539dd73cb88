package agentmsg

import (
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/go-json-experiment/json/jsontext"
)

// Stance is what becomes of a message at the door (EXT-6).
type Stance string

// The three stances.
const (
	StanceAllow Stance = "allow" // it goes on
	StanceHold  Stance = "hold"  // it waits for the owner
	StanceBlock Stance = "block" // it is refused, and the sender hears nothing
)

func (s Stance) known() bool { return s == StanceAllow || s == StanceHold || s == StanceBlock }

// Kind is what a sender is to this inbox, where no entry of the roster names it.
type Kind string

// The kinds of sender.
const (
	KindContact    Kind = "contact"    // in the contact book
	KindRegistered Kind = "registered" // any other agent with a valid key
	KindAnonymous  Kind = "anonymous"  // nobody who writes by email
	KindBridged    Kind = "bridged"    // a person for whom a bridge signed
)

// Roster says who may reach an inbox. Its owner signs it.
type Roster struct {
	Owner    string          // agent id of the signer
	Defaults map[Kind]Stance // for whom no entry names; see Stance
	Limits   Limits
	Entries  []Entry // each Subject once
	Updated  time.Time

	other jsontext.Value // members that are not known here, kept when it is signed again
}

// Limits bound what one sender may take. A limit that is nil is not set.
type Limits struct {
	PerSenderPerHour *int64 // messages
	ModelPerDay      *int64 // tokens of a model, for all that comes in; for the agent to keep

	other jsontext.Value
}

// Entry is the owner's word on one agent.
type Entry struct {
	Subject string // agent id
	Stance  Stance
	Note    string    // the owner's
	Updated time.Time // zero where not stated

	other jsontext.Value
}

// ErrOwner is returned for a roster that is signed, but not by the owner.
var ErrOwner = errors.New("the roster is another owner's")

// wireRoster is a roster as it stands in JSON.
type wireRoster struct {
	Admission string          `json:"admission"`
	Owner     string          `json:"owner_key"`
	Defaults  map[Kind]Stance `json:"defaults,omitzero"`
	Limits    wireLimits      `json:"limits,omitzero"`
	Entries   []wireEntry     `json:"entries"`
	Updated   string          `json:"updated_at"`
	Sig       signature       `json:"sig,omitzero"`
	Other     jsontext.Value  `json:",embed"`
}

type wireLimits struct {
	PerSenderPerHour *int64         `json:"per_sender_per_hour,omitzero"`
	ModelPerDay      *int64         `json:"inbound_model_budget_per_day,omitzero"`
	Other            jsontext.Value `json:",embed"`
}

type wireEntry struct {
	Subject string         `json:"subject"`
	Stance  Stance         `json:"stance"`
	Note    string         `json:"note,omitzero"`
	Updated *string        `json:"updated_at,omitzero"`
	Other   jsontext.Value `json:",embed"`
}

// ParseRoster reads a roster and verifies that owner, an agent id, signed it.
// What is signed are the values: it may be laid out and commented upon by
// members of its own. Errors: ErrOwner, a *Refusal with CodeJSON or
// CodeSignature.
func ParseRoster(data []byte, owner string) (*Roster, error) {
	w, canonical, err := readRoster(data)
	if err != nil {
		return nil, err
	}
	if fault := w.fault(); fault != "" {
		return nil, &Refusal{Code: CodeJSON, Reason: fault}
	}
	if err := verify(w.Owner, tagRoster, base64.StdEncoding, canonical, w.Sig); err != nil {
		return nil, err
	}
	if w.Owner != owner { // anyone can sign a roster of their own
		return nil, ErrOwner
	}
	return w.roster(), nil
}

// DraftRoster reads a roster that is yet to be signed, or to be signed anew:
// who signed it before and when does not count, and need not stand there. Error:
// a *Refusal with CodeJSON.
func DraftRoster(data []byte) (Roster, error) {
	w, _, err := readRoster(data)
	if err != nil {
		return Roster{}, err
	}
	if w.Admission == "" {
		w.Admission = versionRoster
	}
	if fault := w.wordFault(); fault != "" {
		return Roster{}, &Refusal{Code: CodeJSON, Reason: fault}
	}
	r := w.roster()
	r.Owner, r.Updated = "", time.Time{}
	return *r, nil
}

// readRoster reads a roster that may not be well formed, and its canonical form.
func readRoster(data []byte) (w wireRoster, canonical []byte, err error) {
	if len(data) > maxRoster {
		return w, nil, &Refusal{Code: CodeJSON, Reason: "a roster longer than 4 MiB"}
	}
	if canonical, err = canon.Strict(data, maxDepth); err != nil {
		return w, nil, &Refusal{Code: CodeJSON, Reason: "not strict JSON", cause: err}
	}
	return w, canonical, decode("roster", canonical, &w)
}

// fault says what is not well formed; it is empty if nothing is.
func (w *wireRoster) fault() string {
	_, timely := parseTime(w.Updated)
	switch {
	case !IsID(w.Owner):
		return "owner_key is not an agent id"
	case !timely:
		return "updated_at is not an RFC 3339 time"
	case w.Sig.text == nil:
		return "sig is missing"
	}
	return w.wordFault()
}

// wordFault says what is not well formed in the owner's word itself.
func (w *wireRoster) wordFault() string {
	switch {
	case w.Admission != versionRoster:
		return "admission is not " + versionRoster
	case negative(w.Limits.PerSenderPerHour) || negative(w.Limits.ModelPerDay):
		return "a limit is below 0"
	case len(w.Entries) > maxEntries:
		return "more than 10000 entries"
	}
	for _, stance := range w.Defaults {
		if !stance.known() {
			return "defaults has a stance that is none of allow, hold and block"
		}
	}
	seen := make(map[string]bool, len(w.Entries))
	for n, entry := range w.Entries {
		if fault := entry.fault(); fault != "" {
			return fmt.Sprintf("entries[%d]: %s", n, fault)
		}
		if seen[entry.Subject] { // the stance would depend on which entry is read (D107)
			return fmt.Sprintf("entries[%d]: its subject has an entry already", n)
		}
		seen[entry.Subject] = true
	}
	return ""
}

func negative(limit *int64) bool { return limit != nil && *limit < 0 }

func (w *wireEntry) fault() string {
	switch {
	case !IsID(w.Subject):
		return "subject is not an agent id"
	case !w.Stance.known():
		return "stance is none of allow, hold and block"
	case w.Updated != nil:
		if _, timely := parseTime(*w.Updated); !timely {
			return "updated_at is not an RFC 3339 time"
		}
	}
	return ""
}

func (w *wireRoster) roster() *Roster {
	r := &Roster{Owner: w.Owner, Defaults: w.Defaults, other: w.Other}
	r.Limits = Limits{PerSenderPerHour: w.Limits.PerSenderPerHour, ModelPerDay: w.Limits.ModelPerDay, other: w.Limits.Other}
	r.Updated, _ = parseTime(w.Updated)
	for _, entry := range w.Entries {
		e := Entry{Subject: entry.Subject, Stance: entry.Stance, Note: entry.Note, other: entry.Other}
		e.Updated, _ = parseTime(text(entry.Updated))
		r.Entries = append(r.Entries, e)
	}
	return r
}

// SignRoster writes a roster in canonical form and signs it as its owner, who
// is r.Owner where that is not empty. What ParseRoster would refuse is not
// written.
func (i Identity) SignRoster(r Roster) ([]byte, error) {
	if r.Owner != "" && r.Owner != i.id {
		return nil, fmt.Errorf("signing a roster: %w", ErrOwner)
	}
	w := wireRoster{
		Admission: versionRoster, Owner: i.id, Defaults: r.Defaults, Entries: []wireEntry{}, Updated: formatTime(r.Updated), Other: r.other,
		Limits: wireLimits{PerSenderPerHour: r.Limits.PerSenderPerHour, ModelPerDay: r.Limits.ModelPerDay, Other: r.Limits.other},
	}
	for _, entry := range r.Entries {
		e := wireEntry{Subject: entry.Subject, Stance: entry.Stance, Note: entry.Note, Other: entry.other}
		if !entry.Updated.IsZero() {
			e.Updated = optional(formatTime(entry.Updated))
		}
		w.Entries = append(w.Entries, e)
	}
	data, err := i.signObject(&w, &w.Sig, tagRoster, base64.StdEncoding)
	if err != nil {
		return nil, fmt.Errorf("signing a roster: %w", err)
	}
	if _, err := ParseRoster(data, i.id); err != nil {
		return nil, fmt.Errorf("signing a roster: %w", err)
	}
	return data, nil
}

// Stance is what the owner says of a sender: in the entry of its id, else by
// its kind. Where no roster or no default speaks of a kind, contacts are
// allowed, other agents and bridged persons held, and all else is blocked.
func (r *Roster) Stance(id string, kind Kind) Stance {
	if r != nil {
		for _, entry := range r.Entries {
			if entry.Subject == id {
				return entry.Stance
			}
		}
		if stance, ok := r.Defaults[kind]; ok {
			return stance
		}
	}
	switch kind {
	case KindContact:
		return StanceAllow
	case KindRegistered, KindBridged:
		return StanceHold
	}
	return StanceBlock
}
