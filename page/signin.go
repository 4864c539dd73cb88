package page

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/agentmaild/agentmaild/token"
)

// Wrong tokens that one address may try in a while; what is beyond it is not
// looked at for long, nor logged. The right one is let in all the same: nobody
// guesses 256 bits, but anybody could else keep the owner out, who may come
// from the same proxy (D181).
const (
	maxAttempts  = 10
	attemptTime  = time.Minute
	maxAddresses = 1024
)

// attempts counts the wrong tokens of each address.
type attempts struct {
	mu    sync.Mutex
	since time.Time
	count map[netip.Prefix]int
}

// wrong counts a wrong token, and tells whether there was room for it.
func (a *attempts) wrong(from netip.Prefix, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil || now.Sub(a.since) >= attemptTime {
		a.since, a.count = now, map[netip.Prefix]int{}
	}
	if _, known := a.count[from]; !known && len(a.count) >= maxAddresses {
		return false
	}
	a.count[from]++
	return a.count[from] <= maxAttempts
}

// addressOf is where a request comes from: an IPv4 address, or the /64 that one
// host of IPv6 has for itself.
func addressOf(r *http.Request) netip.Prefix {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	address, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	bits := 64
	if address = address.Unmap(); address.Is4() {
		bits = 32
	}
	prefix, _ := address.WithZone("").Prefix(bits)
	return prefix
}

// signInForm is what the sign-in shows.
type signInForm struct {
	Next  string
	Wrong string // why the last try failed
	Again string // where to go on, for who comes from elsewhere and is signed in
}

// next is where a person wanted to go: a path below the inboxes, so that no
// link can lead through here to another site.
func next(path string) string {
	if strings.HasPrefix(path, "/inboxes/") {
		return path
	}
	return "/"
}

func (v *view) askToken() error {
	return v.showSignIn(http.StatusOK, signInForm{Next: next(v.r.FormValue("next"))})
}

func (v *view) showSignIn(status int, form signInForm) error {
	return v.show(status, "signin", "Sign in", form)
}

// leadToSignIn answers who has no session.
func (v *view) leadToSignIn() {
	wanted := next(v.r.URL.RequestURI())
	if v.r.Method != http.MethodGet && v.r.Method != http.MethodHead {
		v.fail(errSignedOut)
		return
	}
	if v.r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		// A link elsewhere comes without the cookie (SameSite=Strict), one of this page has it.
		if err := v.showSignIn(http.StatusOK, signInForm{Next: wanted, Again: wanted}); err != nil {
			v.fail(err)
		}
		return
	}
	target := "/signin"
	if wanted != "/" {
		target += "?" + url.Values{"next": {wanted}}.Encode()
	}
	http.Redirect(v.w, v.r, target, http.StatusSeeOther)
}

// signIn takes an owner's token for a session. An agent's is refused: it could
// else approve what it asked for itself.
func (v *view) signIn() error {
	from, wanted := addressOf(v.r), next(v.r.PostFormValue("next"))
	t, ok := v.Tokens.Check(strings.TrimSpace(v.r.PostFormValue("token")))
	if !ok || t.Scope != token.Owner {
		return v.refuseSignIn(t, from, wanted)
	}
	v.end(v.r)
	cookie, err := v.begin(t)
	if err != nil {
		return err
	}
	v.Log.Info("signed in", "token", t.Name, "address", from.Addr().String())
	v.setCookie(cookie)
	http.Redirect(v.w, v.r, wanted, http.StatusSeeOther)
	return nil
}

// refuseSignIn says why a token is the wrong one; t is that of an agent, or
// none.
func (v *view) refuseSignIn(t token.Token, from netip.Prefix, wanted string) error {
	if !v.attempts.wrong(from, v.Now()) {
		v.w.Header().Set("Retry-After", "60")
		return v.showSignIn(http.StatusTooManyRequests, signInForm{Next: wanted, Wrong: "Too many tokens were wrong. Try again in a minute."})
	}
	if err := v.Tokens.Err(); err != nil {
		v.Log.Error("nobody can sign in", "error", err)
		return v.showSignIn(http.StatusServiceUnavailable, signInForm{Next: wanted, Wrong: "The daemon cannot read its tokens; its log says why."})
	}
	v.Log.Warn("a sign-in was refused", "address", from.Addr().String(), "token", t.Name)
	wrong := "This daemon has no such token. Make one with “agentmaild token new NAME --scope owner”."
	if t.Scope == token.Agent {
		wrong = "That is an agent’s token. This page takes an owner’s."
	}
	return v.showSignIn(http.StatusForbidden, signInForm{Next: wanted, Wrong: wrong})
}

func (v *view) signOut() error {
	v.end(v.r)
	v.setCookie("")
	v.Log.Info("signed out", "token", v.session.token.Name)
	http.Redirect(v.w, v.r, "/signin", http.StatusSeeOther)
	return nil
}
