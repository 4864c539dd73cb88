package demo

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
)

// Receipt is the record that one side keeps of the deal, with what its check
// found.
type Receipt struct {
	Of     string        `json:"of"` // buyer or seller
	ID     string        `json:"id"`
	File   string        `json:"file,omitempty"` // only where it was left
	Result record.Result `json:"result"`
	Second record.Result `json:"second_checker,omitempty"` // what check-js found; "" where it was not run
}

// The folders of records and of key pages.
const (
	recordsDir = "records"
	keysDir    = "keys"
)

// receipts writes the record of each side and the key pages that were
// published, and has the records checked as anybody can who has these files.
func (p *play) receipts(accept string) error {
	p.say("\n── The receipt ──")
	if err := p.writePages(); err != nil {
		return fmt.Errorf("writing the key pages: %w", err)
	}
	for _, s := range []*side{p.buyer, p.seller} {
		if err := p.receipt(s, accept); err != nil {
			return fmt.Errorf("the %s's record: %w", s.name, err)
		}
	}
	if err := p.writeSecond(); err != nil {
		return err
	}
	return p.checkAgain()
}

// writePages writes the key pages, each under the name of its party.
func (p *play) writePages() error {
	for _, dir := range []string{recordsDir, keysDir} {
		if err := os.Mkdir(filepath.Join(p.dir, dir), 0o700); err != nil {
			return err
		}
	}
	for url, page := range p.pages {
		if err := os.WriteFile(filepath.Join(p.dir, keysDir, path.Base(url)), page, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// receipt writes the record of a side, and checks it.
func (p *play) receipt(s *side, accept string) error {
	kept, data, err := s.inbox().RecordFile(accept, true)
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, recordsDir, s.name+".json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(p.dir, keysDir))
	if err != nil {
		return err
	}
	defer root.Close()
	report := record.Check(p.ctx, data, record.KeySource{
		Trust: party.Trust{Hosts: []string{keyHost}}, Pages: record.Folder{Root: root}, TXT: record.Vouches{},
	})
	if report.Result != record.TwoSigned {
		return fmt.Errorf("its check says %s: %s", report.Result, report.Reason)
	}
	p.say("The %s's record %.8s… checks out, two signatures.", s.name, kept.ID)
	p.result.Receipts = append(p.result.Receipts, Receipt{Of: s.name, ID: kept.ID, File: file, Result: report.Result})
	return nil
}
