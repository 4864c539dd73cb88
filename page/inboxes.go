package page

import (
	"cmp"
	"net/http"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
)

// card is how an inbox is doing.
type card struct {
	Name, Address, Path string
	Agent, SealingKey   string
	Mailbox             mark
	LastLook, LastMail  int64 // Unix seconds, 0 for never
	IdleSince           int64
	Error               string
	Waiting             int
	Backlog             inbox.Backlog
}

func (v *view) card(s *Source) (card, error) {
	c := card{Name: s.Name(), Address: s.Address(), Path: inboxPath(s.Name()), Agent: s.AgentID(), SealingKey: s.SealingKey()}
	waiting, err := s.Waiting()
	if err != nil {
		return c, err
	}
	if c.Backlog, err = s.Backlog(); err != nil {
		return c, err
	}
	m := s.Mailbox()
	c.Waiting, c.LastLook, c.LastMail, c.IdleSince, c.Error = len(waiting), unix(m.LastLook), unix(m.LastMail), unix(m.IdleSince), m.LastError
	c.Error = cmp.Or(c.Error, c.Backlog.LetterError, c.Backlog.WebhookError)
	switch {
	case m.Connected && m.Polling:
		c.Mailbox = mark{good, "Mailbox", "connected, looks every few minutes"}
	case m.Connected:
		c.Mailbox = mark{good, "Mailbox", "connected"}
	case m.LastLook.IsZero() && m.LastError == "":
		c.Mailbox = mark{warn, "Mailbox", "connecting"}
	default:
		c.Mailbox = mark{bad, "Mailbox", "not connected"}
	}
	return c, nil
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func (v *view) overview() error {
	var cards []card
	for _, source := range v.mine() {
		c, err := v.card(&source)
		if err != nil {
			return err
		}
		cards = append(cards, c)
	}
	return v.show(http.StatusOK, "overview", "Inboxes", cards)
}

// latest is how many threads the page of an inbox shows.
const latest = 8

func (v *view) inbox() error {
	c, err := v.card(v.source)
	if err != nil {
		return err
	}
	list, err := v.source.Threads()
	if err != nil {
		return err
	}
	all := len(list)
	list = newestFirst(list)
	return v.show(http.StatusOK, "inbox", c.Name, struct {
		Card    card
		Threads []threadRow
		All     int
	}{c, v.threadRows(list[:min(latest, all)]), all})
}
