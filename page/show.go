package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/agentmaild/agentmaild/envelope/inert"
)

var (
	//go:embed style.css
	style []byte
	//go:embed icon.svg
	icon []byte
	//go:embed parts
	parts embed.FS
)

// The paths of what does not change while the program runs: another program
// has others.
var (
	stylePath = assetPath("style.css", style)
	iconPath  = assetPath("icon.svg", icon)
)

func assetPath(name string, data []byte) string {
	sum := sha256.Sum256(data)
	return "/assets/" + hex.EncodeToString(sum[:6]) + "/" + name
}

// maxText is the most characters shown of one text; what a message says may be
// longer.
const maxText = 4000

// pages are the templates, by their name. They are read when there is a page:
// most commands, and most daemons, have none.
var pages = sync.OnceValue(func() map[string]*template.Template {
	base := template.Must(template.New("base.html").Funcs(template.FuncMap{
		"cut": cut, "moment": moment, "machine": machine, "words": words,
	}).ParseFS(parts, "parts/base.html", "parts/pieces.html"))
	made := map[string]*template.Template{}
	for _, name := range []string{
		"signin", "fail", "overview", "inbox", "threads", "thread", "requests", "request", "tasks", "task",
		"waiting", "confirm", "limits", "records", "record",
	} {
		made[name] = template.Must(template.Must(base.Clone()).ParseFS(parts, "parts/"+name+".html"))
	}
	return made
})

// longText is what maxText characters are at most, in bytes.
const longText = maxText * utf8.UTFMax

// cut is a text of which no more is shown than fits.
func cut(text string) string { return beginning(text, maxText) }

// beginning is a text of which no more is shown than so many characters.
func beginning(text string, most int) string {
	count := 0
	for at := range text {
		if count++; count > most {
			return text[:at] + fmt.Sprintf("… (and %d bytes more)", len(text)-at)
		}
	}
	return text
}

// moment is a time as a person reads it, machine as a program does; Unix
// seconds.
func moment(unix int64) string  { return time.Unix(unix, 0).UTC().Format("2 Jan 2006, 15:04:05 UTC") }
func machine(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

// words is a name of the protocols in words.
func words(name any) string { return strings.ReplaceAll(fmt.Sprint(name), "_", " ") }

// link leads somewhere in the navigation.
type link struct {
	Name, Path, Note string
	Count            int // shown beside it, unless 0
	Current          bool
}

// frame is what every page has around what it shows.
type frame struct {
	Title       string
	Style, Icon string
	Token       string // the name of the session's; "" without a session
	Form        string // that the forms of the session carry
	Inbox       string
	Inboxes     []link
	Sections    []link
	Done        string // what was just done
	Body        any
}

// show answers with a page. Nothing is sent of one that cannot be made.
func (v *view) show(status int, name, title string, body any) error {
	f := frame{Title: title, Style: stylePath, Icon: iconPath, Body: body, Done: done[v.r.URL.Query().Get("done")]}
	if v.session != nil {
		f.Token, f.Form = v.session.token.Name, v.session.form
		for _, source := range v.mine() {
			f.Inboxes = append(f.Inboxes, link{Name: source.Name(), Path: inboxPath(source.Name()), Note: source.Address(), Current: v.source != nil && v.source.Name() == source.Name()})
		}
	}
	if v.source != nil {
		f.Inbox = v.source.Name()
		var err error
		if f.Sections, err = v.sections(); err != nil {
			return err
		}
	}
	var page bytes.Buffer
	if err := pages()[name].Execute(&page, f); err != nil {
		return fmt.Errorf("making the page %s: %w", name, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	// All there is in a page goes through here, so that no text is forgotten.
	_, _ = v.w.Write([]byte(inert.Visible(page.String()))) // who hung up need not be told
	return nil
}

// sections are the parts of an inbox.
func (v *view) sections() ([]link, error) {
	waiting, err := v.source.Waiting()
	if err != nil {
		return nil, err
	}
	list := []link{{Name: "Overview"}, {Name: "Waiting", Path: "/waiting", Count: len(waiting)}, {Name: "Threads", Path: "/threads"}}
	if v.source.AgentID() != "" {
		list = append(list, link{Name: "Requests", Path: "/requests"}, link{Name: "Tasks", Path: "/tasks"})
	}
	list = append(list, link{Name: "Records", Path: "/records"}, link{Name: "Limits", Path: "/limits"})
	rest := strings.TrimPrefix(v.r.URL.Path, inboxPath(v.source.Name()))
	for i := range list {
		path := list[i].Path
		list[i].Current = rest == path || path != "" && strings.HasPrefix(rest, strings.TrimSuffix(path, "s")) // one of them is shown
		list[i].Path = inboxPath(v.source.Name()) + path
	}
	return list, nil
}

func inboxPath(name string) string { return "/inboxes/" + url.PathEscape(name) }

// path is that of a part of the inbox.
func (v *view) path(parts ...string) string {
	joined := inboxPath(v.source.Name())
	for _, p := range parts {
		joined += "/" + url.PathEscape(p)
	}
	return joined
}

// asset answers with a file that never changes under its path.
func asset(mediaType string, data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		_, _ = w.Write(data)
	}
}

// pager leads through a long list.
type pager struct {
	Page, Pages    int // from 1
	Before, Behind string
}

// pageOf is the part of a list that a request asks for.
func pageOf[T any](v *view, list []T, size int) ([]T, pager) {
	return pageOfLong(v, list, size, func(T) int { return 0 })
}

// maxShown is how much the things of one page may say together, in bytes; one of
// them is shown whole, whatever it says (D149). As HTML it may become five times
// as much.
const maxShown = 128 << 10

// pageOfLong is pageOf for things that others wrote, which may be long: fewer of
// them fit.
func pageOfLong[T any](v *view, list []T, size int, length func(T) int) ([]T, pager) {
	begins, said := []int{0}, 0
	for i, one := range list {
		n := length(one)
		first := begins[len(begins)-1]
		if said += n; i > first && (i-first == size || said > maxShown) {
			begins, said = append(begins, i), n
		}
	}
	p := pager{Pages: len(begins)}
	asked, err := strconv.Atoi(v.r.URL.Query().Get("page"))
	if err != nil {
		asked = 1
	}
	p.Page = min(max(asked, 1), p.Pages)
	path := func(n int) string {
		query := v.r.URL.Query()
		query.Set("page", strconv.Itoa(n))
		query.Del("done")
		return v.r.URL.Path + "?" + query.Encode()
	}
	if p.Page > 1 {
		p.Before = path(p.Page - 1)
	}
	if p.Page < p.Pages {
		p.Behind = path(p.Page + 1)
	}
	return list[begins[p.Page-1]:append(begins, len(list))[p.Page]], p
}
