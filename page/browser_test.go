package page

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// shotsVariable names the folder for screenshots. Where it is set the test
// fails without Chromium instead of being skipped.
const shotsVariable = "AGENTMAILD_PAGE_SHOTS"

// chromium is a tab of a headless Chromium on the page of a scene.
type chromium struct {
	t     *testing.T
	ctx   context.Context
	root  string
	shots string
	axe   string
}

func openChromium(t *testing.T, s *scene) *chromium {
	t.Helper()
	shots := os.Getenv(shotsVariable)
	program, err := exec.LookPath("chromium")
	if err != nil && shots == "" {
		t.Skip("Chromium is not installed: e2e/servers/install.sh page && go test -run TestBrowser ./page")
	}
	check(t, err)
	if shots != "" {
		check(t, os.MkdirAll(shots, 0o755))
	}
	server := httptest.NewServer(s.handler)
	t.Cleanup(server.Close)
	ctx, cancel := chromedp.NewContext(t.Context(), chromedp.WithAllocatorOptions(chromedp.ExecPath(program), chromedp.NoSandbox))
	t.Cleanup(cancel)
	check(t, chromedp.Do(ctx)) // the browser lives longer than what follows may take
	limited, stop := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	axe := got[[]byte](t)(os.ReadFile("testdata/axe/axe.min.js"))
	return &chromium{t, limited, server.URL, shots, string(axe)}
}

func (c *chromium) do(steps ...chromedp.Action[chromedp.Void]) {
	c.t.Helper()
	check(c.t, chromedp.Do(c.ctx, steps...))
}

// follow does what leads to another page, and waits for it.
func (c *chromium) follow(step chromedp.Action[chromedp.Void]) {
	c.t.Helper()
	_, err := chromedp.RunResponse(c.ctx, step)
	check(c.t, err)
}

func (c *chromium) open(path string) {
	c.t.Helper()
	c.do(chromedp.Navigate(c.root + path))
}

// click follows what a selector names.
func (c *chromium) click(selector string) {
	c.t.Helper()
	c.follow(chromedp.Click(chromedp.CSS(selector)))
}

// says tells that each text is to be seen on the page.
func (c *chromium) says(texts ...string) {
	c.t.Helper()
	body := got[string](c.t)(chromedp.Run(c.ctx, chromedp.Text(chromedp.CSS("body"))))
	for _, want := range texts {
		if !strings.Contains(body, want) {
			c.t.Errorf("%q is not to be seen in:\n%s", want, body)
		}
	}
}

// looks are how a page is seen.
var looks = []struct {
	name          string
	width, height int64
	scheme        string
}{
	{"light", 1280, 800, "light"},
	{"dark", 1280, 800, "dark"},
	{"phone", 390, 844, "light"},
}

// look checks the page as it stands for faults that keep somebody from using
// it (axe-core), in each look, and takes a picture of each.
func (c *chromium) look(name string) {
	c.t.Helper()
	for _, l := range looks {
		scheme := func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}}})
			return err
		}
		c.do(chromedp.EmulateViewport(l.width, l.height), chromedp.Func(scheme))
		if c.shots != "" {
			picture := got[[]byte](c.t)(chromedp.Run(c.ctx, chromedp.FullScreenshot(100)))
			check(c.t, os.WriteFile(filepath.Join(c.shots, name+"-"+l.name+".png"), picture, 0o644))
		}
		for _, fault := range c.faults() {
			c.t.Errorf("%s, %s: %s", name, l.name, fault)
		}
		wide := got[bool](c.t)(chromedp.Run(c.ctx, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > document.documentElement.clientWidth")))
		if wide {
			c.t.Errorf("%s, %s: the page is wider than the window", name, l.name)
		}
	}
}

// faults are what axe-core finds.
func (c *chromium) faults() []string {
	c.t.Helper()
	c.do(chromedp.Evaluate[chromedp.Void](c.axe))
	const run = `axe.run(document).then(r => {
		if (r.passes.length < 10) return ['axe-core looked at ' + r.passes.length + ' rules'];
		return r.violations.map(v => v.id + ': ' + v.help + ': ' + v.nodes.map(n => n.html + ' ' + n.failureSummary).join('; '));
	})`
	return got[[]string](c.t)(chromedp.Run(c.ctx, chromedp.Evaluate[[]string](run, chromedp.EvalAwaitPromise)))
}

// TestBrowser has an owner sign in, approve an accept that the agent may not
// send alone, and see its record check out; and looks at every page.
func TestBrowser(t *testing.T) {
	s := newScene(t, bounded)
	s.furnish()
	_, quote := s.quoted()
	asked := got[inbox.Done](t)(s.Buyer.Propose(inbox.Action{Type: intent.Accept, Ref: quote.ID, Note: "It fits our budget."}))
	if asked.Waiting == "" {
		t.Fatal("the owner is not asked")
	}
	c := openChromium(t, s)

	c.open("/inboxes/buyer/waiting/item?key=" + asked.Waiting)
	c.says("Sign in")
	c.look("signin")
	c.do(chromedp.SendKeys(chromedp.CSS("#token"), "amt_wrong"))
	c.click("main button")
	c.says("no such token")
	c.look("signin-wrong")
	c.do(chromedp.SendKeys(chromedp.CSS("#token"), s.secret))
	c.click("main button")

	c.says("Your agent wants to do this", "What would be agreed", "500.00 EUR", "550.00 EUR")
	c.look("waiting-item")
	c.click("button[value=approve]")
	c.says("commits you to", "550.00 EUR, with agent@seller.test")
	c.look("confirm")
	c.click("main button")
	c.says("Done: it goes on.")
	s.carry(s.Buyer)

	c.open("/inboxes/buyer/threads/" + quote.Thread)
	c.says("agreed", "Acceptance")
	c.look("thread")
	c.click("table a[href*='/records/ours/']")
	c.says("What the record says")
	c.look("record")
	c.click("a.button[href$='/check']")
	c.says("checks out: two signatures", "What was agreed", "550.00 EUR")
	c.look("record-check")

	c.open("/inboxes/buyer/limits")
	c.says("1100.00 EUR of 600.00 EUR, used up")
	c.look("limits-used")
	for name, path := range s.everyPage() {
		c.open(path)
		c.look(name)
	}

	c.open("/")
	c.click(".top button")
	c.says("Sign in")
	c.open("/inboxes/seller")
	c.says("Sign in")
}

// TestKeyboard goes through the page with the Tab key alone.
func TestKeyboard(t *testing.T) {
	s := newScene(t)
	s.held()
	c := openChromium(t, s)
	c.open("/signin?next=/inboxes/seller/waiting")
	focused := func() string {
		return got[string](t)(chromedp.Run(c.ctx, chromedp.Evaluate[string](`(e => (e.innerText || e.name || e.tagName).trim().split("\n")[0])(document.activeElement)`)))
	}
	c.do(chromedp.KeyEvent("\t"))
	if at := focused(); at != "Skip to the content" {
		t.Errorf("the first stop is %q", at)
	}
	c.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\t"))
	if at := focused(); at != "token" {
		t.Errorf("the stop behind the brand is %q", at)
	}
	c.do(chromedp.KeyEvent(s.secret))
	c.follow(chromedp.KeyEvent("\r"))
	var stops []string
	for range 40 {
		c.do(chromedp.KeyEvent("\t"))
		stops = append(stops, focused())
		if focused() == "Reject" {
			break
		}
	}
	for _, want := range []string{"Skip to the content", "Sign out", "Waiting", "A message is held", "reason", "Let it count", "Reject"} {
		if !slices.Contains(stops, want) {
			t.Errorf("no stop at %q: %q", want, stops)
		}
	}
	c.follow(chromedp.KeyEvent("\r"))
	c.says("Done: it is off the list.", "Nothing waits for you.")
}

// TestPrint prints a long text whole, where nobody can scroll it.
func TestPrint(t *testing.T) {
	s := newScene(t)
	ask := s.do(s.Buyer, askAction(strings.Repeat("Line\n", 390)))
	c := openChromium(t, s)
	c.open("/signin?next=/inboxes/seller/threads/" + ask.Thread)
	c.do(chromedp.SendKeys(chromedp.CSS("#token"), s.secret))
	c.click("main button")
	hidden := func() bool {
		return got[bool](t)(chromedp.Run(c.ctx, chromedp.Evaluate[bool](`(e => e.scrollHeight > e.clientHeight + 2)(document.querySelector('blockquote.said'))`)))
	}
	if !hidden() {
		t.Error("on the screen the text is not scrolled: it is too short to tell")
	}
	c.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	}))
	if hidden() {
		t.Error("in print a part of the text is missing")
	}
}
