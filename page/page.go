// Package page is the owner's page: what an owner sees and decides of the
// daemon's inboxes, as HTML that needs no script. Text from outside is escaped,
// isolated, and shown with what nobody would see of it.
package page

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/listen"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/token"
)

// maxBody bounds a form, in bytes.
const maxBody = 64 << 10

// Source is an inbox with how its mailbox is doing.
type Source struct {
	*inbox.Inbox
	Mailbox func() mailbox.Health
}

// Services are what the page uses of the world.
type Services struct {
	Inboxes func() []Source // those of now: they change while the page is shown
	Tokens  *token.Ring
	Now     func() time.Time
	Random  io.Reader
	Log     *slog.Logger
}

type server struct {
	Services
	sessions sessions
	attempts attempts
}

// New returns the handler of the page, for the root of a listener.
func New(srv Services) http.Handler {
	s := &server{Services: srv}
	mux := http.NewServeMux()
	mux.HandleFunc(stylePath, asset("text/css; charset=utf-8", style))
	mux.HandleFunc(iconPath, asset("image/svg+xml", icon))
	mux.HandleFunc("/signin", s.public(methods{get: (*view).askToken, post: (*view).signIn}))
	mux.HandleFunc("/signout", s.signed(methods{post: (*view).signOut}))
	mux.HandleFunc("/{$}", s.signed(methods{get: (*view).overview}))
	for path, m := range map[string]methods{
		"":                           {get: (*view).inbox},
		"/threads":                   {get: (*view).threads},
		"/threads/{id}":              {get: (*view).thread},
		"/requests":                  {get: (*view).requests},
		"/request":                   {get: (*view).request}, // named in the query: an id may be any text
		"/file":                      {get: (*view).file},    // as a request is
		"/tasks":                     {get: (*view).tasks},
		"/task":                      {get: (*view).task},
		"/waiting":                   {get: (*view).waiting},
		"/waiting/item":              {get: (*view).waitingOne}, // as a request is
		"/waiting/decide":            {post: (*view).decide},
		"/limits":                    {get: (*view).limits},
		"/records":                   {get: (*view).records},
		"/records/{side}/{id}":       {get: (*view).record},
		"/records/{side}/{id}/check": {get: (*view).checkRecord},
		"/records/{side}/{id}/file":  {get: (*view).recordFile},
	} {
		mux.HandleFunc("/inboxes/{inbox}"+path, s.signed(methods{get: s.of(m.get), post: s.of(m.post)}))
	}
	mux.HandleFunc("/", s.signed(methods{get: func(*view) error { return errNoPage }}))
	return s.guarded(mux)
}

// methods are what answers at one path; nil is a method that it does not have.
type methods struct{ get, post func(*view) error }

func (m methods) allowed() string {
	var list []string
	if m.get != nil {
		list = append(list, "GET, HEAD")
	}
	if m.post != nil {
		list = append(list, "POST")
	}
	return strings.Join(list, ", ")
}

// view is one request of a session, and what its answer is made of.
type view struct {
	*server
	w http.ResponseWriter
	r *http.Request

	session *session // nil before sign-in
	source  *Source  // nil above the inboxes
}

// public answers without a session.
func (s *server) public(m methods) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		v := &view{server: s, w: w, r: r}
		v.answer(m)
	}
}

// signed answers within a session, and leads to the sign-in without one.
func (s *server) signed(m methods) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		v := &view{server: s, w: w, r: r}
		if v.session = s.sessionOf(r); v.session == nil {
			v.leadToSignIn()
			return
		}
		listen.Welcome(r, true)
		v.answer(m)
	}
}

// of is a method at one of the inboxes that the token is for.
func (s *server) of(method func(*view) error) func(*view) error {
	if method == nil {
		return nil
	}
	return func(v *view) error {
		for _, source := range v.mine() {
			if source.Name() == v.r.PathValue("inbox") {
				v.source = &source
				return method(v)
			}
		}
		return errNoInbox
	}
}

// mine are the inboxes that the session's token is for.
func (v *view) mine() []Source {
	var list []Source
	for _, source := range v.Inboxes() {
		if v.session.token.May(source.Name()) {
			list = append(list, source)
		}
	}
	return list
}

// answer calls the method of a request. A form is read, and held against the
// session, before it can do anything.
func (v *view) answer(m methods) {
	method := m.get
	switch v.r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		method = m.post
	default:
		method = nil
	}
	if method == nil {
		v.w.Header().Set("Allow", m.allowed())
		v.fail(errMethod)
		return
	}
	if v.r.Method == http.MethodPost {
		if err := v.form(); err != nil {
			v.fail(err)
			return
		}
	}
	if err := method(v); err != nil {
		v.fail(err)
	}
}

// form reads a form. One without its session's own token was not written by
// this page (CSRF), whatever the browser says of where it comes from.
func (v *view) form() error {
	if err := v.r.ParseForm(); err != nil {
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			return errLarge
		}
		return errForm
	}
	if v.session != nil && !same(v.r.PostFormValue("form"), v.session.form) {
		return errForeign
	}
	return nil
}

// guarded sets what every answer has, and refuses forms of other sites.
func (s *server) guarded(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(&view{server: s, w: w, r: r}).fail(errForeign)
	}))
	next = cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy":      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "same-origin", // with no-referrer a form would come from the origin null
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-store",
		} {
			w.Header().Set(name, value)
		}
		next.ServeHTTP(w, r)
	})
}
