package inbox

import (
	"testing"
	"time"
)

// TestPendingOrder asks about what was not asked about yet before what failed,
// and about that in turn: each try may take as long as the time limit, and many
// that are due again by then would hold up the rest for ever.
func TestPendingOrder(t *testing.T) {
	s := newScene(t, func(set *Settings) { set.Handled = true })
	arrives := func() {
		_, raw := s.do(s.buyer, askAction())
		s.expect(s.seller, raw, "accepted signed")
	}
	fails := func() string {
		seq := s.pending(s.seller).Seq
		check(t, s.seller.HandlerFailed(seq, "no answer"))
		return seq
	}
	arrives()
	arrives()
	first, second := fails(), fails()
	s.now = s.now.Add(2 * maxHandlerWait)
	if seq := fails(); seq != first {
		t.Errorf("of two that failed, at the same time, %s is asked about before %s", seq, first)
	}
	arrives()
	arrives()
	third, fourth := fails(), fails()
	if third <= second || fourth <= third {
		t.Errorf("asked about %s and %s, before what came last", third, fourth)
	}
	s.now = s.now.Add(2 * time.Minute)
	for _, want := range []string{second, third, fourth, first} {
		if seq := fails(); seq != want {
			t.Errorf("asked about %s, and %s is due before", seq, want)
		}
	}
}
