package inbox

import (
	"slices"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json/jsontext"
)

// Thread is a thread as the owner sees it.
type Thread struct {
	ID       string      `json:"id"`
	With     string      `json:"with"` // the other side's address
	At       int64       `json:"at"`   // of its last message, Unix seconds
	Entries  []Entry     `json:"entries"`
	Record   record.Kind `json:"record,omitempty"`
	Records  []Record    `json:"records,omitempty"`
	Messages []Message   `json:"messages,omitempty"` // in the order of their commits
}

// Entry is an offer or an ask. Where Undelivered is not nil, what this side
// said last about it has not reached the other: a deal may be one here alone.
type Entry struct {
	threads.Entry
	Undelivered *Delivery `json:"undelivered,omitempty"`
}

// Message is a message of a thread with what was proven about it.
type Message struct {
	ID        string         `json:"id"`
	Type      intent.Type    `json:"type"`
	From      string         `json:"from"`
	At        int64          `json:"at"` // arrival or sending, Unix seconds
	SentAt    int64          `json:"sent_at,omitzero"`
	Delivery  *Delivery      `json:"delivery,omitempty"` // of one from here
	Fate      Fate           `json:"fate"`
	Signature Signature      `json:"signature"`
	Warnings  []string       `json:"warnings,omitempty"`
	Proof     Proof          `json:"proof,omitzero"`
	Hash      string         `json:"hash"`
	Message   jsontext.Value `json:"message"` // in canonical form; text from outside
	JWS       string         `json:"jws,omitempty"`
}

// Threads lists the threads, without their messages.
func (in *Inbox) Threads() ([]Thread, error) { return whole(in.ThreadsPage) }

// ThreadsPage lists at most limit threads, in the order of their ids, behind the one where a page before has ended; "" is
// the first, and what it returns "" at the end.
func (in *Inbox) ThreadsPage(after string, limit int) ([]Thread, string, error) {
	return page(in, tableThreads, after, limit, func(tx *store.Tx, r store.Row) (t Thread, is bool, err error) {
		var row threadRow
		if err := r.Decode(&row); err != nil {
			return t, false, err
		}
		t = Thread{ID: row.ID, With: row.other(in.set.Address), Entries: row.entries(in)}
		if t.At, err = row.lastAt(tx); err != nil {
			return t, false, err
		}
		t.Record, err = recordKind(tx, &row)
		return t, true, err
	})
}

// asOf is the thread as it stands now: what has expired is shown so even
// where no Tick has written it yet.
func (in *Inbox) asOf(t threads.Thread) threads.Thread {
	t, _ = threads.Tick(t, in.srv.Now().Unix())
	return t
}

// Thread returns one thread with its messages; ErrAction when it is unknown.
func (in *Inbox) Thread(id string) (Thread, error) {
	var t Thread
	err := in.view(func(tx *store.Tx) error {
		var row threadRow
		known, err := tx.Get(tableThreads, id, &row)
		if err != nil {
			return err
		}
		if !known {
			return unknown("thread %q is not known here: see `agentmaild threads list`", id)
		}
		t = Thread{ID: id, With: row.other(in.set.Address), Entries: row.entries(in)}
		if t.At, err = row.lastAt(tx); err != nil {
			return err
		}
		if t.Record, err = recordKind(tx, &row); err != nil {
			return err
		}
		if t.Records, err = row.recordsOf(tx); err != nil {
			return err
		}
		for _, id := range row.Messages {
			m, err := row.message(tx, id)
			if err != nil {
				return err
			}
			t.Messages = append(t.Messages, m)
		}
		return nil
	})
	return t, err
}

// HasThread tells whether a thread is known.
func (in *Inbox) HasThread(id string) (known bool, err error) {
	err = in.view(func(tx *store.Tx) error {
		known, err = tx.Get(tableThreads, id, &struct{}{})
		return err
	})
	return known, err
}

// Message returns one message of a thread, without reading the others;
// ErrAction when it is not there.
func (in *Inbox) Message(thread, id string) (m Message, err error) {
	err = in.view(func(tx *store.Tx) error {
		var row threadRow
		if _, err := tx.Get(tableThreads, thread, &row); err != nil {
			return err
		}
		if !slices.Contains(row.Messages, id) {
			return unknown("thread %q has no message %q", thread, id)
		}
		m, err = row.message(tx, id)
		return err
	})
	return m, err
}

// lastAt is when the last message of a thread came or went.
func (t *threadRow) lastAt(tx *store.Tx) (int64, error) {
	var last struct {
		At int64 `json:"at"`
	}
	if len(t.Messages) == 0 {
		return 0, nil
	}
	_, err := tx.Get(tableMessages, t.Messages[len(t.Messages)-1], &last)
	return last.At, err
}

func (t *threadRow) message(tx *store.Tx, id string) (Message, error) {
	var row messageRow
	if _, err := tx.Get(tableMessages, id, &row); err != nil {
		return Message{}, err
	}
	m, err := intent.Parse([]byte(row.Canonical))
	if err != nil {
		return Message{}, err
	}
	return Message{
		ID: id, Type: m.Type, From: m.From.Address, At: row.At, SentAt: row.SentAt, Delivery: t.delivery(id, &row), Fate: row.Fate,
		Signature: row.Signature, Warnings: row.Warnings, Proof: row.Proof, Hash: row.Hash,
		Message: jsontext.Value(row.Canonical), JWS: row.JWS,
	}, nil
}

// recordKind is the kind of this side's record of the last agreement of a
// thread; "" where nothing was agreed, or there is no record of it, or what
// this side said never left.
func recordKind(tx *store.Tx, t *threadRow) (record.Kind, error) {
	for _, e := range slices.Backward(t.Entries) {
		if e.Accept == "" {
			continue
		}
		for _, id := range []string{e.ID, e.Accept} {
			if _, left, err := t.left(tx, id); err != nil || !left {
				return "", err
			}
		}
		var ours Record
		_, err := tx.Get(tableRecords, oursKey(e.Accept), &ours)
		return ours.Kind, err
	}
	return "", nil
}
