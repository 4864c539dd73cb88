package demo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	checkjs "github.com/agentmaild/agentmaild/check-js"
	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/record"
)

// TestRun plays the demo to its end and reads the mails that it leaves.
func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	var out bytes.Buffer
	result, err := Run(t.Context(), dir, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if len(result.Mails) != 13 || result.Folder != dir || result.Buyer.Record != record.TwoSignatures || result.Seller.Record != record.TwoSignatures {
		t.Errorf("%+v", result)
	}
	for i, m := range result.Mails {
		want, signature := inbox.Accepted, inbox.Signed
		if i >= 4 {
			signature = ""
		}
		if i == 11 { // the stranger's, before it is admitted
			want = inbox.Held
		}
		if m.Event.Verdict != want || m.Event.Signature != signature || m.Event.Exchange == nil != (i < 4) || m.Text == "" || !strings.Contains(out.String(), m.Text) {
			t.Errorf("mail %d: %+v", i+1, m)
		}
	}
	if result.Task.State != agentmsg.StatusCompleted || !strings.Contains(out.String(), "The buyer has letter-de.txt:\n  Guten Morgen.") {
		t.Errorf("the task is %+v", result.Task)
	}
	ending := "\nMails, records, key pages, stores, logs and configurations are in " + dir + ". "
	if strings.Count(out.String(), "record "+result.Receipts[0].ID[:8]+"… checks out, two signatures.\n") != 1 || !strings.Contains(out.String(), ending) {
		t.Errorf("it ends in another way:\n%s", out.String())
	}
	checkReceipts(t, dir, result.Receipts)
	for _, name := range []string{"1-ask_quote.eml", "2-quote.eml", "3-quote.eml", "4-accept.eml", "5-request-translate.eml", "7-input_required.eml", "9-completed.eml", "10-request-knock.eml", "13-respond.eml"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := envelope.Read(raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(t.Context(), dir, &out); !errors.Is(err, ErrFolder) || !strings.HasSuffix(err.Error(), "is not empty: name a new folder") {
		t.Errorf("into the same folder: %v", err)
	}
}

// TestStopped ends the demo early, and in order.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(ctx, "", &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
}

// checkReceipts has both records be there, and both checkers have seen them.
func checkReceipts(t *testing.T, dir string, receipts []Receipt) {
	t.Helper()
	if len(receipts) != 2 || receipts[0].Of != "buyer" || receipts[1].Of != "seller" {
		t.Fatalf("receipts: %+v", receipts)
	}
	second := record.TwoSigned
	if _, err := checkjs.Node(t.Context()); err != nil {
		t.Log("the second checker is not looked at: ", err)
		second = ""
	}
	for _, r := range receipts {
		if r.Result != record.TwoSigned || r.Second != second || r.File != filepath.Join(dir, "records", r.Of+".json") {
			t.Errorf("%+v", r)
		}
		data, err := os.ReadFile(r.File)
		if err != nil {
			t.Fatal(err)
		}
		if held, err := record.Parse(data); err != nil || held.ID != r.ID {
			t.Errorf("%s is not record %s: %v", r.File, r.ID, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "keys", "pty_"+r.Of+strings.Repeat("0", 20-len(r.Of))+".json")); err != nil {
			t.Error(err)
		}
	}
}

// TestSecondChecker tells a checker that contradicts from one that does not
// run; and it is the program's own, not one that lies in the working directory.
func TestSecondChecker(t *testing.T) {
	const (
		modern    = "#!/bin/sh\n[ $1 = --version ] && echo v20.1.0 && exit\n"
		checksOut = `{"result":"two_signatures"}`
	)
	for name, c := range map[string]struct{ node, says, err string }{
		"agrees":       {modern + "[ $1 = $PWD/demo/check-js/cli.js ] && echo '" + checksOut + "'", "says of the buyer's: checks out, two signatures.", ""},
		"contradicts":  {modern + "echo '{\"result\":\"does_not_check_out\",\"reason\":\"late\"}'; exit 1", "", "the second checker says of the buyer's record does_not_check_out: late"},
		"no node":      {"", "was not run: node is not on this machine.", ""},
		"old node":     {"#!/bin/sh\necho v18.19.1", `was not run: node here is "v18.19.1", and version 20 or later is needed.`, ""},
		"another node": {"#!/bin/sh\necho ham radio", `was not run: node here is "ham radio", and`, ""},
		"broken node":  {"#!/bin/sh\nexit 3", "was not run: node --version failed: exit status 3.", ""},
		"fails":        {modern + "exit 9", "was not run: it failed: exit status 9.", ""},
		"no report":    {modern + "echo fine", "was not run: reading what it says: ", ""},
		"nothing":      {modern + ":", "was not run: reading what it says: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			t.Setenv("PATH", filepath.Join(dir, "bin"))
			files := map[string]string{"check-js/cli.js": "a stranger's"}
			if c.node != "" {
				files["bin/node"] = c.node
			}
			for file, text := range files {
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text+"\n"), 0o700)); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			p := &play{ctx: t.Context(), out: &out, dir: filepath.Join(dir, "demo"), result: Result{Receipts: []Receipt{{Of: "buyer", Result: record.TwoSigned}}}}
			err := errors.Join(p.writeSecond(), p.checkAgain())
			if (err != nil || c.err != "") && (err == nil || err.Error() != c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
			if !strings.Contains(out.String(), c.says) {
				t.Errorf("it says %q", out.String())
			}
		})
	}
}
