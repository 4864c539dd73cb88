package inbox

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/record"
)

// words is a mail in plain words, with further header lines.
func (s *scene) words(from, inReplyTo string, more ...string) []byte {
	return []byte("From: " + from + "\r\nTo: agent@seller.test\r\nSubject: Re: Quote\r\nMessage-ID: <1@mail.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\nIn-Reply-To: " + inReplyTo + "\r\n" +
		strings.Join(append(more, ""), "\r\n") + "\r\nYes, we take it.\x1b[31m\r\n")
}

func (s *scene) replyKey(in *Inbox) string {
	s.t.Helper()
	waiting, err := in.Waiting()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, w := range waiting {
		if w.Kind == "reply" {
			return w.Key
		}
	}
	return ""
}

// A reply in the quote's mail thread, from whom the quote went to, can be
// counted, whether its sender was proven or not, which the record says.
func TestReplyIsCounted(t *testing.T) {
	replyIsCounted(t, newScene)
}

// So it is in an inbox whose agent gets what people write.
func TestReplyToAgentIsCounted(t *testing.T) {
	replyIsCounted(t, agentScene)
}

func replyIsCounted(t *testing.T, open func(testing.TB, ...func(*Settings)) *scene) {
	t.Helper()
	for name, proven := range map[string]bool{"dkim=pass": true, "dkim=fail": false} {
		s := open(t)
		_, quote := s.quoted()
		mail := s.words("Ann <agent@buyer.test>", "<"+quote.ID+"@seller.test>")
		if proven {
			var err error
			if mail, err = s.services["buyer"].Signer.Sign(mail, s.now); err != nil {
				t.Fatal(err)
			}
		}
		s.expect(s.seller, mail, "plain none")
		s.expect(s.seller, mail, "plain none") // again, after the mailbox was made anew
		if got := s.state(s.seller, quote.Thread, quote.ID); got != "open" {
			t.Fatalf("before the owner has decided it is %s", got)
		}
		key := s.onlyWaiting(s.seller)
		waiting, _ := s.seller.Waiting()
		if !strings.Contains(waiting[0].Text, "Yes, we take it.") || strings.Contains(waiting[0].Reason, "NOT proven") == proven {
			t.Errorf("%s: %+v", name, waiting[0])
		}
		if err := s.seller.Approve(key); !errors.Is(err, ErrAction) {
			t.Errorf("approve: %v", err)
		}
		made, err := s.seller.Count(key)
		if err != nil {
			t.Fatal(err)
		}
		_, file := s.kept(s.seller, made.ID, true)
		r, err := record.Parse(file)
		if err != nil || r.Kind != record.TheirReply || !strings.Contains(r.Reply.AuthResults, name) || s.check(file).Result != record.ReplyRecorded {
			t.Errorf("%s: %v %+v", name, err, s.check(file))
		}
		thread, err := s.seller.Thread(quote.Thread)
		if err != nil || thread.Record != record.TheirReply || len(thread.Records) != 1 || s.state(s.seller, quote.Thread, quote.ID) != "agreed" {
			t.Errorf("%s: %+v, %v", name, thread, err)
		}
		if key := s.replyKey(s.seller); key != "" {
			t.Errorf("%s waits still", key)
		}
		if _, err := s.seller.Count(key); !errors.Is(err, ErrAction) {
			t.Errorf("counted twice: %v", err)
		}
		if _, err := s.seller.Do(Action{Type: intent.Cancel, Ref: made.ID}); err != nil {
			t.Errorf("cancelled by its record: %v", err)
		}
	}
}

func TestNoReply(t *testing.T) {
	for name, mail := range map[string]func(s *scene, quote string) []byte{
		"from somebody else": func(s *scene, q string) []byte { return s.words("other@buyer.test", "<"+q+"@seller.test>") },
		"to another message": func(s *scene, q string) []byte { return s.words("agent@buyer.test", "<"+q+"@other.test>") },
		"to nothing":         func(s *scene, q string) []byte { return s.words("agent@buyer.test", "") },
		"an auto-reply": func(s *scene, q string) []byte {
			return s.words("agent@buyer.test", "<"+q+"@seller.test>", "Auto-Submitted: auto-replied")
		},
		"from a mailing list": func(s *scene, q string) []byte {
			return s.words("agent@buyer.test", "<"+q+"@seller.test>", "List-Id: <l.test>")
		},
		"bulk": func(s *scene, q string) []byte {
			return s.words("agent@buyer.test", "<"+q+"@seller.test>", "Precedence: bulk")
		},
		"from the inbox": func(s *scene, q string) []byte { return s.words("agent@seller.test", "<"+q+"@seller.test>") },
		"with two From fields": func(s *scene, q string) []byte {
			return s.words("agent@buyer.test", "<"+q+"@seller.test>", "From: agent@buyer.test")
		},
	} {
		s := newScene(t)
		ask, quote := s.quoted()
		for _, id := range []string{quote.ID, ask.ID} {
			if r := s.deliver(s.seller, mail(s, id)); r.Verdict != Plain {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if key := s.replyKey(s.seller); key != "" {
			t.Errorf("%s: %s waits", name, key)
		}
	}
}

// A reply waits for as long as its quote is open, and no longer; and only a
// few wait.
func TestRepliesEnd(t *testing.T) {
	reply := func(s *scene, quote Done) string {
		s.deliver(s.seller, s.words("agent@buyer.test", "<"+quote.ID+"@seller.test>"))
		return s.replyKey(s.seller)
	}
	t.Run("expired", func(t *testing.T) {
		s := newScene(t)
		_, quote := s.quoted()
		key := reply(s, quote)
		s.now = s.now.Add(8 * 24 * time.Hour)
		if _, err := s.seller.Count(key); !errors.Is(err, ErrAction) {
			t.Errorf("counted after the quote expired: %v", err)
		}
		s.tick(s.seller, time.Hour)
		if err := s.seller.Refuse(key, ""); !errors.Is(err, ErrAction) {
			t.Errorf("still there: %v", err)
		}
	})
	t.Run("accepted", func(t *testing.T) {
		s := newScene(t)
		_, quote := s.quoted()
		key := reply(s, quote)
		_, raw := s.do(s.buyer, Action{Type: intent.Accept, Ref: quote.ID})
		s.expect(s.seller, raw, "accepted signed")
		if _, err := s.seller.Count(key); !errors.Is(err, ErrAction) || s.replyKey(s.seller) != "" {
			t.Errorf("counted after the accept: %v", err)
		}
	})
	t.Run("put aside", func(t *testing.T) {
		s := newScene(t)
		_, quote := s.quoted()
		key := reply(s, quote)
		if err := s.seller.Refuse(key, ""); err != nil || s.replyKey(s.seller) != "" {
			t.Error(err)
		}
	})
	t.Run("another after one that was put aside", func(t *testing.T) {
		s := newScene(t)
		_, quote := s.quoted()
		key := reply(s, quote)
		check(t, s.seller.Refuse(key, ""))
		s.deliver(s.seller, s.words("agent@buyer.test", "<"+quote.ID+"@seller.test>", "X-Number: 2"))
		if now := s.replyKey(s.seller); now == "" || now == key {
			t.Errorf("it has the key %q, and the first had %q: whoever read the first may count the second", now, key)
		}
	})
	t.Run("many", func(t *testing.T) {
		s := newScene(t)
		_, quote := s.quoted()
		for i := range maxReplies + 3 {
			s.deliver(s.seller, s.words("agent@buyer.test", "<"+quote.ID+"@seller.test>", fmt.Sprintf("X-Number: %d", i)))
		}
		if waiting, err := s.seller.Waiting(); err != nil || len(waiting) != maxReplies {
			t.Errorf("%d wait, %v", len(waiting), err)
		}
	})
	t.Run("no key", func(t *testing.T) {
		s := newScene(t, func(set *Settings) { set.Unsigned = UnsignedAllow; set.Keys = nil })
		ask, raw := s.do(s.buyer, askAction())
		s.expect(s.seller, raw, "accepted mail_only")
		quote, raw := s.do(s.seller, quoteAction(ask.Thread, "", 55000))
		s.expect(s.buyer, raw, "accepted mail_only")
		if _, err := s.seller.Count(reply(s, quote)); !errors.Is(err, ErrAction) {
			t.Errorf("counted without a key: %v", err)
		}
		if got := s.state(s.seller, quote.Thread, quote.ID); got != "open" {
			t.Errorf("the quote is %s", got)
		}
	})
}
