package party

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentmaild/agentmaild/envelope/jws"
)

const (
	iat     = created + 1000
	arrival = iat + 100
	message = `{"id":"1","iat":1700001000}`
)

// scene is a good signature and the world it is checked in. It answers as Pages and TXT, and writes down what was asked.
type scene struct {
	claim    Claim
	page     *Page // what the cache has
	fresh    *Page // what the host has now
	pageErr  error
	freshErr error
	txt      map[string][]string
	txtErr   error
	asked    []string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	page := &Page{
		Party: buyer, OrgName: "Buyer Ltd", Addresses: []string{"agent@buyer.test"},
		Keys: []Key{published(testKey(1)), published(testKey(2))},
	}
	s := &scene{page: page, fresh: page}
	s.claim = Claim{
		Typ: jws.TypMessage, Canonical: []byte(message), Address: "agent@buyer.test", Party: buyer,
		Iat: iat, Arrival: time.Unix(arrival, 0),
	}
	s.sign(t, testKey(1), PageURL(testHost, buyer), message)
	return s
}

func (s *scene) sign(t *testing.T, key OwnKey, jku, payload string) {
	t.Helper()
	token, err := jws.Sign(key.Private, jku, jws.TypMessage, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	s.claim.Token = []byte(token)
}

// setKey changes the key that signed, on both pages.
func (s *scene) setKey(change func(*Key)) {
	change(&s.page.Keys[0])
}

func (s *scene) Page(_ context.Context, url, _ string, fresh bool) (*Page, error) {
	if url != PageURL(testHost, buyer) {
		return nil, fmt.Errorf("asked for %s: %w", url, ErrNoPage)
	}
	if fresh {
		s.asked = append(s.asked, "fresh page")
		return s.fresh, s.freshErr
	}
	s.asked = append(s.asked, "page")
	return s.page, s.pageErr
}

func (s *scene) LookupTXT(_ context.Context, name string) ([]string, error) {
	s.asked = append(s.asked, "TXT "+name)
	if s.txtErr != nil {
		return nil, s.txtErr
	}
	if records, ok := s.txt[name]; ok {
		return records, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func TestVerifySigned(t *testing.T) {
	s := newScene(t)
	v := &Verifier{Trust: Trust{Hosts: []string{testHost}}, Pages: s, TXT: s}
	got := v.Verify(t.Context(), s.claim)
	want := Result{Outcome: Signed, Kid: testKey(1).Kid, Party: buyer, OrgName: "Buyer Ltd"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"page"}, s.asked); diff != "" {
		t.Error(diff)
	}
}

// verifyCase is the good signature with one thing changed. asked is compared where it is not nil.
type verifyCase struct {
	name     string
	change   func(t *testing.T, s *scene)
	want     Outcome
	reason   string // part of the reason
	warnings []string
	asked    []string
}

func runVerify(t *testing.T, tests []verifyCase) {
	t.Helper()
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene(t)
			tc.change(t, s)
			v := &Verifier{Trust: Trust{Hosts: []string{testHost}}, Pages: s, TXT: s}
			got := v.Verify(t.Context(), s.claim)
			if got.Outcome != tc.want || !strings.Contains(got.Reason, tc.reason) {
				t.Errorf("got %s (%s), want %s (%s)", got.Outcome, got.Reason, tc.want, tc.reason)
			}
			if diff := cmp.Diff(tc.warnings, got.Warnings); diff != "" {
				t.Error(diff)
			}
			if tc.asked != nil {
				if diff := cmp.Diff(tc.asked, append([]string{}, s.asked...)); diff != "" {
					t.Error(diff)
				}
			}
			if got.Outcome != Signed && (got.Kid != "" || got.Party != "" || got.OrgName != "") {
				t.Errorf("names somebody without a signature: %+v", got)
			}
		})
	}
}

func TestVerifyClaim(t *testing.T) {
	nothing := []string{}
	runVerify(t, []verifyCase{
		{name: "token broken", want: Invalid, asked: nothing, change: func(_ *testing.T, s *scene) {
			s.claim.Token = s.claim.Token[:len(s.claim.Token)-1]
		}},
		{name: "token empty", want: Invalid, asked: nothing, change: func(_ *testing.T, s *scene) { s.claim.Token = nil }},
		{name: "other typ", want: Invalid, asked: nothing, reason: "typ", change: func(_ *testing.T, s *scene) {
			s.claim.Typ = jws.TypRecord
		}},
		{name: "unknown members", want: Invalid, asked: nothing, change: func(_ *testing.T, s *scene) { s.claim.Unknown = true }},
		{name: "S15 newline", want: Invalid, asked: nothing, change: func(t *testing.T, s *scene) {
			s.sign(t, testKey(1), PageURL(testHost, buyer), message+"\n")
		}},
		{name: "S15 pretty", want: Invalid, asked: nothing, change: func(t *testing.T, s *scene) {
			s.sign(t, testKey(1), PageURL(testHost, buyer), `{"id": "1", "iat": 1700001000}`)
		}},
		{name: "S18 of another message", want: Invalid, asked: nothing, change: func(_ *testing.T, s *scene) {
			s.claim.Canonical = []byte(`{"id":"2"}`)
		}},
		{name: "jku elsewhere", want: Unchecked, asked: nothing, change: func(t *testing.T, s *scene) {
			s.sign(t, testKey(1), PageURL("evil.test", buyer), message)
		}},
		{name: "jku of another form", want: Unchecked, asked: nothing, change: func(t *testing.T, s *scene) {
			s.sign(t, testKey(1), PageURL(testHost, buyer)+"#", message)
		}},
		{name: "signed by another key", want: Invalid, reason: "signature", change: func(t *testing.T, s *scene) {
			// The header names the key of the page, and somebody else signs.
			header, rest, _ := strings.Cut(string(s.claim.Token), ".")
			payload, _, _ := strings.Cut(rest, ".")
			s.claim.Token = resign(testKey(9).Private, header+"."+payload)
		}},
	})
}

func resign(key ed25519.PrivateKey, input string) []byte {
	signature := base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte(input)))
	return []byte(input + "." + signature)
}

func TestVerifyPage(t *testing.T) {
	twice := []string{"page", "fresh page"}
	empty := &Page{Party: buyer, Addresses: []string{"agent@buyer.test"}}
	runVerify(t, []verifyCase{
		{name: "no page", want: Unchecked, asked: []string{"page"}, change: func(_ *testing.T, s *scene) {
			s.pageErr = fmt.Errorf("status 404: %w", ErrNoPage)
		}},
		{name: "page not reached", want: Retry, change: func(_ *testing.T, s *scene) { s.pageErr = ErrTemporary }},
		{name: "error nobody decided on", want: Retry, change: func(_ *testing.T, s *scene) { s.pageErr = errors.New("?") }},
		{name: "other party", want: Unchecked, change: func(_ *testing.T, s *scene) { s.claim.Party = seller }},
		{name: "no party", want: Signed, change: func(_ *testing.T, s *scene) { s.claim.Party = "" }},
		{name: "P12 kid on the fresh page", want: Signed, asked: twice, change: func(_ *testing.T, s *scene) { s.page = empty }},
		{name: "kid on no page", want: Unchecked, asked: twice, reason: "kid", change: func(t *testing.T, s *scene) {
			s.sign(t, testKey(9), PageURL(testHost, buyer), message)
		}},
		{name: "fresh page gone", want: Unchecked, asked: twice, change: func(_ *testing.T, s *scene) {
			s.page, s.freshErr = empty, ErrNoPage
		}},
		{name: "fresh page not reached", want: Retry, asked: twice, change: func(_ *testing.T, s *scene) {
			s.page, s.freshErr = empty, ErrTemporary
		}},
		{name: "fresh page no longer lists", want: Unchecked, change: func(_ *testing.T, s *scene) {
			s.page, s.fresh = empty, &Page{Party: buyer, Keys: s.fresh.Keys}
		}},
	})
}

func TestVerifyVouch(t *testing.T) {
	const name = "_agent-agreements.buyer.test"
	unlisted := func(records ...string) func(*testing.T, *scene) {
		return func(_ *testing.T, s *scene) {
			s.page.Addresses = []string{"other@buyer.test"}
			if records != nil {
				s.txt = map[string][]string{name: records}
			}
		}
	}
	failing := func(err error) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) {
			unlisted()(t, s)
			s.txtErr = err
		}
	}
	runVerify(t, []verifyCase{
		{name: "S19 nobody vouches", want: Unchecked, asked: []string{"page", "TXT " + name}, change: unlisted()},
		{name: "domain listed", want: Signed, asked: []string{"page"}, change: func(t *testing.T, s *scene) {
			unlisted()(t, s)
			s.page.Domains = []string{"buyer.test"}
		}},
		{name: "vouched", want: Signed, change: unlisted(buyer)},
		{name: "one of several", want: Signed, change: unlisted(seller, "v=spf1 -all", buyer)},
		{name: "for another", want: Unchecked, change: unlisted(seller)},
		{name: "not exact", want: Unchecked, change: unlisted(" "+buyer, strings.ToUpper(buyer), buyer+" x")},
		{name: "empty answer", want: Unchecked, change: unlisted([]string{}...)},
		{name: "server failure", want: Retry, change: failing(&net.DNSError{IsTemporary: true})},
		{name: "timeout", want: Retry, change: failing(&net.DNSError{IsTimeout: true})},
		{name: "wrapped", want: Retry, change: failing(fmt.Errorf("ask: %w", &net.DNSError{IsTemporary: true}))},
		{name: "no DNS error", want: Retry, change: failing(context.DeadlineExceeded)},
		{name: "not found, wrapped", want: Unchecked, change: failing(fmt.Errorf("ask: %w", &net.DNSError{IsNotFound: true}))},
		{name: "no address", want: Unchecked, asked: []string{"page"}, change: func(_ *testing.T, s *scene) { s.claim.Address = "agent" }},
		{name: "domain of the question", want: Unchecked, asked: []string{"page", "TXT _agent-agreements.xn--bcher-kva.test"}, change: func(_ *testing.T, s *scene) {
			s.claim.Address = "agent@BÜCHER.test"
		}},
	})
}

func TestVerifyTimes(t *testing.T) {
	set := func(change func(*Key)) func(*testing.T, *scene) {
		return func(_ *testing.T, s *scene) { s.setKey(change) }
	}
	retired, revoked := []string{WarnRetired}, []string{WarnRevokedLater}
	runVerify(t, []verifyCase{
		{name: "created a second later", want: Unchecked, change: set(func(k *Key) { k.CreatedAt = iat + 1 })},
		{name: "created at iat", want: Signed, change: set(func(k *Key) { k.CreatedAt = iat })},
		{name: "revoked before", want: Invalid, reason: "key revoked", change: set(func(k *Key) { k.RevokedAt = iat - 1 })},
		{name: "revoked at iat", want: Invalid, reason: "key revoked", change: set(func(k *Key) { k.RevokedAt = iat })},
		{name: "revoked a second later", want: Signed, warnings: revoked, change: set(func(k *Key) { k.RevokedAt = iat + 1 })},
		{name: "revoked on arrival", want: Signed, warnings: revoked, change: set(func(k *Key) { k.RevokedAt = arrival })},
		{name: "revoked after arrival", want: Signed, change: set(func(k *Key) { k.RevokedAt = arrival + 1 })},
		{name: "retired before", want: Invalid, reason: "key retired", change: set(func(k *Key) { k.RetiredAt = iat - 1 })},
		{name: "retired at iat", want: Invalid, reason: "key retired", change: set(func(k *Key) { k.RetiredAt = iat })},
		{name: "P6 dated back before it was retired", want: Signed, warnings: retired, change: set(func(k *Key) { k.RetiredAt = iat + 1 })},
		{name: "retired on arrival", want: Signed, warnings: retired, change: set(func(k *Key) { k.RetiredAt = arrival })},
		{name: "retired after arrival", want: Signed, change: set(func(k *Key) { k.RetiredAt = arrival + 1 })},
		{name: "both later", want: Signed, warnings: []string{WarnRevokedLater, WarnRetired}, change: set(func(k *Key) {
			k.RetiredAt, k.RevokedAt = iat+1, iat+2
		})},
		{name: "arrival within the second", want: Signed, warnings: retired, change: func(_ *testing.T, s *scene) {
			s.claim.Arrival = time.Unix(arrival, 999)
			s.setKey(func(k *Key) { k.RetiredAt = arrival })
		}},
		{name: "other key revoked", want: Signed, change: func(_ *testing.T, s *scene) { s.page.Keys[1].RevokedAt = 1 }},
	})
}

func TestOutcomeString(t *testing.T) {
	for outcome, want := range map[Outcome]string{Signed: "signed", Unchecked: "unchecked", Invalid: "invalid", Retry: "retry"} {
		if got := outcome.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	var zero Outcome
	if zero != Invalid {
		t.Error("the zero outcome is not Invalid")
	}
}
