package page

import (
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/chromedp/chromedp"
)

// TestHostile has the owner asked about texts that try to hide the buttons, to
// turn amounts round, or to widen the page; each button and sum is to be seen and
// pressed, with a keyboard too (axe-core).
func TestHostile(t *testing.T) {
	s := newScene(t, bounded)
	for _, text := range []string{
		"\u05d0\u05d1\u05d2\u05d3 1000 \u05d4\u05d5", // read from the right, with a number
		"\u202eRUE 00.055\u202c\u2066 x \u2067 y",
		"Z" + strings.Repeat("\u0301\u0489\u0302", 60), // stacked marks
		strings.Repeat("W", 480),
		`<style>button{display:none}</style><script>alert(1)</script>`,
		strings.Repeat("\u200b", 100) + "a",
		strings.Repeat("\ufdfd", 60), // the widest
	} {
		ask := s.do(s.Buyer, askAction("Hello."))
		quote := quoteAction(ask.Thread, "55000", "27500")
		quote.Items = []intent.Item{{Description: text, Quantity: 2, UnitPrice: quote.Items[0].UnitPrice}}
		quote.Note = strings.Repeat(text+"\n", max(1, 1900/(len([]rune(text))+1)))
		_, err := s.Buyer.Propose(inbox.Action{Type: intent.Accept, Ref: s.do(s.Seller, quote).ID})
		check(t, err)
	}
	c := openChromium(t, s)
	c.open("/signin?next=/inboxes/buyer/waiting")
	c.do(chromedp.SendKeys(chromedp.CSS("#token"), s.secret))
	c.click("main button")
	c.look("hostile")
	for _, path := range []string{"/inboxes/buyer/waiting", "/inboxes/buyer"} {
		c.open(path)
		for _, width := range []int64{1280, 320} {
			c.do(chromedp.EmulateViewport(width, 800))
			for _, fault := range got[[]string](t)(chromedp.Run(c.ctx, chromedp.Evaluate[[]string](unreachable))) {
				t.Errorf("%s at %d: %s", path, width, fault)
			}
		}
	}
	c.open("/inboxes/buyer/waiting")
	lines := got[[]string](t)(chromedp.Run(c.ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll('.items li')].filter(e => e.dir != 'ltr' || !e.querySelector('bdi')).map(e => e.outerHTML)`)))
	for _, line := range lines {
		t.Errorf("not isolated: %s", line)
	}
}

// unreachable finds buttons, sums and times that are covered, too small or outside the window.
const unreachable = `[...document.querySelectorAll('button, a.button, .sum, time, .number')].flatMap(e => {
	e.scrollIntoView({block: 'center'});
	const r = e.getBoundingClientRect(), top = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
	const ok = r.width > 4 && r.height > 4 && r.left > -1 && r.right < innerWidth + 1 && top && (e.contains(top) || top.contains(e));
	return ok || e.closest('details:not([open])') ? [] : [e.outerHTML.slice(0, 200)];
})`
