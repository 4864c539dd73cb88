package page

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/inbox"
)

func TestFiles(t *testing.T) {
	v := view{source: &Source{Inbox: newScene(t).Seller}}
	got := v.files("U", "a/b?", []inbox.ReceivedFile{
		{Name: "a.pdf", State: emailing.FileIntact, Size: 3, Path: "/spool/x/a.pdf"},
		{Name: "b", State: emailing.FileIntact, URI: "https://x.test/"},
		{Name: "c", State: emailing.FileMissing},
	})
	want := []file{
		{"a.pdf", "ok", 3, good, "/inboxes/seller/file?agent=U&id=a%2Fb%3F&n=0"},
		{"b", "ok, at https://x.test/, which was not fetched", 0, warn, ""},
		{"c", "missing", 0, warn, ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, not %+v", got, want)
	}
}

// TestDownload takes a file from where a page leads to it, while its sender waits to be let in.
func TestDownload(t *testing.T) {
	s := newScene(t)
	asked := s.do(s.Buyer, s.withFile(s.request("chat", "Hello.")))
	b := s.signedIn()
	links := read(t, b.get("/inboxes/seller/waiting")).links()
	at := slices.IndexFunc(links, func(link string) bool { return strings.Contains(link, "/file?") })
	if at < 0 {
		t.Fatalf("no file among %v", links)
	}
	w := b.get(links[at])
	if w.Code != http.StatusOK || w.Body.String() != "The kiln is cold." || w.Header().Get("Content-Type") != "application/octet-stream" ||
		w.Header().Get("Content-Disposition") != "attachment; filename=letter.txt" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	for _, path := range []string{"?id=" + asked.ID, "?agent=" + s.Buyer.AgentID() + "&id=" + asked.ID + "&n=1", "?agent=" + s.Buyer.AgentID() + "&id=" + asked.ID + "&n=../x", "?n=0"} {
		if w := b.get("/inboxes/seller/file" + path); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "There is no such file") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	check(t, s.Seller.Decide(s.Buyer.AgentID(), agentmsg.StanceAllow, ""))
	if w := b.get(links[at]); w.Body.String() != "The kiln is cold." {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	requests := got[[]inbox.ExchangeMessage](t)(s.Seller.Requests())
	check(t, os.RemoveAll(filepath.Dir(requests[0].Files[0].Path)))
	if w := b.get(links[at]); w.Code != http.StatusGone || !strings.Contains(w.Body.String(), "60 days") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
