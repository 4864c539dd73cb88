package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
)

// Finding is what must come of checking a record; a member not given is not compared.
type Finding struct {
	Result   *record.Result `json:"result"`
	Code     *record.Code   `json:"code"`
	Warnings *[]string      `json:"warnings"`
}

var results = []record.Result{record.TwoSigned, record.OneSigned, record.ReplyRecorded, record.DoesNotCheckOut, record.NotMade}

var recordCodes = []record.Code{
	"", record.CodeSize, record.CodeJSON, record.CodeProfile, record.CodeSchema, record.CodeSignature, record.CodeCanonical,
	record.CodeHash, record.CodeChain, record.CodeBinding, record.CodeTerms, record.CodeReplaced, record.CodeLate, record.CodeTrust,
	record.CodeKid, record.CodeRevoked, record.CodeRetired, record.CodeSeal, record.CodeKind,
}

// checkRecord looks at a case of such a suite.
func (c *Case) checkRecord() error {
	switch {
	case c.Record == "":
		return errors.New("needs a record")
	case len(c.Steps) > 0 || c.Final.Offers != nil || c.Final.Records != nil:
		return errors.New("steps and final belong to agent-intents/1")
	case c.Expect == nil || c.Expect.Result == nil:
		return errors.New("needs the result that is expected")
	case !slices.Contains(results, *c.Expect.Result):
		return fmt.Errorf("%q is no result", *c.Expect.Result)
	case c.Expect.Code != nil && !slices.Contains(recordCodes, *c.Expect.Code):
		return fmt.Errorf("%q is no code", *c.Expect.Code)
	}
	return nil
}

// runRecord checks the record of a case.
func (s *Suite) runRecord(ctx context.Context, c *Case) (*difference, error) {
	data, err := s.read(c.Record)
	if err != nil {
		return nil, err
	}
	keys := record.KeySource{Trust: party.Trust{Hosts: s.TrustedHosts}, Pages: s, TXT: s.names()}
	report := record.Check(ctx, data, keys)
	d := c.Expect.compare(report)
	if d != nil && report.Reason != "" {
		d.got += " (" + report.Reason + ")"
	}
	return d, nil
}

// compare returns the first member that differs.
func (f *Finding) compare(r record.Report) *difference {
	if *f.Result != r.Result {
		return &difference{"result", string(*f.Result), fmt.Sprintf("%s %s", r.Result, r.Code)}
	}
	if f.Code != nil && *f.Code != r.Code {
		return &difference{"code", string(*f.Code), string(r.Code)}
	}
	if f.Warnings == nil {
		return nil
	}
	want, got := slices.Sorted(slices.Values(*f.Warnings)), slices.Sorted(slices.Values(r.Warnings))
	if !slices.Equal(want, got) {
		return &difference{"warnings", fmt.Sprint(want), fmt.Sprint(got)}
	}
	return nil
}
