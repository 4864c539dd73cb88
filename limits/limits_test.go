package limits

import (
	"math"
	"regexp"
	"testing"
	"time"
)

// A version is short, depends on every limit and on the salt, and on nothing
// else.
func TestVersion(t *testing.T) {
	version := func(change func(*Limits), salt string) string {
		t.Helper()
		l := valid().Limits
		change(&l)
		v, err := l.Version([]byte(salt))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	seen := map[string]string{}
	for name, change := range map[string]func(*Limits){
		"none":      func(*Limits) {},
		"auto":      func(l *Limits) { l.Auto = None },
		"zone":      func(l *Limits) { l.Zone = time.UTC },
		"unsigned":  func(l *Limits) { l.AllowUnsigned = true },
		"allow":     func(l *Limits) { l.Allow = []string{Known} },
		"block":     func(l *Limits) { l.Block = []string{Known} },
		"deal":      func(l *Limits) { l.Money = map[string]Amounts{"EUR": {Deal: 50001}} },
		"currency":  func(l *Limits) { l.Money["USD"] = Amounts{} },
		"discount":  func(l *Limits) { l.Quote = &Quote{MostDiscount: 11} },
		"no quote":  func(l *Limits) { l.Quote = nil },
		"no times":  func(l *Limits) { l.Times = nil },
		"open":      func(l *Limits) { l.OpenOffers++ },
		"messages":  func(l *Limits) { l.HourlyMessages++ },
		"no limits": func(l *Limits) { *l = Limits{} },
	} {
		v := version(change, "salt")
		if other, taken := seen[v]; taken {
			t.Errorf("%s has the version of %s", name, other)
		}
		if seen[v] = name; !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(v) {
			t.Errorf("version %q", v)
		}
	}
	none := func(*Limits) {}
	if seen[version(none, "salt")] != "none" || seen[version(none, "other")] != "" {
		t.Error("the version depends on something else, or not on the salt")
	}
}

func TestBuckets(t *testing.T) {
	l := Limits{Zone: berlin}
	for at, want := range map[string][2]string{
		"2026-10-31T22:59:59Z": {"2026-10-31/EUR/" + them, "2026-10/EUR"},
		"2026-10-31T23:00:00Z": {"2026-11-01/EUR/" + them, "2026-11/EUR"},
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if day, month := l.Buckets(them, "EUR", when); day != want[0] || month != want[1] {
			t.Errorf("%s: %s, %s", at, day, month)
		}
	}
}

func TestAdd(t *testing.T) {
	for _, c := range []struct {
		amounts []int64
		want    int64
	}{
		{nil, 0},
		{[]int64{1, 2, 3}, 6},
		{[]int64{math.MaxInt64 - 1, 1}, math.MaxInt64},
		{[]int64{math.MaxInt64, 1}, math.MaxInt64},
		{[]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}, math.MaxInt64},
		{[]int64{5, -10, math.MinInt64}, 5},
	} {
		if got := Add(c.amounts...); got != c.want {
			t.Errorf("Add(%v) = %d", c.amounts, got)
		}
	}
}
