package mailbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentmaild/agentmaild/mailbox"
)

// in runs a test in a bubble whose clock costs no time.
func in(t *testing.T, test func(t *testing.T, f *fakeIMAP, l *ledger)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newFake(), seenLedger()) })
}

// Positions that the folder no longer fits: what is delivered, and where the
// position ends.
func TestStart(t *testing.T) {
	day := 24 * time.Hour
	old := fakeMail{1, "old\r\n", seen.Add(-9 * day)}
	for name, c := range map[string]struct {
		change func(f *fakeIMAP, l *ledger)
		want   []string
		end    mailbox.Position
		search string
	}{
		"as it was": {
			func(*fakeIMAP, *ledger) {},
			[]string{"first\r\n", "second\r\n"},
			mailbox.Position{UIDValidity: 7, UID: 3, Seen: seen},
			"",
		},
		"first start": {
			func(_ *fakeIMAP, l *ledger) { l.position = mailbox.Position{} },
			nil,
			mailbox.Position{UIDValidity: 7, UID: 3, Seen: seen.Add(time.Hour)},
			"",
		},
		"nothing new": { // n:* gives the last mail all the same
			func(_ *fakeIMAP, l *ledger) { l.position.UID = 3 },
			nil,
			mailbox.Position{UIDValidity: 7, UID: 3, Seen: seen},
			"",
		},
		"last UID there is": {
			func(f *fakeIMAP, l *ledger) { l.position.UID, f.uidNext = math.MaxUint32, 0 },
			nil,
			mailbox.Position{UIDValidity: 7, UID: math.MaxUint32, Seen: seen},
			"",
		},
		"UIDVALIDITY changed": {
			func(f *fakeIMAP, l *ledger) { l.position.UIDValidity = 6; l.position.UID = 900 },
			[]string{"first\r\n", "second\r\n"},
			mailbox.Position{UIDValidity: 7, UID: 3, Seen: seen},
			`SEARCH SINCE "2-Mar-2026"`,
		},
		"UIDVALIDITY changed, nothing recent": {
			func(f *fakeIMAP, l *ledger) { l.position.UIDValidity = 6; f.mails = nil },
			nil,
			mailbox.Position{UIDValidity: 7, UID: 3, Seen: seen},
			`SEARCH SINCE "2-Mar-2026"`,
		},
		"UIDVALIDITY changed, nothing seen before": {
			func(f *fakeIMAP, l *ledger) { l.position = mailbox.Position{UIDValidity: 6, UID: 900} },
			[]string{"first\r\n", "second\r\n"},
			mailbox.Position{UIDValidity: 7, UID: 3, Seen: seen},
			`SEARCH SINCE "1-Jan-1970"`,
		},
		"UIDNEXT fell": { // the folder was restored from an older copy
			func(f *fakeIMAP, l *ledger) { l.position.UID = 900 },
			[]string{"first\r\n", "second\r\n"},
			mailbox.Position{UIDValidity: 7, UID: 3, Seen: seen},
			`SEARCH SINCE "2-Mar-2026"`,
		},
		"date ahead": { // it must not move Seen to where no rescan finds anything
			func(f *fakeIMAP, l *ledger) { f.mails[0].arrival = seen.Add(9000 * day) },
			[]string{"first\r\n", "second\r\n"},
			mailbox.Position{UIDValidity: 7, UID: 3, Seen: seen.Add(time.Hour)},
			"",
		},
		"listed in disorder": {
			func(f *fakeIMAP, l *ledger) { slices.Reverse(f.mails); f.mails = append(f.mails, old) },
			[]string{"first\r\n", "second\r\n"},
			mailbox.Position{UIDValidity: 7, UID: 3, Seen: seen},
			"",
		},
		"no IDLE": {
			func(f *fakeIMAP, l *ledger) { f.caps = "IMAP4rev1" }, // nor AUTH=PLAIN
			[]string{"first\r\n", "second\r\n"}, mailbox.Position{UIDValidity: 7, UID: 3, Seen: seen}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
				c.change(f, l)
				w := f.watcher()
				f.run(t, w, l, 10*time.Minute)
				if diff := cmp.Diff(c.want, l.raws()); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(c.end, l.position); diff != "" {
					t.Error(diff)
				}
				if f.said("SEARCH") > 1 || c.search != "" && f.said(c.search) != 1 {
					t.Errorf("said %q", f.commands)
				}
				if h := w.Health(); h.LastError != "" || h.Retries != 0 || f.dials != 1 {
					t.Errorf("%d connections, health %+v", f.dials, h)
				}
			})
		})
	}
}

// A server that makes UIDNEXT up is believed once (I8).
func TestUIDNextTooLow(t *testing.T) {
	in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
		f.uidNext = 1
		f.run(t, f.watcher(), l, time.Hour)
		if got := l.raws(); len(got) != 2 || f.said("SEARCH") != 1 {
			t.Errorf("delivered %q after %d searches", got, f.said("SEARCH"))
		}
	})
}

// UIDVALIDITY 1, 2, 1 with other mail under old numbers (I7).
func TestUIDValidityFlaps(t *testing.T) {
	in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
		look := 0
		f.act["EXAMINE"] = func(c *fakeConn, tag, args string) {
			look++
			f.uidValidity = 7 + uint32(look%2)
			f.mails = []fakeMail{{2, fmt.Sprintf("look %d\r\n", look), seen}}
			c.answer(tag, "EXAMINE", args)
		}
		f.run(t, f.watcher(), l, 11*time.Minute)
		if diff := cmp.Diff([]string{"look 1\r\n", "look 2\r\n", "look 3\r\n"}, l.raws()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMailWhileWatching(t *testing.T) {
	third := fakeMail{4, "third\r\n", seen}
	for name, prepare := range map[string]func(f *fakeIMAP){
		"told in IDLE": func(f *fakeIMAP) {
			f.act["IDLE"] = func(c *fakeConn, tag, args string) {
				f.mails = append(f.mails[:2], third)
				c.answer(tag, "IDLE", args)
				c.say("* 3 EXISTS\r\n")
				delete(f.act, "IDLE")
			}
		},
		"told with the continuation": func(f *fakeIMAP) {
			f.act["IDLE"] = func(c *fakeConn, tag, args string) {
				f.mails = append(f.mails[:2], third)
				c.say("* 3 EXISTS\r\n")
				c.answer(tag, "IDLE", args)
				delete(f.act, "IDLE")
			}
		},
		"told at the end of the look": func(f *fakeIMAP) {
			f.act["BODY"] = func(c *fakeConn, tag, args string) {
				if len(f.mails) == 2 {
					f.mails = append(f.mails, third)
					c.say("* 3 EXISTS\r\n")
				}
				c.answer(tag, "BODY", args)
			}
		},
		"never told": func(f *fakeIMAP) {
			f.act["IDLE"] = func(c *fakeConn, tag, args string) {
				f.mails = append(f.mails[:2], third)
				c.answer(tag, "IDLE", args)
			}
		},
		"IDLE ended instead": func(f *fakeIMAP) {
			f.act["IDLE"] = func(c *fakeConn, tag, args string) {
				f.mails = append(f.mails[:2], third)
				c.say("+ idling\r\n")
				c.say("%s OK enough\r\n", tag)
			}
		},
		"connection silent": func(f *fakeIMAP) {
			f.act["IDLE"] = func(c *fakeConn, tag, args string) {
				f.mails = append(f.mails[:2], third)
				c.say("+ idling\r\n")
				c.hang()
			}
		},
		"polled": func(f *fakeIMAP) {
			f.caps = "AUTH=PLAIN"
			f.act["LIST"] = func(c *fakeConn, tag, args string) {
				c.answer(tag, "LIST", args)
				f.mails = append(f.mails[:2], third)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
				f.uidNext = 5
				prepare(f)
				w := f.watcher()
				f.run(t, w, l, 7*time.Minute)
				if diff := cmp.Diff([]string{"first\r\n", "second\r\n", "third\r\n"}, l.raws()); diff != "" {
					t.Error(diff)
				}
				if polling := w.Health().Polling; polling != (name == "polled") {
					t.Errorf("polling: %t", polling)
				}
			})
		})
	}
}

func TestDeliverFails(t *testing.T) {
	in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
		l.refuse = func(call int) error {
			if call < 3 {
				return errors.New("disk full\x1b")
			}
			return nil
		}
		var log bytes.Buffer
		w := f.watcher()
		w.Log = slog.New(slog.NewTextHandler(&log, nil))
		f.run(t, w, l, time.Minute)
		if diff := cmp.Diff([]string{"first\r\n", "second\r\n"}, l.raws()); diff != "" {
			t.Error(diff)
		}
		if l.calls != 3 || f.dials != 3 {
			t.Errorf("%d deliveries over %d connections", l.calls, f.dials)
		}
		// Once for the failure, however often it is retried, once for its end.
		if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, `delivering mail: disk full\\x1b`) {
			t.Errorf("log %s", got)
		}
	})
}

func TestLoadFails(t *testing.T) {
	in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
		w := f.watcher()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = w.Run(ctx, func(context.Context) (mailbox.Position, error) { return mailbox.Position{}, errors.New("store closed") }, l.deliver)
		if h := w.Health(); h.LastError != "loading the mailbox position: store closed" || h.Retries != 6 {
			t.Errorf("health %+v", h)
		}
	})
}

// The position does not pass a mail before it was handed over, and a mail that
// is gone, too large or without a date does not stop the others.
func TestMailNotFetched(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(c *fakeConn, tag, args string)
		step string
		want []string
	}{
		"deleted meanwhile": {func(c *fakeConn, tag, args string) {
			c.mails = c.mails[len(c.mails)-1:]
			c.answer(tag, "BODY", args)
		}, "BODY", []string{"second\r\n"}},
		"too large": {func(c *fakeConn, tag, args string) {
			c.say("* 1 FETCH (UID 2 RFC822.SIZE 33554433 INTERNALDATE \" 4-Mar-2026 12:00:00 +0000\")\r\n%s OK\r\n", tag)
		}, "LIST", []string{"[larger than 32 MiB]"}},
		"no date": {func(c *fakeConn, tag, args string) {
			c.say("* 1 FETCH (UID 2)\r\n%s OK\r\n", tag)
		}, "LIST", []string{"[the server gives no arrival date]"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
				f.act[c.step] = c.act
				f.run(t, f.watcher(), l, time.Minute)
				if diff := cmp.Diff(c.want, l.raws()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A mail fetched before a bad one is delivered before it is tried again.
func TestGoodMailBeforeBad(t *testing.T) {
	in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
		f.act["BODY"] = func(c *fakeConn, tag, args string) {
			if strings.HasPrefix(args, "3 ") {
				c.say("* 2 FETCH (UID 3 BODY[] {-1}\r\n")
			}
			c.answer(tag, "BODY", args)
		}
		f.run(t, f.watcher(), l, time.Minute)
		if got := l.raws(); len(got) != 2 || got[0] != "first\r\n" || !strings.HasPrefix(got[1], "[fetching it failed twice") {
			t.Errorf("delivered %q", got)
		}
		if f.said("BODY 2 ") != 1 || f.said("BODY 3 ") != 2 {
			t.Errorf("said %q", f.commands)
		}
	})
}

func TestBatches(t *testing.T) {
	for name, c := range map[string]struct {
		mails, size int
		want        []int // mails of each call
	}{
		"by number":       {150, 10, []int{64, 64, 22}},
		"by bytes":        {4, 12 << 20, []int{2, 2}},
		"beyond one list": {4100, 3, append(slices.Repeat([]int{64}, 64), 4)},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
				f.mails = nil
				for i := range c.mails {
					f.mails = append(f.mails, fakeMail{uint32(2 + i), strings.Repeat("x", c.size), seen})
				}
				f.uidNext = uint32(2 + c.mails)
				var got []int
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
				defer cancel()
				_ = f.watcher().Run(ctx, l.load, func(ctx context.Context, batch []mailbox.Incoming) error {
					got = append(got, len(batch))
					return l.deliver(ctx, batch)
				})
				f.serving.Wait()
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
				for i, in := range l.mails {
					if in.Position.UID != uint32(2+i) {
						t.Fatalf("mail %d has UID %d", i, in.Position.UID)
					}
				}
			})
		})
	}
}

func TestBackoff(t *testing.T) {
	in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
		start := time.Now()
		var at []time.Duration
		w := f.watcher()
		w.Dial = nil
		w.Account.Password = func(context.Context) (string, error) {
			at = append(at, time.Since(start))
			return "", errors.New("locked")
		}
		f.run(t, w, l, 20*time.Minute)
		want := []time.Duration{0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111}
		for i := range want {
			want[i] *= time.Second
		}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Error(diff)
		}
		if h := w.Health(); h.LastError != "logging in to 127.0.0.1:143: locked" || h.Retries != len(want) {
			t.Errorf("health %+v", h)
		}
	})
}

func TestHealthInIdle(t *testing.T) {
	in(t, func(t *testing.T, f *fakeIMAP, l *ledger) {
		w := f.watcher()
		w.Clock = time.Now
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx, l.load, l.deliver) }()
		time.Sleep(6 * time.Minute) // of the bubble's clock: into the second IDLE
		h := w.Health()
		if age := time.Since(h.IdleSince); !h.Connected || age <= 0 || age > time.Minute || h.Sessions != 1 {
			t.Errorf("health %+v", h)
		}
		cancel()
		if err := <-done; err != context.Canceled {
			t.Error(err)
		}
	})
}
