package threads

import "github.com/agentmaild/agentmaild/envelope/intent"

// admits checks what holds for every message of a thread: its two addresses
// (D26), and ids that are new.
func (t Thread) admits(e Event) error {
	if e.From.Address == e.To.Address {
		return refuse("sender and recipient are one address")
	}
	if t.ID == "" {
		return nil
	}
	if t.ID != e.Thread {
		return refuse("another thread")
	}
	a, b := t.Parties[0], t.Parties[1]
	if !(e.From.Address == a && e.To.Address == b || e.From.Address == b && e.To.Address == a) {
		return refuse("the thread is between two other addresses")
	}
	if _, taken := t.Find(e.ID); taken {
		return refuse("the id is that of another message")
	}
	return nil
}

// step is the table of section 7: one function a row.
func (t *Thread) step(e Event) ([]Effect, error) {
	switch e.Type {
	case intent.AskQuote:
		return t.ask(e)
	case intent.Quote:
		return t.quote(e)
	case intent.ProposeTimes:
		return t.propose(e)
	case intent.Accept:
		return t.accept(e)
	case intent.Decline:
		return t.decline(e)
	case intent.Cancel:
		return t.cancel(e)
	default:
		return nil, refuse("%q is no type of message", e.Type)
	}
}

func (t *Thread) ask(e Event) ([]Effect, error) {
	if t.openAsk(e.From.Address) >= 0 {
		return nil, refuse("an ask of the same side is open")
	}
	return t.open(e), nil
}

// quote answers an open ask of the other side, or counters an open offer of
// either side, or both (D40).
func (t *Thread) quote(e Event) ([]Effect, error) {
	var effects []Effect
	ask, err := t.askFor(e)
	if err != nil {
		return nil, err
	}
	if e.Replaces != "" {
		effect, err := t.replace(e.Replaces)
		if err != nil {
			return nil, err
		}
		effects = append(effects, effect)
	} else if ask < 0 {
		return nil, refuse("a quote that answers no open ask and counters no offer")
	}
	if ask >= 0 {
		effects = append(effects, t.set(ask, Answered))
	}
	return append(effects, t.open(e)...), nil
}

// askFor is the ask that a quote answers: the one it names in in_reply_to, or
// the open one of the other side, of which there is at most one. A counter
// answers only an ask that it names (D58). -1 for none.
func (t *Thread) askFor(e Event) (int, error) {
	i := t.index(e.InReplyTo)
	if i < 0 || t.Entries[i].Type != intent.AskQuote {
		if e.Replaces != "" {
			return -1, nil
		}
		return t.openAsk(e.To.Address), nil
	}
	named := t.Entries[i]
	switch {
	case named.By == e.From.Address:
		return -1, refuse("a quote for the sender's own ask")
	case named.State == Open:
		return i, nil
	case e.Replaces != "":
		return -1, nil // it counters an offer; the ask was answered before
	default:
		return -1, &ClosedError{named.ID, named.State}
	}
}

func (t *Thread) propose(e Event) ([]Effect, error) {
	if e.Replaces == "" {
		if len(t.Entries) > 0 {
			return nil, refuse("times in a thread that has begun, and no offer countered")
		}
		return t.open(e), nil
	}
	effect, err := t.replace(e.Replaces)
	if err != nil {
		return nil, err
	}
	return append([]Effect{effect}, t.open(e)...), nil
}

// replace closes the offer that a counter-offer replaces, of either side and
// of either type (D40).
func (t *Thread) replace(id string) (Effect, error) {
	i := t.index(id)
	if i < 0 {
		return Effect{}, &UnknownError{id}
	}
	if entry := t.Entries[i]; !entry.Type.Offers() {
		return Effect{}, refuse("%s is no offer", id)
	} else if entry.State != Open {
		return Effect{}, &ClosedError{id, entry.State}
	}
	return t.set(i, Replaced), nil
}

func (t *Thread) accept(e Event) ([]Effect, error) {
	i := t.index(e.Ref)
	if i < 0 {
		return nil, refuse("%s is not in the thread", e.Ref)
	}
	offer := &t.Entries[i]
	switch {
	case !offer.Type.Offers():
		return nil, refuse("%s cannot be accepted", e.Ref)
	case offer.By != e.To.Address:
		return nil, refuse("an accept by the side that made the offer")
	case offer.State != Open:
		return nil, &ClosedError{e.Ref, offer.State}
	case e.Iat > offer.Exp:
		return nil, refuse("signed after the offer expired")
	case !offer.fits(e.Slot):
		return nil, refuse("slot is missing, forbidden or out of range") // D6, D39
	}
	offer.Accept, offer.Slot = e.ID, e.Slot
	for _, id := range e.Records {
		t.record(id, offer.ID)
	}
	return []Effect{t.set(i, Agreed)}, nil
}

// fits tells whether a slot may be named in an accept of this offer.
func (o *Entry) fits(slot *int) bool {
	if o.Type == intent.Quote {
		return slot == nil
	}
	return slot != nil && *slot >= 0 && *slot < o.Slots
}

func (t *Thread) decline(e Event) ([]Effect, error) {
	i := t.index(e.Ref)
	if i < 0 {
		return nil, refuse("%s is not in the thread", e.Ref)
	}
	entry := t.Entries[i]
	if entry.By != e.To.Address {
		return nil, refuse("a decline by the side that made it")
	}
	if entry.State != Open {
		return nil, &ClosedError{e.Ref, entry.State}
	}
	return []Effect{t.set(i, Declined)}, nil
}

// cancel ends an open offer or ask of the sender, or an agreement, which may
// be named by its record too (D45).
func (t *Thread) cancel(e Event) ([]Effect, error) {
	ref := e.Ref
	if offer, ok := t.Records[ref]; ok {
		ref = offer
	}
	i := t.index(ref)
	if i < 0 {
		return nil, refuse("%s is not in the thread", e.Ref)
	}
	switch entry := t.Entries[i]; {
	case entry.State == Agreed:
	case entry.State != Open:
		return nil, &ClosedError{entry.ID, entry.State}
	case entry.By != e.From.Address:
		return nil, refuse("a cancel by the side that did not make it")
	}
	return []Effect{t.set(i, Cancelled)}, nil
}

// record notes the record of an agreement. The first of an id stands: the
// other side chooses its record's id, and may choose one that is taken.
func (t *Thread) record(id, offer string) {
	if _, taken := t.Records[id]; taken {
		return
	}
	if t.Records == nil {
		t.Records = map[string]string{}
	}
	t.Records[id] = offer
}

// open adds the event's own entry.
func (t *Thread) open(e Event) []Effect {
	t.Entries = append(t.Entries, Entry{
		ID: e.ID, Type: e.Type, By: e.From.Address, Exp: e.Exp,
		Slots: len(e.Slots), State: Open, Replaces: e.Replaces,
	})
	return []Effect{{e.ID, Open}}
}

// openAsk is the open ask of one side, or -1.
func (t *Thread) openAsk(by string) int {
	for i, entry := range t.Entries {
		if entry.Type == intent.AskQuote && entry.By == by && entry.State == Open {
			return i
		}
	}
	return -1
}
