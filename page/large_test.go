package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
)

// largest is the most that a page may have, in bytes.
const largest = 1 << 20

// dear makes a quote as long as one may be, in characters that HTML writes
// with five.
func dear(thread string) inbox.Action {
	quote := quoteAction(thread, "1375000", "27500")
	quote.Items[0].Description = strings.Repeat("'", 480)
	quote.Items = slices.Repeat(quote.Items, 25)
	for i := range quote.Items {
		quote.Items[i].Quantity = 2
	}
	quote.Note = strings.Repeat("'", 1900)
	return quote
}

// TestLargeMessages has the longest messages wait, and fill a thread: fewer of
// them stand on a page, and all on some page.
func TestLargeMessages(t *testing.T) {
	s := newScene(t)
	ask := s.do(s.Buyer, askAction(""))
	quote := s.do(s.Seller, dear(ask.Thread))
	const turns = 20
	in := s.Buyer
	for range turns {
		counter := dear("")
		counter.Replaces = quote.ID
		if quote = s.do(in, counter); in == s.Buyer {
			in = s.Seller
		} else {
			in = s.Buyer
		}
	}
	for i := range 2 * waitingSize { // the offer is as long, and stands beside each
		got[inbox.Done](t)(s.Buyer.Propose(inbox.Action{Type: intent.Accept, Ref: quote.ID, Note: fmt.Sprint("Try ", i)}))
	}
	b := s.signedIn()
	for path, want := range map[string]int{"/inboxes/buyer/threads/" + ask.Thread: turns + 2, "/inboxes/buyer/waiting": 2 * waitingSize} {
		seen := 0
		for next := path; next != ""; {
			w := b.get(next)
			if n := w.Body.Len(); n > largest {
				t.Errorf("%s has %d bytes", next, n)
			}
			page := read(t, w)
			seen += len(page.all("article"))
			next = ""
			for _, n := range page.all("a") {
				if attr(n, "rel") == "next" {
					next = attr(n, "href")
				}
			}
		}
		if seen != want {
			t.Errorf("%s and what follows have %d messages of %d", path, seen, want)
		}
	}
	page := read(t, b.get("/inboxes/buyer/waiting"))
	page.says("What would be agreed", "Total 13750.00 EUR", "The offer is long: all that would be agreed")
	alone := got[[]inbox.Waiting](t)(s.Buyer.Waiting())[0].Key
	if said := read(t, b.get("/inboxes/buyer/waiting/item?key="+alone)).main(); strings.Count(said, strings.Repeat("'", 480)) < 25 {
		t.Error("what would be agreed is not all there where it stands alone")
	}
}

// TestLongAddress shows the beginning of an address that a sender gave a file: a
// message may name a hundred.
func TestLongAddress(t *testing.T) {
	v := &view{}
	list := []inbox.ReceivedFile{{Name: "a.pdf", State: emailing.FileURI, URI: "https://elsewhere.test/" + strings.Repeat("a", 8000)}}
	if shown := v.files("", "", list)[0].Text; len(shown) > 400 || !strings.Contains(shown, "at https://elsewhere.test/aaa") || !strings.Contains(shown, "bytes more)") {
		t.Errorf("%d bytes: %.80s", len(shown), shown)
	}
}
