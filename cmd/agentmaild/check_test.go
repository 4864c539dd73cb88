package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentmaild/agentmaild/conformance"
	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/record"
)

// TestReadThread checks the record that came with an accept against the mails
// of its thread.
func TestReadThread(t *testing.T) {
	suite, err := conformance.Load("../../conformance/intents/records")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var data []byte
	for _, name := range []string{"record-right-1.eml", "record-right-2.eml"} {
		raw, err := os.ReadFile(filepath.Join(suite.Dir, "mail", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		mail, err := envelope.Read(raw)
		if err != nil {
			t.Fatal(err)
		}
		for part := range mail.Leaves("application/json") {
			if data, err = part.Decode(record.MaxSize); err != nil {
				t.Fatal(err)
			}
		}
	}
	thread, err := readThread(dir)
	if err != nil || len(thread) != 2 {
		t.Fatalf("%d messages, %v", len(thread), err)
	}
	keys := record.KeySource{Trust: party.Trust{Hosts: suite.TrustedHosts}, Pages: suite, TXT: record.Vouches{}}
	report := record.CheckThread(t.Context(), data, keys, thread)
	mails := slices.IndexFunc(report.Steps, func(s record.Step) bool { return s.Name == "mails" })
	if report.Result != record.TwoSigned || report.Steps[mails].Result != record.Pass {
		t.Errorf("%s: %s, mails %s", report.Result, report.Reason, report.Steps[mails].Result)
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"Ceramic mug, 350 ml – “white”": "Ceramic mug, 350 ml – “white”",
		"a\x1b[2Jb":                     `a\x1b[2Jb`,
		"total\u202e001":                `total\u202e001`,
		"one\u2028two\nthree":           `one\u2028two\nthree`,
	} {
		if got := printable(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	long := printable(string(make([]rune, 2*maxShown)))
	if len(long) > 4*maxShown+len("…") {
		t.Errorf("%d bytes are shown", len(long))
	}
}
