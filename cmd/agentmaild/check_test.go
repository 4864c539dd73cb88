package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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

// D132: a pipe among the mails would be waited for.
func TestReadThreadRegularFiles(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "1.eml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readThread(dir); err == nil || !errors.Is(err, errUsage) || !strings.Contains(err.Error(), "1.eml: it is no regular file") {
		t.Errorf("readThread: %v", err)
	}
}

// A record may come through a pipe, and waiting for it ends with the command.
func TestAwaitRecord(t *testing.T) {
	dir := t.TempDir()
	silent, pipe := filepath.Join(dir, "silent"), filepath.Join(dir, "pipe")
	if err := errors.Join(syscall.Mkfifo(silent, 0o600), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, report := awaitRecord(ctx, silent); report.Result != record.NotMade || report.Reason != "interrupted" {
		t.Errorf("without a writer: %+v", report)
	}
	go func() { _ = os.WriteFile(pipe, []byte("[]"), 0) }()
	if data, report := awaitRecord(t.Context(), pipe); string(data) != "[]" {
		t.Errorf("%q, %+v", data, report)
	}
	if err := os.WriteFile(silent, nil, 0); err != nil { // lets the reader end
		t.Fatal(err)
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
