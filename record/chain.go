package record

import "context"

// chainFormed: the chain may not be cut behind the acceptance, nor put in an order in which something answers what came
// later (D50, D82).
func chainFormed(c *check, _ context.Context) outcome {
	chain, offer := c.record.Chain, c.record.Offer
	places := make(map[string]int, len(chain))
	for i, hash := range chain {
		if _, twice := places[hash]; twice {
			return fail("a message stands twice in the chain", "entry %d with those before it", i+1)
		}
		places[hash] = i
	}
	at, there := places[offer.Hash]
	switch {
	case !there:
		return fail("the offer is not in the chain", "the hash of the offer with %d entries", len(chain))
	case chain[len(chain)-1] != c.record.last():
		return fail("the chain does not end where it was agreed", "the last of %d entries with %s", len(chain), c.record.last())
	case !standsBefore(places, offer.message.Prev, at):
		return fail("what the offer answers does not stand before it in the chain", "%s with the %d entries before the offer", offer.message.Prev, at)
	}
	return pass("the offer and the end of agreement with %d entries, each once", len(chain))
}

// standsBefore tells whether the answered message, if there is one, has its place before another.
func standsBefore(places map[string]int, prev string, at int) bool {
	i, there := places[prev]
	return prev == "" || there && i < at
}

// chainRecomputed holds every entry against the message it is the hash of (D33). Messages that are not in the chain came
// later or were refused, which only the side that committed them knows.
func chainRecomputed(c *check, _ context.Context) outcome {
	if c.thread == nil {
		return skip("the mails of the thread were not given")
	}
	places := map[string]int{}
	for i, hash := range c.record.Chain {
		m := c.thread[hash]
		switch {
		case m == nil || m.Thread != c.record.Thread:
			return fail("a message of the chain is not among the mails of the thread", "entry %d of %d, %s, with the mails", i+1, len(c.record.Chain), hash)
		case !standsBefore(places, m.Prev, i):
			return fail("the chain is not in the order of the mails", "what entry %d of %d answers with the entries before it", i+1, len(c.record.Chain))
		}
		places[hash] = i
	}
	return pass("all %d entries of the chain with the mails of the thread", len(c.record.Chain))
}
