package main

import (
	"crypto/ed25519"
	"fmt"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/jws"
)

// What differs, by the stage at which it does.

func onOffer(c ...change) difference      { return func(d *deal) { d.onOffer = all(c...) } }
func onAcceptance(c ...change) difference { return func(d *deal) { d.onReply = all(c...) } }

// edited gives the member at a path of the record another value before it is
// sealed.
func edited(path string, value any) difference {
	return edits(func(r map[string]any) { put(r, path, value) })
}

func edits(edit func(map[string]any)) difference { return func(d *deal) { d.edit = edit } }

// without takes the member at a path away before the record is sealed.
func lacking(path string) difference {
	return edits(func(r map[string]any) {
		parent, last := walk(r, path)
		if _, there := parent[last]; !there {
			panic(path + " is not there to be taken away")
		}
		delete(parent, last)
	})
}

func put(r map[string]any, path string, value any) {
	parent, last := walk(r, path)
	parent[last] = value
}

// party edits the party of a role, by its place in the baseline.
func ofParty(place int, member string, value any) difference {
	return edits(func(r map[string]any) {
		p := r["parties"].([]any)[place].(map[string]any)
		if value == nil {
			delete(p, member)
		} else {
			p[member] = value
		}
	})
}

// file changes the text of the file after the record was sealed.
func file(edit func(string) string) difference { return func(d *deal) { d.text = edit } }

// altered changes a member after the record was sealed.
func altered(path string, value any) difference {
	return func(d *deal) { d.after = func(r map[string]any) { put(r, path, value) } }
}

func sealedBy(who func(*deal) *side) difference {
	return func(d *deal) { d.sealer = who(d) }
}

func bySeller(d *deal) *side { return d.seller() }
func byBuyer(d *deal) *side  { return d.buyer() }
func byThird(d *deal) *side  { return d.suite.world.third }

// together makes one difference of several.
func together(differences ...difference) difference {
	return func(d *deal) {
		for _, x := range differences {
			x(d)
		}
	}
}

func claims(kind string) difference { return func(d *deal) { d.claim = kind } }

// sealToken is the token of a seal, with the header in the order the daemon writes.
func sealToken(key ed25519.PrivateKey, jku string, payload []byte, edit func(*token)) string {
	t := &token{payload: payload, signature: func(key ed25519.PrivateKey, input string) []byte { return ed25519.Sign(key, []byte(input)) }}
	t.header = fmt.Sprintf(`{"alg":"EdDSA","kid":"%s","jku":"%s","typ":"%s"}`, kidOf(key), jku, jws.TypRecord)
	edit(t)
	input := encode([]byte(t.header)) + "." + encode(t.payload)
	text := input + "." + encode(t.signature(key, input))
	if t.whole != nil {
		text = t.whole(text)
	}
	return text
}

// sealWith makes the seal by hand.
func sealWith(edit func(*token)) difference {
	return func(d *deal) {
		d.seal = func(payload []byte) string { return sealToken(d.sealer.key, d.sealer.page(), payload, edit) }
	}
}

// sealBy seals with another key, of the page at another address.
func sealBy(key ed25519.PrivateKey, jku string) difference {
	return func(d *deal) {
		d.seal = func(payload []byte) string { return sealToken(key, jku, payload, func(*token) {}) }
	}
}

// detached takes the payload out of a token.
func detached(token string) string {
	parts := strings.Split(token, ".")
	return parts[0] + ".." + parts[2]
}

// atPage signs by a party with a page of its own.
func atPage(edit func(page)) change {
	return func(l *letter) { l.onPage(pageCase{name: l.label, edit: edit}) }
}

// pageText changes the text of the page.
func pageText(edit func(string) string) change {
	return func(l *letter) { l.onPage(pageCase{name: l.label, text: edit}) }
}

// answering signs by a party whose page answers something else.
func answering(k keyPage) change {
	return func(l *letter) {
		l.onPage(pageCase{name: l.label})
		delete(l.story.suite.files, l.story.suite.KeyPages[l.jku].File)
		l.story.suite.KeyPages[l.jku] = k
	}
}

// elsewhere names another address of the key page.
func elsewhere(edit func(string) string) change {
	return func(l *letter) { l.jku = edit(l.jku) }
}
