package inbox

import (
	"github.com/agentmaild/agentmaild/envelope/address"
	"golang.org/x/net/publicsuffix"
)

// quota bounds what senders take of the store (D72): one address, all
// addresses of one registered domain, and everybody. 0 is no bound. Names of
// senders are cheap below a domain, so that an address alone bounds nothing.
type quota struct {
	what                     string
	address, domain, overall int64
}

// The quotas. What an agent does in earnest is far below them.
var (
	waitingMails = quota{"mails", 0, 100, 1000}         // that wait for DNS or a key page
	waitingBytes = quota{"bytes", 0, 4 << 20, 64 << 20} // of those mails
	undecided    = quota{"undecided", 100, 1000, 5000}  // messages that are held or parked
	lettersTo    = quota{"letters", 100, 1000, 0}       // to a sender, that wait for the owner
	remembered   = quota{"nonces", 50_000, 200_000, 0}  // nonces

	// Of agents, whose ids cost nothing: one id, and everybody.
	doorMessages  = quota{"door", 100, 0, 1000}               // that wait to be admitted
	doorBytes     = quota{"door bytes", 4 << 20, 0, 64 << 20} // of those messages
	knocksWaiting = quota{"knocks", 0, 0, 1000}               // for the owner
	spooledBytes  = quota{"spool", 256 << 20, 0, 4 << 30}     // of files

	// Of our own agent, for the owner. They are counted by whom they are for (D136): an
	// agent that answers each of a flood would else ask about nobody else.
	actionsWaiting = quota{"actions", 50, 100, 200}
	leftToOwner    = quota{"left", 50, 100, 1000} // offers that nobody answers; their threads are there without it
)

// maxThread is how many messages of a thread are taken: each is written with
// the names of all before it.
const maxThread = 1000

// claim is a part of a quota.
type claim struct {
	quota
	size int64
}

// shares are the counters that a claim of an address is counted in.
func (c claim) shares(from string) map[string]int64 {
	return map[string]int64{
		c.what + " of " + from:              c.address,
		c.what + " of @" + registered(from): c.domain,
		c.what:                              c.overall,
	}
}

// registered is the domain of an address without the names its owner can add.
func registered(from string) string {
	domain := address.Of(from)
	if short, err := publicsuffix.EffectiveTLDPlusOne(domain); err == nil {
		return short
	}
	return domain
}

// share takes claims where all of them fit, or none.
func (j *judge) share(from string, claims ...claim) (fits bool, err error) {
	for _, c := range claims {
		if fits, err := j.fits(from, c); err != nil || !fits {
			return false, err
		}
	}
	for _, c := range claims {
		if err := j.count(from, c, c.size); err != nil {
			return false, err
		}
	}
	return true, nil
}

// fits tells whether there is room for a claim. The first of a share always
// has it: a mail may be larger than what a domain gets.
func (j *judge) fits(from string, c claim) (bool, error) {
	for name, limit := range c.shares(from) {
		var used int64
		if _, err := j.tx.Get(tableCounts, name, &used); err != nil {
			return false, err
		}
		if limit != 0 && used != 0 && used+c.size > limit {
			return false, nil
		}
	}
	return true, nil
}

func (j *judge) giveBack(from string, claims ...claim) error {
	for _, c := range claims {
		if err := j.count(from, c, -c.size); err != nil {
			return err
		}
	}
	return nil
}

// count changes the counters of a claim. One at 0 is no row: every sender
// would leave some.
func (j *judge) count(from string, c claim, by int64) error {
	for name, limit := range c.shares(from) {
		if limit == 0 {
			continue
		}
		var used int64
		if _, err := j.tx.Get(tableCounts, name, &used); err != nil {
			return err
		}
		var err error
		if used += by; used > 0 {
			err = j.tx.Put(tableCounts, name, used)
		} else {
			err = j.tx.Delete(tableCounts, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rateRow counts what happened within an hour, which begins with the first.
type rateRow struct {
	Until int64 `json:"until"` // Unix seconds
	Count int   `json:"count"`
}

// runs tells whether the hour is this one. One that ends later than it could
// was begun while the clock was ahead, and would last until then (D164).
func (r rateRow) runs(now int64) bool { return r.Until > now && r.Until <= now+3600 }

// hourly counts one more under a name, and tells whether it is one too many
// for the hour (D74); then it is not counted.
func (j *judge) hourly(name string, limit int) (full bool, err error) {
	var row rateRow
	if _, err := j.tx.Get(tableRates, name, &row); err != nil {
		return false, err
	}
	if now := j.in.srv.Now().Unix(); !row.runs(now) {
		row = rateRow{Until: now + 3600}
		if err := j.tx.Put(tableDue, dueKey(row.Until, "rate/"+name), struct{}{}); err != nil {
			return false, err
		}
	}
	if row.Count >= limit {
		return true, nil
	}
	row.Count++
	return false, j.tx.Put(tableRates, name, row)
}

// newHour forgets an hour that is over.
func (j *judge) newHour(name string, now int64) error {
	var row rateRow
	if known, err := j.tx.Get(tableRates, name, &row); err != nil || !known || row.Until > now {
		return err
	}
	return j.tx.Delete(tableRates, name)
}

// How many times the hourly limit all addresses of a domain have together, and
// how many messages go on with threads for each that may begin one.
const (
	domainTimes = 10
	goOnTimes   = 10
)

// admit counts a message from a sender that begins a thread, or goes on with
// one, and tells whether it is within the hourly limits (D74). The domain comes
// first: where it is full no row is made for one more address of it.
func (j *judge) admit(from string, begins bool) (bool, error) {
	what, limit := "thread ", j.in.set.HourlyLimit
	if !begins {
		what, limit = "message ", goOnTimes*limit
	}
	full, err := j.hourly(what+"from @"+registered(from), domainTimes*limit)
	if err != nil || full {
		return false, err
	}
	full, err = j.hourly(what+"from "+from, limit)
	return !full, err
}
