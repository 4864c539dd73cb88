package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/inbox/inboxtest"
	"github.com/agentmaild/agentmaild/mailbox"
	"golang.org/x/net/html"
)

// TestPages looks at every page of inboxes that have one of everything.
func TestPages(t *testing.T) {
	s := newScene(t)
	s.furnish()
	b := s.signedIn()
	pages := s.everyPage()
	for _, c := range []struct {
		name, heading string
		status        int
		says          []string
	}{
		{"overview", "Inboxes", 200, []string{"buyer", "agent@buyer.test", "seller", "7 things wait for you", "Nothing waits for you.", "550 no such user"}},
		{"inbox", "seller", 200, []string{"connected", "Last look at the mailbox 2 Nov 2026, 09:00:00 UTC", "Events for the handler", s.Seller.AgentID()}},
		{"waiting", "Waiting for you", 200, []string{
			"A message is held", "not signed", "The handler failed", "no price list", "A mail was not sent", "A person answered a quote", "Yes, we take it.",
			"600.00 EUR", "An agent asks to be admitted", "An agent is not admitted", "And one more question.", "A mail is for your eyes", "Do you ship to Lagos?",
		}},
		{"threads", "Threads", 200, []string{"agent@buyer.test", "Quote by us", "agreed", "record: two signatures", "here alone: never delivered"}},
		{"requests", "Requests", 200, []string{"chat", "translate", "completed", "not answered", s.Buyer.AgentID()}},
		{"request", "", 200, []string{"Signature by agent " + s.Buyer.AgentID()}},
		{"tasks", "Tasks", 200, []string{"translate", "completed", "us"}},
		{"task", "Task translate", 200, []string{"Please translate: the kiln is cold.", "Der Ofen ist kalt.", "working", "by this inbox’s agent"}},
		{"records", "Records", 200, []string{"agent@buyer.test", "ours", "two signatures", "checks out: two signatures", "Download"}},
		{"limits", "Limits", 200, []string{"No limits are set", "Open offers"}},
		{"not-found", "Not found", 404, []string{"There is no such page"}},
		{"none", "Waiting for you", 200, []string{"Nothing waits for you."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := b.get(pages[c.name])
			page := read(t, w)
			if w.Code != c.status || c.heading != "" && page.heading() != c.heading {
				t.Errorf("%d %q", w.Code, page.heading())
			}
			page.says(c.says...)
			delete(pages, c.name)
		})
	}
	for name := range pages {
		t.Errorf("nobody looks at %s", name)
	}
}

// TestLinks follows every link from page to page: each leads to a page, or to
// a file.
func TestLinks(t *testing.T) {
	s := newScene(t)
	s.furnish()
	b := s.signedIn()
	seen, left := map[string]bool{"/": true}, []string{"/"}
	for len(left) > 0 {
		path := left[0]
		left = left[1:]
		w := b.get(path)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d", path, w.Code)
		}
		if strings.HasSuffix(path, "/file") || strings.Contains(path, "/file?") {
			continue
		}
		page := read(t, w)
		page.heading()
		headings(t, path, page)
		for _, link := range page.links() {
			if !seen[link] && !strings.HasPrefix(link, "#") {
				seen[link] = true
				left = append(left, link)
			}
		}
	}
	for _, part := range []string{"/waiting/item?", "/threads/", "/request?", "/task?", "/records/ours/", "/records/theirs/", "/check", "/file", "/file?"} {
		if !slices.ContainsFunc(slices.Collect(keys(seen)), func(path string) bool { return strings.Contains(path, part) }) {
			t.Errorf("no link leads to a %s", part)
		}
	}
}

func keys(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// headings are of one level more than the one before at most.
func headings(t *testing.T, path string, page *document) {
	t.Helper()
	level := 0
	for n := range page.root.Descendants() {
		if n.Type == html.ElementNode && len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
			if next := int(n.Data[1] - '0'); next > level+1 {
				t.Errorf("%s: h%d behind h%d", path, next, level)
			} else {
				level = next
			}
		}
	}
}

// TestThread shows what is proven about each message of a thread.
func TestThread(t *testing.T) {
	s := newScene(t)
	accept := s.agreed()
	b := s.signedIn()
	page := read(t, b.get("/inboxes/seller/threads/"+accept.Thread))
	page.says(
		"Thread with agent@buyer.test", "Request for a quote agent@buyer.test answered", "Quote us agreed",
		"We would like delivery to Ikeja.", "200 piece × Ceramic mug, 350 ml, white at 2.75 EUR each", "Total 550.00 EUR",
		"Verdict counts", "Mail DKIM passed for buyer.test", "Signature by buyer Ltd, pty_buyer000000000000000", "Signature signed with this inbox’s key",
		"Delivery taken by the mail server on 2 Nov 2026", "agreed",
	)
	messages := page.all("article")
	if len(messages) != 3 {
		t.Fatalf("%d messages", len(messages))
	}
	for i, side := range []string{"theirs", "ours", "theirs"} {
		if class := attr(messages[i], "class"); !strings.Contains(class, side) {
			t.Errorf("message %d is of class %q, not %s", i, class, side)
		}
	}
}

// TestPaging leads through more messages than a page has.
func TestPaging(t *testing.T) {
	s := newScene(t)
	ask, quote := s.quoted()
	for range messageSize {
		counter := quoteAction("", "54000", "270")
		counter.Replaces = quote.ID
		in := s.Buyer
		if quote.To == sellerAddress {
			in = s.Seller
		}
		quote = s.do(in, counter)
	}
	b := s.signedIn()
	path := "/inboxes/seller/threads/" + ask.Thread
	for _, c := range []struct {
		query    string
		messages int
		says     string
		links    []string
	}{
		{"", messageSize, "Page 1 of 2", []string{"?page=2"}},
		{"?page=2", 2, "Page 2 of 2", []string{"?page=1"}},
		{"?page=99", 2, "Page 2 of 2", nil},
		{"?page=-1", messageSize, "Page 1 of 2", nil},
		{"?page=x", messageSize, "Page 1 of 2", nil},
	} {
		page := read(t, b.get(path+c.query))
		page.says(c.says)
		if n := len(page.all("article")); n != c.messages {
			t.Errorf("%q: %d messages", c.query, n)
		}
		for _, link := range c.links {
			if !slices.Contains(page.links(), path+link) {
				t.Errorf("%q: no link to %s: %v", c.query, link, page.links())
			}
		}
	}
}

// TestHealth shows how a mailbox is doing.
func TestHealth(t *testing.T) {
	s := newScene(t)
	b := s.signedIn()
	for _, c := range []struct {
		name   string
		health mailbox.Health
		says   []string
	}{
		{"connected", mailbox.Health{Connected: true, LastLook: s.Now, IdleSince: s.Now}, []string{"connected", "Told of new mail since 2 Nov 2026"}},
		{"polling", mailbox.Health{Connected: true, LastLook: s.Now, Polling: true}, []string{"connected, looks every few minutes", "Told of new mail since not now"}},
		{"connecting", mailbox.Health{}, []string{"connecting", "Last look at the mailbox not yet"}},
		{"broken", mailbox.Health{LastLook: s.Now, LastMail: s.Now, LastError: "logging in to imap.seller.test: no such password"}, []string{"not connected", "no such password", "Last mail 2 Nov 2026"}},
	} {
		s.mailbox = c.health
		page := read(t, b.get("/inboxes/seller"))
		page.says(c.says...)
	}
}

// TestLimits shows what is used of limits.
func TestLimits(t *testing.T) {
	s := newScene(t, bounded)
	s.agreed()
	b := s.signedIn()
	page := read(t, b.get("/inboxes/buyer/limits"))
	page.says(
		"What is within these limits is done", "One deal at most 500.00 EUR", "This month 550.00 EUR of 2000.00 EUR",
		"Today with agent@seller.test 550.00 EUR of 600.00 EUR", "May deal with those with whom something was agreed before, seller.test", "Never with rival.test", "Unsigned messages you are asked",
		"at most 10 % off the price list", "Lowest price piece mug: 2.40 EUR", "Monday, Friday, 09:00 to 17:30, with 24h notice", "Open offers 0 of 10",
	)
	var widths []string
	for _, n := range page.all("rect") {
		widths = append(widths, attr(n, "width"))
	}
	if got := strings.Join(widths, " "); got != "0 0 27 91" {
		t.Errorf("the bars are at %s percent", got)
	}
	s.agreed()
	read(t, b.get("/inboxes/buyer/limits")).says("1100.00 EUR of 600.00 EUR, used up")
	read(t, b.get("/inboxes/seller/limits")).says("No limits are set", "This month 1100.00 EUR, no limit")
}

func TestPercent(t *testing.T) {
	for _, c := range [][3]int64{{0, 10, 0}, {1, 3, 33}, {10, 10, 100}, {99, 10, 100}, {0, 0, 100}, {5e17, 999_999_999_999_999_999, 50}} {
		if got := percent(c[0], c[1]); got != c[2] {
			t.Errorf("%d of %d: %d", c[0], c[1], got)
		}
	}
}

// TestRecord shows a record, checks it and sends it.
func TestRecord(t *testing.T) {
	s := newScene(t)
	accept := s.agreed()
	b := s.signedIn()
	records := got[[]inbox.Record](t)(s.Seller.Records())
	if len(records) != 2 {
		t.Fatalf("%d records", len(records))
	}
	for _, r := range records {
		path := "/inboxes/seller/records/theirs/" + accept.ID
		if r.Ours {
			path = "/inboxes/seller/records/ours/" + r.ID
		}
		read(t, b.get(path)).says("Agreement with agent@buyer.test", "What the record says", "Total 550.00 EUR", "Offered by seller Ltd <agent@seller.test>")
		page := read(t, b.get(path+"/check"))
		page.says("checks out: two signatures", "What was agreed", "offer signature passed", "37 of 38 steps passed, 1 had nothing to look at.")

		w := b.get(path + "/file")
		_, file, err := s.Seller.RecordFile(accept.ID, r.Ours)
		check(t, err)
		if w.Body.String() != string(file) || w.Header().Get("Content-Type") != "application/json" || !strings.HasPrefix(w.Header().Get("Content-Disposition"), `attachment; filename="record-`) {
			t.Errorf("%v %d bytes", w.Header(), w.Body.Len())
		}
		restore := s.Withdraw(s.Buyer)
		read(t, b.get(path+"/check")).says("does not check out", "which is not proven", "failed")
		restore()
	}
}

// TestFailures asks for what is not there, and by the wrong method.
func TestFailures(t *testing.T) {
	s := newScene(t)
	s.agreed()
	b := s.signedIn()
	id := "00000000-0000-4000-8000-000000000000"
	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/nothing", 404, "There is no such page"},
		{"GET", "/inboxes", 404, "There is no such page"},
		{"GET", "/inboxes/nobody/threads", 404, "There is no such inbox"},
		{"GET", "/inboxes/seller/threads/" + id, 404, "There is no such thread"},
		{"GET", "/inboxes/seller/threads/%2e%2e%2f", 404, "There is no such thread"},
		{"GET", "/inboxes/seller/request?id=" + id, 404, "There is no such request"},
		{"GET", "/inboxes/seller/request", 404, "There is no such request"},
		{"GET", "/inboxes/seller/task?id=", 404, "There is no such task"},
		{"GET", "/inboxes/seller/waiting/item?key=action-1", 404, "It was decided already"},
		{"GET", "/inboxes/seller/records/ours/" + id, 404, "There is no such record"},
		{"GET", "/inboxes/seller/records/ours/" + id + "/check", 404, "There is no such record"},
		{"GET", "/inboxes/seller/records/theirs/" + id + "/file", 404, "There is no such record"},
		{"GET", "/inboxes/seller/records/whose/" + id, 404, "There is no such record"},
		{"GET", "/inboxes/seller/waiting/decide", 405, "cannot be used in that way"},
		{"GET", "/signout", 405, "cannot be used in that way"},
		{"POST", "/", 405, "cannot be used in that way"},
		{"POST", "/inboxes/seller/threads", 405, "cannot be used in that way"},
		{"DELETE", "/inboxes/seller/threads", 405, "cannot be used in that way"},
		{"PUT", "/signin", 405, "cannot be used in that way"},
	} {
		w := b.send(c.method, c.path, nil)
		page := read(t, w)
		if w.Code != c.status || (c.status == 405) != (w.Header().Get("Allow") != "") {
			t.Errorf("%s %s: status %d, allowed %q", c.method, c.path, w.Code, w.Header().Get("Allow"))
		}
		page.heading()
		page.says(c.says)
	}
	t.Run("then the store is closed", func(t *testing.T) { s.Pair = inboxtest.New(t, nil, nil) })
	w := b.get("/inboxes/seller/threads")
	if page := read(t, w); w.Code != 500 || strings.Contains(page.raw, "store") || !strings.Contains(s.log.String(), "a page failed") {
		t.Errorf("a store that is closed: %d %s", w.Code, page.raw)
	}
}

// TestLargeForm sends more than a form may hold.
func TestLargeForm(t *testing.T) {
	s := newScene(t)
	b := s.signedIn()
	secret := b.secret()
	for _, path := range []string{"/signin", "/inboxes/seller/waiting/decide", "/signout"} {
		w := b.send(http.MethodPost, path, url.Values{"form": {secret}, "reason": {strings.Repeat("x", maxBody)}})
		if w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: status %d", path, w.Code)
		}
		read(t, w).says("larger than 64 KiB")
	}
}

// TestHeaders compares what every answer has.
func TestHeaders(t *testing.T) {
	s := newScene(t)
	accept := s.agreed()
	b := s.signedIn()
	for _, path := range []string{"/", "/signin", "/nothing", "/inboxes/seller/records/theirs/" + accept.ID + "/file", stylePath} {
		w := b.get(path)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "same-origin",
			"Cache-Control":           "no-store",
		} {
			if path == stylePath && name == "Cache-Control" {
				want = "public, max-age=31536000, immutable"
			}
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
	page := read(t, b.get("/"))
	if n := len(page.all("script")) + len(page.all("style")) + len(page.all("iframe")); n > 0 || strings.Contains(page.raw, "style=") {
		t.Error("the page has scripts, frames or styles in it")
	}
	for _, n := range slices.Concat(page.all("link"), page.all("img")) {
		if path := attr(n, "href") + attr(n, "src"); !strings.HasPrefix(path, "/assets/") {
			t.Errorf("%s is not of this page", path)
		}
	}
}

// hostile is text that tries to be more than text.
const hostile = "</bdi></blockquote><script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{.Form}}\n\u202ereversed\u2066 \u200b\U000e0041 &amp; javascript:alert(3)"

// TestHostileText puts such text wherever another side can write, and looks at
// every page.
func TestHostileText(t *testing.T) {
	s := newScene(t)
	s.furnish()
	line := strings.ReplaceAll(hostile, "\n", " ")
	ask := s.do(s.Buyer, inbox.Action{Type: intent.AskQuote, To: sellerAddress, Note: hostile, Items: []intent.Item{{Description: line, Quantity: 1, Unit: "<b>"}}})
	s.do(s.Buyer, inbox.Action{Type: intent.ProposeTimes, To: sellerAddress, Purpose: "<h1>" + line, Location: line, Slots: []intent.Slot{
		{Start: "2026-11-12T10:00:00+01:00", End: "2026-11-12T10:30:00+01:00", TimeZone: "Africa/Lagos"},
	}})
	s.unsigned(inbox.Action{Type: intent.AskQuote, To: sellerAddress, Note: hostile, Items: []intent.Item{{Description: line, Quantity: 1}}})
	request := s.do(s.Buyer, s.request("chat", hostile+"\x1b[31m"))
	s.mail("From: \"<script>\" <ada@elsewhere.test>\r\nTo: " + sellerAddress + "\r\nSubject: <script>alert(1)</script> \u202e\r\n\r\n<b>\r\n")
	key := got[inbox.Done](t)(s.Seller.Propose(inbox.Action{Type: intent.AskQuote, To: buyerAddress, Note: hostile, Items: []intent.Item{{Description: line, Quantity: 1}}})).Waiting
	b := s.signedIn()
	hit := map[string]bool{}
	for _, path := range []string{
		"/", "/inboxes/seller", "/inboxes/seller/waiting", "/inboxes/seller/waiting/item?key=" + key, "/inboxes/seller/threads", "/inboxes/seller/threads/" + ask.Thread,
		"/inboxes/seller/requests", "/inboxes/buyer/request?id=" + request.ID, "/inboxes/buyer/threads/" + ask.Thread,
		"/inboxes/seller/request?id=%3Cscript%3E%e2%80%ae", "/inboxes/%3Cscript%3E%e2%80%ae", "/%3Cscript%3E", "/inboxes/seller/threads?page=%3Cscript%3E&done=%3Cscript%3E",
	} {
		page := read(t, b.get(path))
		for _, name := range []string{"script", "iframe", "object", "b", "style"} {
			for _, n := range page.all(name) {
				if text(n) != "owner" { // the name of the token
					t.Errorf("%s: an element %s: %s", path, name, text(n))
				}
			}
		}
		page.heading()
		for _, n := range page.all("img") {
			if attr(n, "src") != iconPath {
				t.Errorf("%s: an image %q", path, attr(n, "src"))
			}
		}
		for _, link := range page.links() {
			if !strings.HasPrefix(link, "/") && !strings.HasPrefix(link, "#") {
				t.Errorf("%s: a link to %q", path, link)
			}
		}
		for _, hidden := range []string{"\u202e", "\u2066", "\u200b", "\U000e0041", "\x1b"} {
			if strings.Contains(page.raw, hidden) {
				t.Errorf("%s: %+q stands there as it came", path, hidden)
			}
		}
		hit[path] = strings.Contains(page.main(), "<script>alert(1)</script>") && strings.Contains(page.main(), `\u{202e}`)
	}
	for _, path := range []string{"/inboxes/seller/waiting", "/inboxes/seller/waiting/item?key=" + key, "/inboxes/seller/threads/" + ask.Thread, "/inboxes/buyer/request?id=" + request.ID} {
		if !hit[path] {
			t.Errorf("%s does not show the text at all", path)
		}
	}
}

// TestLongText shows the beginning of a text, and says that there is more.
func TestLongText(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("é", maxText):             strings.Repeat("é", maxText),
		strings.Repeat("é", maxText) + "ää":      strings.Repeat("é", maxText) + "… (and 4 bytes more)",
		"":                                       "",
		strings.Repeat("\xff", maxText) + "\xff": strings.Repeat("\xff", maxText) + "… (and 1 bytes more)",
	} {
		if got := cut(text); got != want {
			t.Errorf("%d bytes became %d", len(text), len(got))
		}
	}
	s := newScene(t)
	request := s.do(s.Buyer, s.request("chat", strings.Repeat("word ", 4000)))
	b := s.signedIn()
	w := b.get("/inboxes/buyer/request?id=" + request.ID)
	read(t, w).says("bytes more)")
	if n := w.Body.Len(); n > 16<<10 {
		t.Errorf("%d bytes", n)
	}
}

// TestTimes writes times so that people and programs read them.
func TestTimes(t *testing.T) {
	at := time.Date(2026, 11, 2, 9, 7, 3, 0, time.FixedZone("", 3600)).Unix()
	if got := moment(at) + " " + machine(at); got != "2 Nov 2026, 08:07:03 UTC 2026-11-02T08:07:03Z" {
		t.Error(got)
	}
}
