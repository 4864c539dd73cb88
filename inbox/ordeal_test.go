package inbox

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
)

// ordeal is an inbox that whatever agents and strangers can sign is sent to,
// while its owner decides this and that.
type ordeal struct {
	*scene
	dice   *rand.Rand
	agents []agentmsg.Identity
	ids    []string // of messages and tasks that somebody has seen
	mails  [][]byte
}

// TestNothingStopsTheMailbox holds that a mail whose delivery fails would come
// back for ever and let no other in: whatever is sent, every delivery ends, and
// all that the owner can ask for can be shown.
func TestNothingStopsTheMailbox(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			o := &ordeal{scene: agentScene(t, func(set *Settings) { set.HourlyLimit = 3 }), dice: rand.New(rand.NewPCG(seed, 0))}
			o.seller.set.Agent.Sealing = newSealing(t)
			o.settings["seller"] = o.seller.set
			for range 4 {
				o.agents = append(o.agents, newIdentity(t))
			}
			for range 100 {
				o.step()
				o.look()
			}
		})
	}
}

func pick[T any](o *ordeal, from ...T) T { return from[o.dice.IntN(len(from))] }

// step is one thing that happens.
func (o *ordeal) step() {
	switch o.dice.IntN(10) {
	case 0:
		o.tick(o.seller, pick(o, time.Second, time.Second, time.Hour, 8*24*time.Hour, 31*24*time.Hour))
	case 1:
		o.decide()
	case 2, 3:
		o.act()
	case 4:
		o.restart()
		if err := o.seller.Begin(); err != nil {
			o.t.Fatal(err)
		}
	case 5:
		if len(o.mails) > 0 {
			o.deliver(o.seller, pick(o, o.mails...)) // once more
		}
	default:
		o.deliver(o.seller, o.mail())
	}
}

// words are those that a text may be made of.
var ordealWords = []string{
	"", "a", strings.Repeat("x", 300), strings.Repeat("é", 70_000), "\u2067\u202e", "\u2028", "=?utf-8?q?=0D=0ABcc:_x?=", "<script>", "../../etc/passwd", "NUL",
	"%s%n", "---", "=== END", " ", "ſ", "e\u0301", "é",
}

func (o *ordeal) word() string { return pick(o, ordealWords...) }

// name is an id that may have been seen before.
func (o *ordeal) name() string {
	return pick(o, append(o.ids, "", "task", "019a4400-0000-7000-8000-0000000000a1", strings.Repeat("t", 256))...)
}

// mail is a mail that somebody signed, or wrote.
func (o *ordeal) mail() []byte {
	if o.dice.IntN(4) == 0 {
		return o.personal()
	}
	by := pick(o, o.agents...)
	e := agentmsg.Envelope{To: pick(o, "", o.agent(o.seller), o.agent(o.seller), o.agent(o.seller), o.agent(o.seller), by.ID()), TaskID: pick(o, "", o.name()), ContextID: o.short()}
	e.Meta.Email.Address = pick(o, "", o.word(), "a@b.test", "agent@seller.test", strings.Repeat("l", 64)+"@"+strings.Repeat("d", 60)+".test", "x@buyer.test")
	e.Meta.Hops = pick(o, 0.0, 0, 0, 0, 0, 0, 0, -1, 3, 3.5, 1e300)
	if o.dice.IntN(6) == 0 {
		e.Meta.Bridge = &agentmsg.Bridge{Address: o.word(), Domain: o.word()}
	}
	files := map[string][]byte{}
	if o.dice.IntN(3) == 0 {
		e.InReplyTo = o.name()
		r := &agentmsg.Respond{Status: pick(o, agentmsg.StatusWorking, agentmsg.StatusCompleted, agentmsg.StatusAccepted, agentmsg.StatusInputRequired, agentmsg.StatusRejected), Output: o.body()}
		for range o.dice.IntN(3) {
			r.Artifacts = append(r.Artifacts, agentmsg.Artifact{Name: o.word(), Parts: []agentmsg.Part{{Text: o.word()}, {File: o.file(files)}}})
		}
		if o.dice.IntN(4) == 0 {
			r.Error = &agentmsg.Failure{Code: "NO", Message: o.word()}
		}
		e.Respond = r
	} else {
		e.Request = &agentmsg.Request{Offering: pick(o, "chat", "chat", "translate", "describe", "knock", "task.cancel", "else", "\u202e"), Input: o.body()}
		for range o.dice.IntN(4) {
			e.Request.Files = append(e.Request.Files, o.file(files))
		}
	}
	signed, err := by.Compose(e, o.now.Add(pick(o, 0, 0, 0, 0, 0, time.Minute, -time.Hour, 6*time.Minute, -8*24*time.Hour)), o.services["buyer"].Random)
	if err != nil { // it would be refused at the first look
		return o.personal()
	}
	o.ids = append(o.ids, signed.ID)
	letter := emailing.Letter{Files: files}
	letter.From.Address, letter.To.Address = buyerAddress, sellerAddress
	raw, err := emailing.Compose(signed, letter, o.services["buyer"].Random)
	if err != nil {
		raw = bare(signed)
	}
	o.mails = append(o.mails, raw)
	return raw
}

func (o *ordeal) short() string {
	if word := o.word(); len(word) <= 256 {
		return word
	}
	return ""
}

// body is an input or output.
func (o *ordeal) body() []byte {
	text := fmt.Sprintf("%q", strings.ToValidUTF8(o.short(), ""))
	switch o.dice.IntN(7) {
	case 0:
		return nil
	case 1:
		return seal(o.t, `{"text":"sealed"}`, pick(o, o.seller.set.Agent.Sealing, newSealing(o.t)))
	case 2:
		return []byte(`{"task_id":"` + o.name() + `","reason":"policy"}`)
	case 3:
		return []byte(strings.Repeat("[", 28) + strings.Repeat("]", 28))
	case 4:
		return []byte(`"` + strings.Repeat("x", pick(o, 1, agentmsg.MaxText, agentmsg.MaxText+1)) + `"`)
	default:
		return []byte(`{"message":[1],"text":` + text + `}`)
	}
}

// file is a file that goes along, or does not.
func (o *ordeal) file(bodies map[string][]byte) agentmsg.File {
	f := agentmsg.File{Name: o.word(), MediaType: pick(o, "", "text/plain", o.word()), Ref: pick(o, "cid:a@b", "cid:c@d", "", "http://x", o.word()), URI: pick(o, "", o.word()), Size: pick(o, int64(-1), 0, 1, 1<<40), Digest: o.short()}
	if o.dice.IntN(2) == 0 {
		content := []byte(o.word())
		f.Pin(int64(len(content)), sha256.Sum256(content))
		bodies[f.Ref] = content
	}
	return f
}

// personal is what a person wrote, or something that looks like it.
func (o *ordeal) personal() []byte {
	head := pick(o, "", "Message-ID: "+pick(o, "<>", "<"+strings.Repeat("m", 500)+">", "<a@b>,<c@d>", "<1@mail.test>")+"\r\n")
	head += "Subject: " + pick(o, "Hi", strings.Repeat("s", 900), "=?utf-8?b?4oGn4oGn?=", "=?utf-8?q?=0D=0ABcc:_x=40y.test?=", "Re: \u202e") + "\r\n"
	head += pick(o, "", "Auto-Submitted: auto-replied\r\n", "List-Id: <l.test>\r\n", "Return-Path: <>\r\n")
	raw := []byte("From: " + pick(o, "ann@buyer.test", "Bob <bob@buyer.test>", "agent@seller.test", "a@b.test, c@d.test") + "\r\n" + head +
		"MIME-Version: 1.0\r\nContent-Type: " + pick(o, "text/plain; charset=utf-8", "text/html", "application/json; name=envelope.json") + "\r\n\r\n" + pick(o, "Hello.", "", "{}") + "\r\n")
	if signed, err := o.services["buyer"].Signer.Sign(raw, o.now); err == nil && o.dice.IntN(4) > 0 {
		raw = signed
	}
	if len(o.ids) > 0 && o.dice.IntN(4) == 0 {
		raw = report(emailing.MessageID(o.name(), sellerAddress), pick(o, "failed", "delayed"), pick(o, nil, bytes.ReplaceAll(raw, []byte("--b"), nil)))
	}
	o.mails = append(o.mails, raw)
	return raw
}

// decide has the owner decide something.
func (o *ordeal) decide() {
	waiting, err := o.seller.Waiting()
	if err != nil {
		o.t.Fatal(err)
	}
	for _, w := range waiting {
		switch o.dice.IntN(3) {
		case 0:
			err = o.seller.Approve(w.Key)
		case 1:
			err = o.seller.Refuse(w.Key, "")
		}
		o.may(err)
	}
	o.may(o.seller.Decide(pick(o, o.agents...).ID(), pick(o, agentmsg.StanceAllow, agentmsg.StanceAllow, agentmsg.StanceHold, agentmsg.StanceBlock), ""))
	card := Contact{Agent: pick(o, o.agents...).ID(), Addresses: []string{pick(o, "a@b.test", "x@buyer.test", "y@else.test")}, SealingKey: pick(o, "", newSealing(o.t).Public())}
	if o.dice.IntN(2) == 0 {
		o.may(o.seller.PutContact(card))
	} else {
		o.may(o.seller.RemoveContact(card.Agent))
	}
}

// act has the agent do something.
func (o *ordeal) act() {
	done, err := o.seller.Do(Action{
		Type: pick(o, ActRespond, ActRespond, ActRequest), Request: o.name(), Status: pick(o, "", agentmsg.StatusWorking, agentmsg.StatusFailed), Text: o.short(),
	})
	o.may(err)
	if e := o.pending(o.seller); e != nil {
		done, err = o.seller.Do(Action{Type: ActRespond, Event: e.Seq, Status: pick(o, "", agentmsg.StatusWorking, agentmsg.StatusInputRequired), Text: o.short()})
		o.may(err)
	}
	agent := pick(o, o.agents...).ID()
	asked, err := o.seller.Do(Action{Type: ActRequest, Agent: agent, To: pick(o, "", "z@else.test"), Offering: "chat", Text: "Hello."})
	o.may(err)
	o.ids = append(o.ids, done.ID, done.Task, asked.ID)
}

// may lets pass what the owner or the agent is told, and nothing else.
func (o *ordeal) may(err error) {
	o.t.Helper()
	if err != nil && !errors.Is(err, ErrAction) {
		o.t.Fatal(err)
	}
}

// look shows all that there is.
func (o *ordeal) look() {
	o.t.Helper()
	_, waiting := o.seller.Waiting()
	tasks, err := o.seller.Tasks()
	err = errors.Join(err, waiting)
	for _, task := range tasks {
		_, each := o.seller.Task(task.ID)
		err = errors.Join(err, each)
	}
	requests, all := o.seller.Requests()
	for _, r := range requests {
		_, each := o.seller.Request(r.From, r.ID)
		err = errors.Join(err, each)
	}
	if err = errors.Join(err, all); err != nil {
		o.t.Fatal(err)
	}
}
