package page

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/agentmaild/agentmaild/token"
)

// How long a session lasts (D180).
const (
	idleTime    = 30 * time.Minute
	sessionTime = 12 * time.Hour
	maxSessions = 64
)

// session is who has signed in.
type session struct {
	token token.Token // as it is now
	form  string      // the secret that each of its forms carries
	made  time.Time
	used  time.Time
}

// sessions are kept in memory alone, under the hash of their cookie: whoever
// could read one there could sign in with none of it.
type sessions struct {
	mu   sync.Mutex
	list map[[sha256.Size]byte]*session
}

// cookieName is that of the session cookie. Over TLS a browser takes the name
// only from this very host, with Secure and for all paths.
func cookieName(r *http.Request) string {
	if overTLS(r) {
		return "__Host-agentmaild"
	}
	return "agentmaild"
}

// overTLS tells whether the browser speaks TLS, with us or with a proxy before
// us. Who lies about it has a cookie that his own browser keeps back.
func overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// draw makes a secret of 256 bits.
func (s *server) draw() (string, error) {
	var secret [32]byte
	if _, err := io.ReadFull(s.Random, secret[:]); err != nil {
		return "", fmt.Errorf("making a session: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(secret[:]), nil
}

// begin makes a session for a token and returns the value of its cookie.
func (s *server) begin(t token.Token) (string, error) {
	cookie, err := s.draw()
	if err != nil {
		return "", err
	}
	form, err := s.draw()
	if err != nil {
		return "", err
	}
	now := s.Now()
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	s.sessions.sweep(now)
	if s.sessions.list == nil {
		s.sessions.list = map[[sha256.Size]byte]*session{}
	}
	s.sessions.list[sha256.Sum256([]byte(cookie))] = &session{token: t, form: form, made: now, used: now}
	return cookie, nil
}

// sweep forgets the sessions that have ended, and of too many the one that was
// unused longest.
func (s *sessions) sweep(now time.Time) {
	var oldest [sha256.Size]byte
	for key, it := range s.list {
		if it.ended(now) {
			delete(s.list, key)
		} else if first, ok := s.list[oldest]; !ok || it.used.Before(first.used) {
			oldest = key
		}
	}
	if len(s.list) >= maxSessions {
		delete(s.list, oldest)
	}
}

func (s *session) ended(now time.Time) bool {
	return now.Sub(s.used) >= idleTime || now.Sub(s.made) >= sessionTime
}

// sessionOf finds the session of a request, nil where it has none. A token that
// was revoked, or made anew, ends the sessions of the old one at once.
func (s *server) sessionOf(r *http.Request) *session {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return nil
	}
	key := sha256.Sum256([]byte(cookie.Value))
	now := s.Now()
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	it := s.sessions.list[key]
	if it == nil {
		return nil
	}
	current, ok := s.holds(it.token)
	if !ok || it.ended(now) {
		delete(s.sessions.list, key)
		return nil
	}
	it.token, it.used = current, now
	found := *it
	return &found
}

// holds finds a token as it is now.
func (s *server) holds(t token.Token) (token.Token, bool) {
	for _, now := range s.Tokens.List() {
		if now.Hash == t.Hash && now.Scope == token.Owner {
			return now, true
		}
	}
	return token.Token{}, false
}

// end ends the session of a request, if it has one.
func (s *server) end(r *http.Request) {
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		s.sessions.mu.Lock()
		defer s.sessions.mu.Unlock()
		delete(s.sessions.list, sha256.Sum256([]byte(cookie.Value)))
	}
}

// setCookie has the browser keep a session until it is closed; "" has it
// forget one.
func (v *view) setCookie(value string) {
	cookie := &http.Cookie{Name: cookieName(v.r), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: overTLS(v.r)}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.w, cookie)
}

// same compares two secrets in a time that does not tell how far they agree.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
