package party

import (
	"strings"
	"testing"
)

// Each case changes one thing on one of two pages that are the same.
func TestDifferences(t *testing.T) {
	page := func() *Page {
		a, b := testKey(1), testKey(2)
		a.RetiredAt, a.RevokedAt = created+10, created+20
		return &Page{
			Party: buyer, OrgName: "Buyer Ltd", Addresses: []string{"agent@buyer.test"}, Domains: []string{"buyer.test"},
			Keys: []Key{published(a), published(b)},
		}
	}
	if d := Differences(page(), page()); d != nil {
		t.Errorf("a page and itself: %v", d)
	}
	for name, tc := range map[string]struct {
		published, own func(*Page)
		want           string
		lost           bool
	}{
		"name":           {func(p *Page) { p.OrgName = "x\n" }, nil, `org_name is "x\n" on the page`, false},
		"address gone":   {func(p *Page) { p.Addresses = nil }, nil, "the address agent@buyer.test is not on the page", false},
		"address more":   {nil, func(p *Page) { p.Addresses = nil }, `the page lists the address "agent@buyer.test"`, false},
		"domain gone":    {func(p *Page) { p.Domains = nil }, nil, "the domain buyer.test is not on the page", false},
		"domain more":    {func(p *Page) { p.Domains = append(p.Domains, "evil.test") }, nil, `the page lists the domain "evil.test"`, false},
		"key gone":       {func(p *Page) { p.Keys = p.Keys[:1] }, nil, "it is not on the page", false},
		"key more":       {nil, func(p *Page) { p.Keys = p.Keys[:1] }, "it is on the page and not here", true},
		"created":        {func(p *Page) { p.Keys[1].CreatedAt++ }, nil, "it was created at 2023-11-14 22:13:21Z by the page", false},
		"not retired":    {func(p *Page) { p.Keys[0].RetiredAt = 0 }, nil, "it was retired at 2023-11-14 22:13:30Z, and the page does not say so", false},
		"retired":        {nil, func(p *Page) { p.Keys[0].RetiredAt = 0 }, "it was retired at 2023-11-14 22:13:30Z by the page, and is not here", true},
		"retired before": {func(p *Page) { p.Keys[0].RetiredAt-- }, nil, "it was retired at 2023-11-14 22:13:29Z by the page, and at", true},
		"not revoked":    {func(p *Page) { p.Keys[0].RevokedAt = 0 }, nil, "the page does not say so", false},
		"revoked":        {nil, func(p *Page) { p.Keys[0].RevokedAt = 0 }, "and is not here", true},
		"revoked later":  {func(p *Page) { p.Keys[0].RevokedAt++ }, nil, "it was revoked at 2023-11-14 22:13:41Z by the page, and at", false},
	} {
		t.Run(name, func(t *testing.T) {
			published, own := page(), page()
			if tc.published != nil {
				tc.published(published)
			}
			if tc.own != nil {
				tc.own(own)
			}
			d := Differences(published, own)
			if len(d) != 1 || !strings.Contains(d[0].Text, tc.want) || d[0].Lost != tc.lost {
				t.Errorf("%+v", d)
			}
		})
	}
}
