package keypage

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/party"
)

// keep is for how long a page is shown before the folders are read again: so rarely, however often strangers ask.
const keep = 5 * time.Second

// pages are the key pages of one configuration, by the path of their address.
type pages struct {
	cfg     *config.Config
	now     func() time.Time
	trouble func(error)
	mu      sync.Mutex
	held    map[string]*held
}

type held struct {
	party string
	data  []byte
	built time.Time
}

// newPages makes every page once. What is wrong with one is an error now; when it goes wrong later, trouble is told and
// the page of before stays: a page that is gone says that nothing its party signed can be checked.
func newPages(cfg *config.Config, now func() time.Time, trouble func(error)) (*pages, error) {
	p := &pages{cfg: cfg, now: now, trouble: trouble, held: map[string]*held{}}
	for _, id := range parties(cfg) {
		data, err := Build(cfg, id)
		if err != nil {
			return nil, fmt.Errorf("key page of %s: %w", id, err)
		}
		p.held[strings.TrimPrefix(party.PageURL("", id), "https://")] = &held{party: id, data: data, built: now()}
	}
	return p, nil
}

// at returns the page at a path, compared as text; nil where there is none.
func (p *pages) at(path string) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.held[path]
	if h == nil {
		return nil
	}
	if age := p.now().Sub(h.built); age >= keep || age < 0 { // below 0 the clock was set back
		h.built = p.now()
		data, err := Build(p.cfg, h.party)
		if err != nil {
			p.trouble(err)
		} else {
			h.data = data
		}
	}
	return h.data
}
