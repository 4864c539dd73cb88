package injection

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/agentmaild/agentmaild/envelope/inert/inerttest"
)

// twin is a text that tries nothing.
const twin = "Plain words " + canary

// TestInjection writes each text at its place and looks at it through each
// channel. What a channel shows outside the text's own place must be, byte for
// byte, what it shows where the twin stands there.
func TestInjection(t *testing.T) {
	list := corpus(t)
	var shown sync.Map                            // the places looked at, and the channels that show the twin of one
	twins := map[string]func() map[string]sight{} // by place: what each channel shows
	for name := range places {
		twins[name] = sync.OnceValue(func() map[string]sight { return plain(t, name, &shown) })
	}
	t.Run("text", func(t *testing.T) { // ends when all below it have
		for _, h := range list {
			t.Run(h.ID, func(t *testing.T) {
				t.Parallel()
				w, stopped := put(t, h.Place, h.Text)
				if (stopped != nil) != h.Stopped {
					t.Fatalf("stopped: %v", stopped)
				}
				if h.Stopped {
					return
				}
				want := twins[h.Place]()
				for name, s := range w.seen() {
					if s.rest != want[name].rest {
						t.Errorf("%s: it leaves its place:\n%s", name, difference(s.rest, want[name].rest))
					}
				}
			})
		}
	})
	for name := range places {
		if _, ok := shown.Load(name); !ok {
			return // only some were asked for
		}
	}
	for _, c := range channels {
		if _, ok := shown.Load(c.name); !ok {
			t.Errorf("%s shows no twin at all: nothing was looked at", c.name)
		}
	}
}

// plain is what each channel shows with the twin at a place.
func plain(t *testing.T, place string, shown *sync.Map) map[string]sight {
	w, stopped := put(t, place, twin)
	if stopped != nil {
		t.Fatalf("%s: the twin is stopped: %v", place, stopped)
	}
	shown.Store(place, true)
	all, somewhere := w.seen(), false
	for name, s := range all {
		if strings.Contains(s.rest, canary) {
			t.Errorf("%s: %s shows the twin outside its place: %s", place, name, around(s.rest, canary))
		}
		if s.whole {
			shown.Store(name, true)
			somewhere = true
		}
	}
	if !somewhere {
		t.Errorf("%s: no channel shows the twin", place)
	}
	return all
}

// sight is what a channel shows, with the text in its place taken out, and
// whether the text was there.
type sight struct {
	rest  string
	whole bool
}

// seen is what each channel shows.
func (w *world) seen() map[string]sight {
	w.Helper()
	shown := map[string]sight{}
	for _, c := range channels {
		text := c.show(w)
		if where := active(text, c.markup); where != "" {
			w.Errorf("%s: it acts: %s", c.name, where)
		}
		shown[c.name] = sight{c.rest(w, text), strings.Contains(text, canary)}
	}
	return shown
}

// theirs stands where a text was taken out.
const theirs = "⟨theirs⟩"

// changing is what differs between two texts whatever is done: hashes and
// signatures over them.
var changing = regexp.MustCompile(`127\.0\.0\.1:[0-9]+|[0-9a-f]{64}|eyJ[A-Za-z0-9_.-]{100,}|"sig":"[^"]*"|[A-Za-z0-9+/_-]{43,86}={0,2}`)

// active finds the character that a terminal, or a reader of lines, would obey.
// Where the channel has markup of its own, as HTML, bidi controls are a matter of
// that.
func active(text string, markup bool) string {
	for line := range strings.SplitSeq(text, "\n") {
		for _, c := range line {
			if unicode.IsControl(c) && c != '\t' && (c != '\r' || !markup) || c == '\u2028' || c == '\u2029' {
				return fmt.Sprintf("%U in %+q", c, line)
			}
		}
		if fault := inerttest.Unbalanced(line); fault != "" && !markup {
			return fmt.Sprintf("%+q %s", line, fault)
		}
	}
	return ""
}

// difference is the first line in which two texts differ.
func difference(got, want string) string {
	gots, wants := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gots), len(wants)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(gots) {
			g = gots[i]
		}
		if i < len(wants) {
			w = wants[i]
		}
		if g != w {
			return fmt.Sprintf("line %d: %+q\nwith the twin: %+q", i, near(g, w), near(w, g))
		}
	}
	return "nothing"
}

// near is a line about where it begins to differ.
func near(line, other string) string {
	i := 0
	for i < len(line) && i < len(other) && line[i] == other[i] {
		i++
	}
	return line[max(i-150, 0):min(i+250, len(line))]
}

func around(text, word string) string {
	i := strings.Index(text, word)
	return fmt.Sprintf("%+q", text[max(i-300, 0):min(i+100, len(text))])
}
