package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/record"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"golang.org/x/text/encoding/htmlindex"
)

// A reply in a person's own words to a quote of ours decides nothing. It waits
// for the owner, who may count it as an acceptance (D31, their_reply).

// replyRow is such a reply, for as long as its quote is open.
type replyRow struct {
	Thread      string `json:"thread"`
	Hash        string `json:"hash"`         // hex SHA-256 of the raw mail
	AuthResults string `json:"auth_results"` // as the record will have it
	Proven      bool   `json:"proven"`       // the mail is from who it says
	ReceivedAt  int64  `json:"received_at"`  // Unix seconds
	Text        string `json:"text"`         // its beginning; text from outside
}

const (
	maxReplies   = 5    // that are kept for a quote; a person who writes more has been seen
	maxReplyText = 4000 // of which the owner is shown, in bytes
)

// reply is a mail that may be one.
type reply struct {
	quote string // id of the quote of ours that it answers, "" where the mail is none
	row   replyRow
}

// proveReply looks whether a mail without a message answers a quote of ours in
// the quote's own mail thread, from whom the quote went to.
func (in *Inbox) proveReply(ctx context.Context, mail *envelope.Mail, p *proven) reply {
	from, err := mail.Header.From()
	if err != nil || mail.Automatic() {
		return reply{}
	}
	quote, thread := in.quoteAnswered(mail, from)
	if quote == "" {
		return reply{}
	}
	auth := in.srv.DKIM.Authenticate(ctx, mail.Raw, address.Of(from), p.arrival)
	sum := sha256.Sum256(mail.Raw)
	return reply{quote, replyRow{
		Thread: thread, Hash: hex.EncodeToString(sum[:]), ReceivedAt: p.arrival.Unix(), Text: words(mail, maxReplyText),
		AuthResults: in.authResults(auth), Proven: auth.Outcome == dkim.Pass,
	}}
}

// quoteAnswered is the newest open quote to an address whose mail is named in
// In-Reply-To or References.
func (in *Inbox) quoteAnswered(mail *envelope.Mail, from string) (quote, thread string) {
	named := strings.Fields(mail.Header.Get("References") + " " + mail.Header.Get("In-Reply-To"))
	named = named[max(0, len(named)-20):]
	slices.Reverse(named)
	_ = in.view(func(tx *store.Tx) error {
		for _, messageID := range named {
			id, domain, _ := strings.Cut(strings.Trim(messageID, "<>"), "@")
			if domain != address.Of(in.set.Address) {
				continue
			}
			row, open, err := openQuote(tx, id)
			if err != nil {
				return err
			}
			if open && row.other(in.set.Address) == from {
				quote, thread = id, row.ID
				return nil
			}
		}
		return nil
	})
	return quote, thread
}

// openQuote is the thread of a quote of ours, and whether it is open there.
func openQuote(tx *store.Tx, id string) (row threadRow, open bool, err error) {
	var m messageRow
	if _, err := tx.Get(tableMessages, id, &m); err != nil || m.Fate != FateSent {
		return row, false, err
	}
	if _, err := tx.Get(tableThreads, m.Thread, &row); err != nil {
		return row, false, err
	}
	e, _ := row.Find(id)
	return row, e.Type == intent.Quote && e.State == threads.Open, nil
}

// authResults writes what was found about a reply as a mail server would
// (RFC 8601 §2.2), whatever it was.
func (in *Inbox) authResults(r dkim.Result) string {
	result := "fail"
	switch r.Outcome {
	case dkim.Pass:
		result = "pass"
	case dkim.Temporary:
		result = "temperror"
	}
	text := fmt.Sprintf("%s; dkim=%s reason=\"%s\"", address.Of(in.set.Address), result, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(r.Reason)))
	if r.Domain != "" {
		text += " header.d=" + r.Domain
	}
	return text
}

// words is the beginning of the plain text of a mail, at most limit bytes.
func words(mail *envelope.Mail, limit int) string {
	for part := range mail.Leaves("text/plain") {
		data := beginning{limit: limit}
		if err := part.DecodeTo(&data, envelope.MaxMail); err != nil {
			return ""
		}
		text := inUTF8(data.text, part.Params["charset"])
		return strings.ToValidUTF8(text[:min(len(text), limit)], "")
	}
	return ""
}

// beginning keeps the first bytes of what is written.
type beginning struct {
	text  []byte
	limit int
}

// Write takes all, and keeps what fits.
func (b *beginning) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), b.limit-len(b.text))]...)
	return len(p), nil
}

// inUTF8 reads a text in the charset that it says it has. People's mail comes
// in many; one that is not known is read as UTF-8.
func inUTF8(text []byte, charset string) string {
	if encoding, err := htmlindex.Get(charset); err == nil {
		if decoded, err := encoding.NewDecoder().Bytes(text); err == nil {
			return string(decoded)
		}
	}
	return string(text)
}

// replied keeps a reply until its quote is not open any more.
func (j *judge) replied(r reply) error {
	if r.quote == "" {
		return nil
	}
	row, open, err := openQuote(j.tx, r.quote)
	if err != nil || !open {
		return err
	}
	key := r.quote + "/" + r.row.Hash[:16] // of this mail alone: the owner decides about the one that was read (D179)
	kept := 0
	err = j.tx.Scan(tableReplies, r.quote+"/", "", func(had store.Row) (bool, error) {
		if kept++; had.Key == key {
			kept = maxReplies
		}
		return kept < maxReplies, nil
	})
	if err != nil || kept >= maxReplies {
		return err
	}
	return j.keepReply(key, r, row.Thread)
}

func (j *judge) keepReply(key string, r reply, t threads.Thread) error {
	quote, _ := t.Find(r.quote)
	if err := j.tx.Put(tableDue, dueKey(quote.Exp+1, "reply/"+key), struct{}{}); err != nil {
		return err
	}
	if err := j.tx.Put(tableReplies, key, r.row); err != nil {
		return err
	}
	return j.event(Event{Kind: KindReply, Result: Result{Type: intent.Quote, Thread: t.ID, ID: r.quote, Reason: "answered in words: see `agentmaild waiting list`"}}, false)
}

// plainReplies lists the replies whose quotes are open.
func plainReplies(tx *store.Tx, list *[]Waiting) error {
	return tx.Scan(tableReplies, "", "", func(row store.Row) (bool, error) {
		var r replyRow
		if err := row.Decode(&r); err != nil {
			return false, err
		}
		id, _, _ := strings.Cut(row.Key, "/")
		if _, open, err := openQuote(tx, id); err != nil || !open {
			return err == nil, err
		}
		m, err := stored(tx, id)
		if err != nil {
			return false, err
		}
		from := "the mail is proven to be from them"
		if !r.Proven {
			from = "the mail is NOT proven to be from them"
		}
		*list = append(*list, Waiting{
			Key: replyPrefix + row.Key, Kind: "reply", At: r.ReceivedAt, Thread: r.Thread, Text: r.Text,
			Reason: fmt.Sprintf("%s answered quote %s in words; %s (%s); count takes it for an acceptance, refuse puts it aside", m.To.Address, id, from, r.AuthResults),
		})
		return true, nil
	})
}

// Count takes a reply that waits as the acceptance of its quote, and keeps a
// record of it. key is that of the waiting list. Errors wrap ErrAction.
func (in *Inbox) Count(key string) (Record, error) {
	var made Record
	err := in.commit(func(j *judge) (err error) {
		made, err = j.countReply(strings.TrimPrefix(key, replyPrefix))
		return err
	})
	return made, err
}

func (j *judge) countReply(key string) (Record, error) {
	var r replyRow
	known, err := j.tx.Get(tableReplies, key, &r)
	if err != nil {
		return Record{}, err
	}
	if !known {
		return Record{}, unknown("no reply waits under %q: see `agentmaild waiting list`", replyPrefix+key)
	}
	if j.in.set.Keys == nil {
		return Record{}, cannot("a counted reply rests on this inbox's signature alone, and it has no key: see `agentmaild keys new`")
	}
	quote, _, _ := strings.Cut(key, "/")
	row, effects, err := j.agreeTo(quote, &r)
	if err != nil {
		return Record{}, err
	}
	deal, err := j.repliedDeal(row, quote, &r)
	if err != nil {
		return Record{}, err
	}
	made, file, err := j.in.seal(deal, r.id())
	if err != nil {
		return Record{}, cannot("%w", err)
	}
	if err := j.tx.Delete(tableReplies, key); err != nil {
		return Record{}, err
	}
	if err := j.keepOwn(made, file); err != nil {
		return Record{}, err
	}
	result := Result{Type: intent.Quote, Thread: row.ID, ID: quote, Reason: "a reply in words was counted by the owner"}
	return made, j.event(Event{Kind: KindDecided, Result: result, Changes: effects}, false)
}

// id stands for a reply where an accept has its own.
func (r *replyRow) id() string {
	sum := sha256.Sum256([]byte("reply\n" + r.Hash))
	return uuidOf(sum[:16], 8)
}

// agreeTo makes the quote of a reply an agreement.
func (j *judge) agreeTo(quote string, r *replyRow) (*threadRow, []threads.Effect, error) {
	var row threadRow
	if _, err := j.tx.Get(tableThreads, r.Thread, &row); err != nil {
		return nil, nil, err
	}
	next, effects, err := threads.Count(row.Thread, quote, r.id(), j.in.recordID(r.id()), j.in.srv.Now().Unix())
	if err != nil {
		return nil, nil, cannot("%w", err)
	}
	row.Thread = next
	return &row, effects, j.putThread(&row)
}

func (j *judge) repliedDeal(row *threadRow, quote string, r *replyRow) (record.Deal, error) {
	d := record.Deal{ID: j.in.recordID(r.id()), Reply: &record.Reply{Hash: r.Hash, AuthResults: r.AuthResults, ReceivedAt: r.ReceivedAt}}
	var err error
	if d.Offer, err = j.evidence(quote); err != nil {
		return d, err
	}
	d.Chain, err = j.chain(row, quote)
	return d, err
}
