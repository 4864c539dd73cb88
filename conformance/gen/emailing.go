package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nkeys"
)

const emailingProfile = "agent-emailing/0.2.1"

// emailingSuites are those of Agent Emailing. The settings of an inbox are
// those of its suite.
func emailingSuites() []*suite {
	var all []*suite
	for _, group := range []func() []*suite{
		basicSuites, envelopeSuites, protectionSuites, fenceSuites, carriageSuites, fileSuites, taskSuites, cancelSuites,
		admissionSuites, contactSuites, sealingSuites, bridgeSuites, mixedSuites,
	} {
		all = append(all, group()...)
	}
	return all
}

// agent is somebody who signs messages of Agent Emailing.
type agent struct {
	id      string
	key     ed25519.PrivateKey
	sealing agentmsg.SealingKey
	mail    *side // whose mails carry its messages
}

func newAgent(name string, mail *side) *agent {
	key, secret := seeded("agent "+name), digest("sealing key of "+name)
	return &agent{
		id: string(must(nkeys.Encode(nkeys.PrefixByteUser, key[32:]))), key: key, mail: mail,
		sealing: must(agentmsg.ParseSealingKey(base64.RawURLEncoding.EncodeToString(secret[:]))),
	}
}

func (a *agent) seed() string {
	return string(must(nkeys.EncodeSeed(nkeys.PrefixByteUser, a.key.Seed())))
}

func (a *agent) identity() agentmsg.Identity { return must(agentmsg.ParseSeed(a.seed())) }

// cast is who writes to the inbox of own.
type cast struct {
	own     *agent
	buyer   *agent // the roster allows it
	blocked *agent // the roster blocks it
	kept    *agent // the roster holds it
	friend  *agent // has a name card, with another address than it writes from
	third   *agent // unknown
	helper  *agent // unknown, and asked by this inbox
}

// newEmailing is a suite of an inbox with an agent, a signed roster and a
// contact book of one card.
func newEmailing(name, about string) *suite {
	s := newSuite(name, about)
	s.Profile, s.KeyPages, s.files = emailingProfile, map[string]keyPage{}, map[string][]byte{".gitattributes": []byte("* -text\n")}
	at := func(address string) *side { return &side{address: address, dkim: s.world.buyer.dkim} }
	s.agents = cast{
		own: newAgent("own", s.world.seller), buyer: newAgent("buyer", s.world.buyer), third: newAgent("third", s.world.third),
		blocked: newAgent("blocked", at("agent@blocked.test")), kept: newAgent("kept", at("agent@kept.test")),
		friend: newAgent("friend", at("agent@friend.test")), helper: newAgent("helper", at("agent@helper.test")),
	}
	for _, domain := range []string{"blocked.test", "kept.test", "friend.test", "helper.test"} {
		s.DNS["s1._domainkey."+domain] = []string{s.world.buyer.dkim.record()}
	}
	s.Inbox.AgentSeed = s.agents.own.seed()
	s.Inbox.Contacts = []nameCard{{Agent: s.agents.friend.id, Addresses: []string{friendCard}}}
	s.roster(nil)
	return s
}

// friendCard is the address on the card of the friend, which it does not write
// from.
const friendCard = "desk@friend.test"

// roster signs the roster of the cast with a change.
func (s *suite) roster(edit func(*agentmsg.Roster)) {
	updated := time.Unix(start-day, 0)
	entry := func(a *agent, stance agentmsg.Stance) agentmsg.Entry {
		return agentmsg.Entry{Subject: a.id, Stance: stance, Updated: updated}
	}
	r := agentmsg.Roster{
		Defaults: map[agentmsg.Kind]agentmsg.Stance{agentmsg.KindContact: "allow", agentmsg.KindRegistered: "hold", agentmsg.KindAnonymous: "block"},
		Entries:  []agentmsg.Entry{entry(s.agents.buyer, "allow"), entry(s.agents.blocked, "block"), entry(s.agents.kept, "hold")},
		Updated:  updated,
	}
	if edit != nil {
		edit(&r)
	}
	s.Roster = must(s.agents.own.identity().SignRoster(r))
}

// outcome is what must hold of the delivery of a mail in an inbox with an agent.
type outcome struct {
	Verdict    string            `json:"verdict,omitzero"`
	Code       string            `json:"code,omitzero"`
	Warnings   *[]string         `json:"warnings,omitzero"`
	From       string            `json:"from,omitzero"`
	Offering   string            `json:"offering,omitzero"`
	Answered   jsontext.Value    `json:"answered,omitzero"`
	AnsweredTo string            `json:"answered_to,omitzero"`
	Files      map[string]string `json:"files,omitzero"`
	Task       *standing         `json:"task,omitzero"`
	Text       *string           `json:"text_shown,omitzero"`
}

type standing struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// silence: nothing is mailed back.
var silence = jsontext.Value("null")

// What most cases come to. Nothing is mailed to the sender.
var (
	taken   = outcome{Verdict: "accepted", Answered: silence}
	waits   = outcome{Verdict: "held", Answered: silence}
	blocked = outcome{Verdict: "blocked", Answered: silence}
	review  = outcome{Verdict: "review", Answered: silence}
	bridged = outcome{Verdict: "bridged", Offering: "chat", Answered: silence}
	ignored = outcome{Verdict: "ignored", Answered: silence}
	bounce  = outcome{Verdict: "bounce", Answered: silence}
	later   = outcome{Verdict: "retry", Answered: silence}
)

// silent is a refusal that its sender is not told of.
func silent(code string) outcome {
	return outcome{Verdict: "refused", Code: code, Answered: silence}
}

// told is a refusal that is mailed to an address.
func told(code, answer, to string) outcome { return silent(code).answered(answer, to) }

func (o outcome) answered(code, to string) outcome {
	o.Answered, o.AnsweredTo = jsontext.Value(strconv.Quote(code)), to
	return o
}

func (o outcome) at(task, state string) outcome {
	o.Task = &standing{task, state}
	return o
}

func (o outcome) with(files map[string]string) outcome {
	o.Files = files
	return o
}

func (o outcome) asks(by *agent, offering string) outcome {
	o.From, o.Offering = by.id, offering
	return o
}

func (o outcome) warned(warnings ...string) outcome {
	o.Warnings = &warnings
	return o
}

// shows is the whole text that the agent is given, "" for none.
func (o outcome) shows(text string) outcome {
	o.Text = &text
	return o
}

// arrives is the arrival of a mail, a minute after the step before.
func (t *story) arrives(x *exchange, want outcome) {
	t.now += minute
	t.arrivesAt(x, t.moment(), want)
}

// arrivesAt is the arrival of a mail at a moment.
func (t *story) arrivesAt(x *exchange, at time.Time, want outcome) {
	t.now = at.Unix()
	t.Steps = append(t.Steps, step{Deliver: t.keep(x), At: at.Format(milliseconds), Expect: &want})
}

// comes is a mail that arrives and is accepted.
func (t *story) comes(x *exchange) *exchange {
	t.arrives(x, taken)
	return x
}

// posted is a mail that this inbox sent earlier, at the time it was composed.
func (t *story) posted(x *exchange) *exchange {
	t.Steps = append(t.Steps, step{Sent: t.keep(x), At: t.moment().Format(milliseconds)})
	return x
}

// admit is the owner's word for an agent, a minute after the step before.
func (t *story) admit(a *agent) {
	t.now += minute
	t.Steps = append(t.Steps, step{Admit: a.id, At: t.moment().Format(milliseconds)})
}

// stands says in which state a task ends.
func (t *story) stands(task, state string) { t.end().Tasks[task] = state }

func (t *story) moment() time.Time { return time.Unix(t.now, 0).UTC() }

const milliseconds = "2006-01-02T15:04:05.000Z"

// keep writes the mail into the suite, once.
func (t *story) keep(x *exchange) string {
	if x.file == "" {
		x.file = t.file(x.label, x.raw())
	}
	return x.file
}

// posting is a row of a table: the request of an agent with one change,
// delivered once.
type posting struct {
	name, why string
	change    edit
	want      outcome
}

// postings tells each row as a story of one delivery.
func (s *suite) postings(by *agent, rows []posting) {
	for _, row := range rows {
		t := s.story(row.name, row.why)
		t.arrives(t.request(by, row.change), row.want)
	}
}
