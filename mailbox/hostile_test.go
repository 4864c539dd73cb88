package mailbox_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// until writes a piece over and over, for a client that must stop it.
func until(c *fakeConn, piece string) {
	for c.say("%s", piece) {
	}
}

var kilobytes = strings.Repeat("x", 64<<10)

// body makes an act that answers for UID 2 with a FETCH of these bytes, and
// for other mails as it should.
func body(answer string) func(*fakeConn, string, string) {
	return func(c *fakeConn, tag, args string) {
		if !strings.HasPrefix(args, "2 ") {
			c.answer(tag, "BODY", args)
			return
		}
		c.say("* 1 FETCH (%s)\r\n%s OK done\r\n", answer, tag)
	}
}

// Each case is the baseline with one thing wrong.
func TestHostileServer(t *testing.T) {
	const (
		twice = "[fetching it failed twice: "
		none  = "[the server lists it but does not send it]"
		ok    = "first\r\n"
	)
	for name, c := range map[string]struct {
		step  string
		act   func(c *fakeConn, tag, args string)
		first string // how UID 2 comes out, or its begin; empty: nothing is delivered
		error string // in Health at the end
		taken int    // KiB at most for each connection
	}{
		"baseline":                    {first: ok},
		"I1 endless literal, stalled": {"BODY", body("UID 2 BODY[] {9223372036854775807}\r\nabc"), twice, "", 2},
		"I2 300 MB literal": {"BODY", func(c *fakeConn, tag, args string) {
			if strings.HasPrefix(args, "2 ") && c.say("* 1 FETCH (UID 2 BODY[] {314572800}\r\n") {
				until(c, kilobytes)
			}
			c.answer(tag, "BODY", args)
		}, twice, "", 66},
		"I2 literals without end": {"LIST", func(c *fakeConn, tag, args string) {
			until(c, "* 1 FETCH (UID 2 BODY[] {60000}\r\n"+kilobytes[:60000]+")\r\n")
		}, "", "too much: over 8388608 bytes", 8400},
		"I3 endless line":     {"EXAMINE", func(c *fakeConn, _, _ string) { until(c, "* OK "+kilobytes) }, "", "too much: a line", 130},
		"I3 endless greeting": {"GREETING", func(c *fakeConn, _, _ string) { until(c, "* OK "+kilobytes) }, "", "too much: a line", 130},
		"I3 endless lines":    {"EXAMINE", func(c *fakeConn, _, _ string) { until(c, "* OK "+kilobytes[:30000]+"\r\n") }, "", "too much: over", 1040},
		"I3 endless quoted body": {"BODY", func(c *fakeConn, tag, args string) {
			if strings.HasPrefix(args, "2 ") && c.say(`* 1 FETCH (UID 2 BODY[] "`) {
				until(c, kilobytes)
			}
			c.answer(tag, "BODY", args)
		}, twice, "", 130},
		"I4 literal beyond 64 bit": {"BODY", body("UID 2 BODY[] {99999999999999999999}\r\nabc"), twice, "", 2},
		"I4 negative literal":      {"BODY", body("UID 2 BODY[] {-5}\r\nabcde"), twice, "", 2},
		"I4 literal plus":          {"BODY", body("UID 2 BODY[] {5+}\r\nabcde"), twice, "", 2},
		"I4 literal8":              {"BODY", body("UID 2 BODY[] ~{5}\r\nabcde"), twice, "", 2},
		"I4 literal cut off": {"BODY", func(c *fakeConn, tag, args string) {
			if strings.HasPrefix(args, "2 ") {
				c.say("* 1 FETCH (UID 2 BODY[] {500}\r\nabc")
				c.Close()
			}
			c.answer(tag, "BODY", args)
		}, twice, "", 2},
		"I5 foreign UID":    {"BODY", body("UID 3 BODY[] {3}\r\nabc"), none, "", 2},
		"I5 no UID":         {"BODY", body("BODY[] {3}\r\nabc"), none, "", 2},
		"I5 UID after body": {"BODY", body("BODY[] {3}\r\nabc UID 2"), none, "", 2},
		"I5 UID 0":          {"BODY", body("UID 0 BODY[] {3}\r\nabc"), none, "", 2},
		"I5 two answers":    {"BODY", body("UID 2 BODY[] {7}\r\nfirst\r\n)\r\n* 1 FETCH (UID 2 BODY[] {3}\r\nabc"), ok, "", 2},
		"I5 two bodies":     {"BODY", body("UID 2 BODY[] {3}\r\nabc BODY[] {3}\r\ndef"), "[the server sent more than one body]", "", 2},
		"I5 NIL body":       {"BODY", body("UID 2 BODY[] NIL"), "[the server sent an empty body]", "", 2},
		"mail refused": {"BODY", func(c *fakeConn, tag, args string) {
			if strings.HasPrefix(args, "2 ") {
				c.say("%s NO no\r\n", tag)
				return
			}
			c.answer(tag, "BODY", args)
		}, twice + "fetching mail at 127.0.0.1:143: the server says: NO no", "", 2},
		"I6 size lies":      {"BODY", body("UID 2 BODY[] {104857600}\r\nabc"), twice, "", 2},
		"I7 no UIDVALIDITY": {"EXAMINE", func(c *fakeConn, tag, _ string) { c.say("%s OK\r\n", tag) }, "", "no UIDVALIDITY", 1},
		"I8 EXISTS made up": {"EXAMINE", func(c *fakeConn, tag, _ string) {
			c.say("* 4294967295 EXISTS\r\n* 0 EXISTS\r\n")
			c.answer(tag, "EXAMINE", "")
		}, ok, "", 2},
		"I9 SEARCH of ten million": {"EXAMINE", func(c *fakeConn, tag, _ string) {
			c.act["SEARCH"] = func(c *fakeConn, _, _ string) {
				c.say("* SEARCH")
				until(c, strings.Repeat(" 1234567", 10_000))
			}
			c.say("* OK [UIDVALIDITY 8] x\r\n* OK [UIDNEXT 4] x\r\n%s OK\r\n", tag)
		}, "", "too much: a line", 400},
		"I10 parentheses": {"LIST", func(c *fakeConn, tag, _ string) {
			c.say("* 1 FETCH (UID 2 BODYSTRUCTURE %s", strings.Repeat("(", 100_000))
		}, "", "too much", 100},
		"I10 parentheses, fewer": {"LIST", func(c *fakeConn, tag, _ string) {
			c.say("* 1 FETCH (UID 2 BODYSTRUCTURE %s\r\n", strings.Repeat("(", 2_000))
		}, "", "too much: over 256 lists", 5},
		"I11 no greeting": {"GREETING", func(c *fakeConn, _, _ string) { c.hang() }, "", "in time", 1},
		"I11 BYE":         {"GREETING", func(c *fakeConn, _, _ string) { c.say("* BYE busy\r\n") }, "", "BYE busy", 1},
		"I11 one byte a minute": {"GREETING", func(c *fakeConn, _, _ string) {
			for c.say("*") {
				time.Sleep(time.Minute) // of the bubble's clock
			}
		}, "", "awaiting the greeting", 1},
		"I11 no answer to login":   {"AUTHENTICATE", func(c *fakeConn, _, _ string) { c.hang() }, "", "logging in to 127.0.0.1:143: the server did not answer in time", 1},
		"I11 no answer to EXAMINE": {"EXAMINE", func(c *fakeConn, _, _ string) { c.hang() }, "", `opening folder "INBOX" at 127.0.0.1:143: the server`, 1},
		"I11 no answer to LIST":    {"LIST", func(c *fakeConn, _, _ string) { c.hang() }, "", "listing new mail", 1},
		"I11 no body": {"BODY", func(c *fakeConn, tag, args string) {
			if strings.HasPrefix(args, "2 ") {
				c.hang()
			}
			c.answer(tag, "BODY", args)
		}, twice, "", 1},
		"I11 body at a byte a minute": {"BODY", func(c *fakeConn, tag, args string) {
			for strings.HasPrefix(args, "2 ") && c.say("* 1 FETCH (UID 2 BODY[] {100}\r\n") {
				for c.say("x") {
					time.Sleep(time.Minute)
				}
			}
			c.answer(tag, "BODY", args)
		}, twice, "", 1},
		"I11 no answer to IDLE": {"IDLE", func(c *fakeConn, _, _ string) { c.hang() }, ok, "idling", 2},
		"I11 IDLE refused":      {"IDLE", func(c *fakeConn, tag, _ string) { c.say("%s NO never\r\n", tag) }, ok, "NO never", 2},
		"I11 flood in IDLE": {"IDLE", func(c *fakeConn, _, _ string) {
			c.say("+ idling\r\n")
			until(c, "* OK "+kilobytes[:30000]+"\r\n")
		}, ok, "too much", 1100},
		"unknown response in IDLE": {"IDLE", func(c *fakeConn, _, _ string) { c.say("+ idling\r\n* VANISHED 1\r\n") }, ok, "VANISHED", 2},
		"BYE in IDLE": {"IDLE", func(c *fakeConn, _, _ string) {
			c.say("+ idling\r\n* BYE\r\n")
			c.Close()
		}, ok, "idling", 2},
		"IDLE ended by the server": {"IDLE", func(c *fakeConn, tag, _ string) {
			c.say("+ idling\r\n")
			c.say("%s OK enough\r\n", tag)
		}, ok, "the server ended IDLE", 2},
		"I12 PREAUTH": {"GREETING", func(c *fakeConn, _, _ string) { c.say("* PREAUTH welcome\r\n"); c.hang() }, "", "PREAUTH", 1},
		"password login disabled": {"CAPABILITY", func(c *fakeConn, tag, _ string) {
			c.say("* CAPABILITY IMAP4rev1 LOGINDISABLED\r\n%s OK\r\n", tag)
		}, "", "LOGINDISABLED", 1},
		"login refused":          {"AUTHENTICATE", func(c *fakeConn, tag, _ string) { c.say("%s NO [AUTHENTICATIONFAILED] wrong\r\n", tag) }, "", "wrong", 1},
		"login echoed":           {"AUTHENTICATE", func(c *fakeConn, tag, args string) { c.say("%s NO bad %s (%s)\r\n", tag, args, password) }, "", "bad PLAIN [password] ([password])", 1},
		"I16 control characters": {"EXAMINE", func(c *fakeConn, tag, _ string) { c.say("%s NO [ALERT] \x1b[2J\x07\xff\u202e!\r\n", tag) }, "", `NO [ALERT] \x1b[2J\x07\xff\u{202e}!`, 1},
		"I16 long words":         {"EXAMINE", func(c *fakeConn, tag, _ string) { c.say("%s NO %s\r\n", tag, kilobytes[:9000]) }, "", "NO xxx", 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, l := newFake(), seenLedger()
				if c.act != nil {
					f.act[c.step] = c.act
				}
				w := f.watcher()
				f.run(t, w, l, 29*time.Minute)

				got := l.raws()
				switch {
				case c.first == "" && len(got) > 0, c.first != "" && (len(got) < 2 || !strings.HasPrefix(got[0], c.first)):
					t.Errorf("delivered %q", got)
				case c.first != "" && c.error == "" && got[1] != "second\r\n":
					t.Errorf("delivered %q", got)
				}
				h := w.Health()
				if !strings.Contains(h.LastError, c.error) || (h.LastError == "") != (c.error == "") {
					t.Errorf("error %q, want %q in it", h.LastError, c.error)
				}
				if len(h.LastError) > 200 || strings.Contains(h.LastError, password) {
					t.Errorf("error %q", h.LastError)
				}
				if limit := max(c.taken, 20) << 10; f.taken > limit*f.dials {
					t.Errorf("took %d bytes over %d connections", f.taken, f.dials)
				}
				if f.dials > 40 {
					t.Errorf("%d connections in 29 minutes", f.dials)
				}
			})
		})
	}
}

func TestCommandsChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, l := newFake(), seenLedger()
		f.run(t, f.watcher(), l, 6*time.Minute)
		want := []string{
			"AUTHENTICATE PLAIN AGJvYkBzZWxsZXIudGVzdABjb3JyZWN0IGhvcnNl",
			"EXAMINE INBOX", "LIST 2:* (UID RFC822.SIZE INTERNALDATE)", "BODY 2 (UID BODY.PEEK[])", "BODY 3 (UID BODY.PEEK[])",
			"IDLE", "DONE",
			"EXAMINE INBOX", "LIST 4:* (UID RFC822.SIZE INTERNALDATE)",
			"IDLE",
		}
		var got []string
		for _, c := range f.commands {
			if c != "CAPABILITY" { // the library asks when it likes, and lists items in any order
				got = append(got, strings.Replace(c, "INTERNALDATE RFC822.SIZE", "RFC822.SIZE INTERNALDATE", 1))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
