package inbox

import (
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/threads"
	"github.com/go-json-experiment/json/jsontext"
)

// The tables of an inbox and their keys.
const (
	tableMessages store.Table = "messages" // message id
	tableThreads  store.Table = "threads"  // thread id
	tableNonces   store.Table = "nonces"   // sender, nonce
	tableForget   store.Table = "forget"   // time, then the key of a nonce
	tableDue      store.Table = "due"      // time, then a kind and what it names: see judge.pass
	tableWaits    store.Table = "waits"    // id waited for, then the id that waits
	tableRetries  store.Table = "retries"  // number
	tableMails    store.Table = "mails"    // hash; the bytes of a mail that is tried again
	tableCounts   store.Table = "counts"   // quota, then whose share of it
	tableBounced  store.Table = "bounced"  // message id
	tableHeld     store.Table = "held"     // message id
	tableSigns    store.Table = "signs"    // message id
	tableOutbox   store.Table = "outbox"   // number
	tableRates    store.Table = "rates"    // what is counted, then an address or domain
	tableEvents   store.Table = "events"   // number
	tablePending  store.Table = "pending"  // number of an event
	tablePosition store.Table = "position" // "mailbox"

	tableRecords     store.Table = "records"      // accept, then "ours" or "theirs"
	tableRecordFiles store.Table = "record_files" // as records; the bytes
	tableDoubted     store.Table = "doubted"      // accept whose record does not check out
	tableReplies     store.Table = "replies"      // id of a reply in words
	tableLeft        store.Table = "left"         // id of an offer of the other side

	tableExchanges store.Table = "exchanges" // agent id, message id
	tableTasks     store.Table = "tasks"     // task id
	tableMet       store.Table = "met"       // agent id, message id
	tableMetOrder  store.Table = "met_order" // number
	tableRoster    store.Table = "roster"    // "document" or "hash"
	tableContacts  store.Table = "contacts"  // agent id
	tableAddresses store.Table = "addresses" // address that is on a name card
	tableDoor      store.Table = "door"      // number
	tableKnocks    store.Table = "knocks"    // agent id
	tableVisits    store.Table = "visits"    // agent id
	tableSpool     store.Table = "spool"     // folder
	tableReviews   store.Table = "reviews"   // number
	tableHooks     store.Table = "hooks"     // id of a webhook
	tableUntold    store.Table = "untold"    // id of a webhook, number of an event
	tableOnce      store.Table = "once"      // key of who asks for an action
	tableLetters   store.Table = "letters"   // as outbox; the bytes of the mail

	tableActions    store.Table = "actions"     // number
	tableOpenOffers store.Table = "open_offers" // id of an own offer
	tableTimes      store.Table = "times"       // end, then the id of the offer
	tableSums       store.Table = "sums"        // a bucket of package limits
	tableDealt      store.Table = "dealt"       // address with which something was agreed
	tableOwn        store.Table = "own"         // "limits salt" or "reminder"
)

// Fate is where a stored message stands.
type Fate string

// The fates of messages from outside and from here.
const (
	FateAccepted Fate = "accepted"
	FateHeld     Fate = "held"
	FateParked   Fate = "parked"
	FateRejected Fate = "rejected" // by the owner
	FateSent     Fate = "sent"     // from here
)

// undecided tells whether it takes of its sender's share.
func (f Fate) undecided() bool { return f == FateHeld || f == FateParked }

// Proof is what was proven about a message, in names and plain words.
type Proof struct {
	Domain    string `json:"domain,omitempty"`    // that DKIM passed for
	Selector  string `json:"selector,omitempty"`  // of that signature
	Mail      string `json:"mail,omitempty"`      // how the mail was authenticated
	Signature string `json:"signature,omitempty"` // how the JWS was checked
	Kid       string `json:"kid,omitempty"`
	Party     string `json:"party,omitempty"`
	OrgName   string `json:"org_name,omitempty"` // as its key page has it
}

// messageRow is a message held here.
type messageRow struct {
	Canonical string    `json:"canonical"`
	Hash      string    `json:"hash"`
	JWS       string    `json:"jws,omitempty"`
	Fate      Fate      `json:"fate"`
	Signature Signature `json:"signature"`
	Warnings  []string  `json:"warnings,omitempty"`
	Proof     Proof     `json:"proof,omitzero"`
	Thread    string    `json:"thread"`
	At        int64     `json:"at"` // arrival, or when it was sent; Unix seconds

	SentAt int64 `json:"sent_at,omitzero"` // when the mail server took it, for one from here

	// What a parked message needs to go on.
	WaitsFor string `json:"waits_for,omitempty"` // "" once it waits only for its key page
	Retry    bool   `json:"retry,omitzero"`      // its signature must be looked at again
	Unknown  bool   `json:"unknown,omitzero"`
	AgentOf  bool   `json:"agent_of,omitzero"`
	Record   string `json:"record,omitempty"`
}

// threadRow is a thread with what its mails need.
type threadRow struct {
	threads.Thread
	Messages []string `json:"messages"` // ids in the order of their commits
	Due      int64    `json:"due,omitzero"`
	Noticed  bool     `json:"noticed,omitzero"` // a late accept was told of (D27)

	Undelivered map[string]undelivered `json:"undelivered,omitempty"` // by message id
}

// other is the address that the thread is with.
func (t *threadRow) other(own string) string {
	if t.Parties[0] == own {
		return t.Parties[1]
	}
	return t.Parties[0]
}

// nonceRow remembers by which message a nonce was used.
type nonceRow struct {
	ID        string    `json:"id"`
	Hash      string    `json:"hash"`
	Signature Signature `json:"signature,omitempty"`
}

func (n nonceRow) is(m *intent.Parsed) bool { return n.ID == m.ID && n.Hash == m.Hash }

func nonceKey(m *intent.Parsed) string { return m.From.Address + "\x00" + m.Nonce }

// retryRow is a mail, or the signature of a message, that DNS or a key page
// could not be reached for. A signature has the last two members alone.
type retryRow struct {
	Arrival int64  `json:"arrival,omitzero"` // Unix seconds
	UID     uint32 `json:"uid,omitzero"`
	From    string `json:"from,omitempty"` // whose share it takes (D72)
	Hash    string `json:"hash,omitempty"` // where its bytes are, in tableMails
	Size    int64  `json:"size,omitzero"`  // of them
	Next    int64  `json:"next"`
	Tries   int    `json:"tries"`
}

// position is opaque here: the mailbox's own note of how far it has read.
type position = jsontext.Value
