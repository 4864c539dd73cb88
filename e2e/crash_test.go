//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// handled has the handler of these tests decide everything, and counterparts
// write to each other as often as they like.
func handled(t *testing.T) string {
	return fmt.Sprintf("[[inbox]] handler = [%q]\nhourly_limit = 1000", filepath.Join(root(t), "e2e/handler.sh"))
}

const (
	crashDeals = 16 // negotiations, of four messages each
	crashKills = 60 // at least
)

// TestCrashes kills two daemons at random moments, each of which is started
// again at once, while their handlers negotiate. SEED=N repeats the moments.
func TestCrashes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	s := startStack(t, "CYRUS=1")
	sides := []*side{s.side("buyer", handled(t)), s.side("seller", handled(t))}
	for _, d := range sides {
		d.start()
	}
	begun := begin(sides)
	kills := 0
	for asked := false; !asked || kills < crashKills; kills++ {
		time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
		d := sides[random.IntN(2)]
		d.kill()
		d.launch()
		select {
		case err := <-begun:
			if err != nil {
				t.Fatal(err)
			}
			asked = true
			begun = nil
		default:
		}
	}
	var ends [2]map[string][]string
	sides[0].within(3*time.Minute, "the same deals as the seller's, all agreed", func() bool {
		ends = [2]map[string][]string{sides[0].agreed(), sides[1].agreed()}
		return ends[0] != nil && len(ends[0]) == len(ends[1])
	})
	if diff := cmp.Diff(ends[0], ends[1]); diff != "" {
		t.Errorf("the sides differ, buyer to seller:\n%s", diff)
	}
	for i, d := range sides {
		d.whole(ends[i])
	}
	t.Logf("%d kills, %d deals", kills, len(ends[0]))
}

// begin has both sides ask in turn, again when the daemon was just dead. An
// ask whose answer was lost may have been made all the same: one deal more.
func begin(sides []*side) <-chan error {
	done := make(chan error, 1)
	go func() {
		for n := range crashDeals {
			d, to := sides[n%2], sides[1-n%2].address
			var err error
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				if _, err = d.try("ask", "--to", to, "--item", "200 piece Ceramic mug"); err == nil {
					break
				}
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return done
}

// agreed gives for every thread what became of which message, in order of the
// thread; nil while one is not agreed.
func (d *side) agreed() map[string][]string {
	d.t.Helper()
	out, err := d.try("threads", "list", "--json")
	if err != nil {
		return nil
	}
	var list []thread
	d.decode(out, &list)
	if len(list) < crashDeals {
		return nil
	}
	all := map[string][]string{}
	for _, t := range list {
		t = d.thread(t.ID)
		states := []string{t.Record}
		for _, e := range t.Entries {
			states = append(states, e.ID+" "+e.State)
		}
		for _, m := range t.Messages {
			states = append(states, m.ID+" "+m.Type)
		}
		// Ask, quote, counter-offer and accept; a fifth would be an event that was
		// acted on twice.
		if len(t.Messages) < 4 || t.Record != "two_signatures" {
			return nil
		}
		all[t.ID] = states
	}
	return all
}

// whole looks for mails that are missing, and for two that differ under one
// Message-ID: sent twice they are the same bytes.
func (d *side) whole(ends map[string][]string) {
	d.t.Helper()
	seen := map[string]string{}
	twice := 0
	for _, m := range d.mails() {
		id := m.header("Message-ID")
		if first, known := seen[id]; known {
			twice++
			if first != m.signed() {
				d.t.Errorf("the %s: two mails %s differ:\n%s", d.name, id, cmp.Diff(first, m.signed()))
			}
		}
		seen[id] = m.signed()
	}
	d.t.Logf("the %s: %d mails, %d of them sent twice", d.name, len(seen), twice)
	if len(seen) != 2*len(ends) { // two of the four messages came from there
		d.t.Errorf("the %s: %d mails for %d deals", d.name, len(seen), len(ends))
	}
	for id := range ends {
		t := d.thread(id)
		if len(t.Messages) != 4 {
			d.t.Errorf("the %s: %d messages in %s", d.name, len(t.Messages), id)
		}
		for _, m := range t.Messages {
			_, came := seen[fmt.Sprintf("<%s@%s>", m.ID, m.Proof.Domain)]
			if m.Fate == "accepted" != came {
				d.t.Errorf("the %s: %s is %s, its mail is there: %t", d.name, m.ID, m.Fate, came)
			}
		}
	}
	if list := d.waiting(); len(list) > 0 {
		d.t.Errorf("the %s: waiting: %+v", d.name, list)
	}
}
