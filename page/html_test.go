package page

import (
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// document is a page as a browser reads it.
type document struct {
	t    testing.TB
	root *html.Node
	raw  string
}

// read parses an answer, which must be a whole page.
func read(t testing.TB, w *httptest.ResponseRecorder) *document {
	t.Helper()
	raw := w.Body.String()
	root, err := html.Parse(strings.NewReader(raw))
	check(t, err)
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("status %d, no page: %s", w.Code, raw)
	}
	return &document{t, root, raw}
}

// all are the elements of a name.
func (d *document) all(name string) []*html.Node {
	var list []*html.Node
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			list = append(list, n)
		}
	}
	return list
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what a node says, its white space run together.
func text(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// heading is the one h1 of the page.
func (d *document) heading() string {
	d.t.Helper()
	list := d.all("h1")
	if len(list) != 1 {
		d.t.Fatalf("%d headings of the first level: %s", len(list), d.raw)
	}
	return text(list[0])
}

// main is what the page says, without its frame.
func (d *document) main() string {
	d.t.Helper()
	list := d.all("main")
	if len(list) != 1 {
		d.t.Fatalf("%d main parts", len(list))
	}
	return text(list[0])
}

// says tells that each text stands in the main part.
func (d *document) says(texts ...string) {
	d.t.Helper()
	main := d.main()
	for _, want := range texts {
		if !strings.Contains(main, want) {
			d.t.Errorf("%q is not in: %s", want, main)
		}
	}
}

// links are the paths that lead on from the page.
func (d *document) links() []string {
	var list []string
	for _, a := range d.all("a") {
		list = append(list, attr(a, "href"))
	}
	return list
}
