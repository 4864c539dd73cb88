package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"mime/quotedprintable"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/emailing"
)

// exchange is a message of Agent Emailing and the mail that carries it. The
// message is signed here, by hand. Each func member, where it is set, changes
// what the step before it made; they stand in the order in which they are
// called.
type exchange struct {
	message   map[string]any // without sig
	by        *agent
	from      string // the address in From
	to        string // and in To
	words     string // of the part for people
	messageID string
	files     []enclosure

	sig   func(canonical []byte) string // makes the signature, instead of the usual one
	text  func(string) string           // the signed envelope on its way
	head  string                        // further fields of the mail, with LF line ends
	frame func(x *exchange) string      // writes the mail, instead of the usual way
	mail  func(string) string           // the written mail, with LF line ends
	dkim  *side                         // signs the mail; nil leaves it unsigned, for From proves nothing
	after func(string) string           // the whole mail, with CRLF line ends

	story *story
	label string // names the mail's file
	file  string // once it was written
}

// edit makes an exchange different from the baseline.
type edit func(*exchange)

// both makes one edit of several.
func both(edits ...edit) edit {
	return func(x *exchange) {
		for _, e := range edits {
			if e != nil {
				e(x)
			}
		}
	}
}

// enclosure is a file beside the envelope.
type enclosure struct{ name, mediaType, id, body string }

// exchange composes a message from one agent to another.
func (t *story) exchange(by, to *agent, kind string) *exchange {
	t.count++
	t.now += minute
	label := fmt.Sprintf("%s-%d", t.Name, t.count)
	id := t.suite.name + " " + label
	trace := digest("trace " + id)
	return &exchange{
		by: by, from: by.mail.address, to: to.mail.address, story: t, label: label,
		words: "See the attachment.", messageID: emailing.MessageID(uuid(id), by.mail.address),
		message: map[string]any{
			"v": "0.2.0", "id": uuid(id), "type": kind, "ts": t.moment().Format(milliseconds), "from": by.id, "to": to.id,
			"trace": map[string]any{"trace_id": hex.EncodeToString(trace[:16]), "span_id": hex.EncodeToString(trace[16:24])},
			"meta":  map[string]any{"email": map[string]any{"address": by.mail.address}},
		},
	}
}

// request is a request for chat, to this inbox or from it to the helper.
func (t *story) request(by *agent, edits ...edit) *exchange {
	to := t.suite.agents.own
	if by == to {
		to = t.suite.agents.helper
	}
	x := t.exchange(by, to, "request")
	x.message["payload"] = map[string]any{"offering": "chat", "input": map[string]any{"text": "Do you have the blue mugs?"}}
	both(edits...)(x)
	return x
}

// respond answers a request.
func (t *story) respond(by *agent, to *exchange, status string, edits ...edit) *exchange {
	x := t.exchange(by, to.by, "respond")
	x.message["in_reply_to"] = to.id()
	x.message["payload"] = map[string]any{"status": status}
	x.message["trace"].(map[string]any)["trace_id"] = to.trace()
	both(edits...)(x)
	return x
}

func (x *exchange) id() string    { return x.message["id"].(string) }
func (x *exchange) trace() string { return x.message["trace"].(map[string]any)["trace_id"].(string) }

// task is an id of the story's own.
func (t *story) task(name string) string { return uuid(t.suite.name + " " + t.Name + " task " + name) }

// again is another mail with the same message.
func (x *exchange) again(edits ...edit) *exchange {
	c := *x
	c.story.count++
	c.file, c.label = "", fmt.Sprintf("%s-%d", c.story.Name, c.story.count)
	both(edits...)(&c)
	return &c
}

// canonical is what is signed.
func (x *exchange) canonical() []byte { return must(canon.Marshal(x.message)) }

const envelopeTag = "agentmesh-envelope-v1\n"

// signed is a signature over a tag and the envelope without sig (§5.3).
func signed(key ed25519.PrivateKey, tag string, canonical []byte) string {
	return base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, append([]byte(tag), canonical...)))
}

// envelope is the signed text.
func (x *exchange) envelope() string {
	whole := maps.Clone(x.message)
	if x.sig != nil {
		whole["sig"] = x.sig(x.canonical())
	} else {
		whole["sig"] = signed(x.by.key, envelopeTag, x.canonical())
	}
	text := string(must(canon.Marshal(whole)))
	if x.text != nil {
		text = x.text(text)
	}
	return text
}

// raw is the whole mail.
func (x *exchange) raw() string {
	write := x.frame
	if write == nil {
		write = carried(mixed, "--b0\n{text}\n--b0\n{envelope}\n{files}--b0--\n")
	}
	text := write(x)
	if x.mail != nil {
		text = x.mail(text)
	}
	text = strings.ReplaceAll(text, "\n", "\r\n")
	if x.dkim != nil {
		text = string(must(x.dkim.signer().Sign([]byte(text), x.written())))
	}
	if x.after != nil {
		text = x.after(text)
	}
	return text
}

// written is when the mail was written: a minute before it arrives.
func (x *exchange) written() time.Time { return time.Unix(start, 0).UTC() }

// fields are those of the mail but for Content-Type.
func (x *exchange) fields() string {
	return "From: <" + x.from + ">\nTo: <" + x.to + ">\nSubject: [request] chat\n" +
		"Date: " + x.written().Format("Mon, 02 Jan 2006 15:04:05 +0000") + "\n" +
		"Message-ID: " + x.messageID + "\n" + x.head + "MIME-Version: 1.0\n"
}

// carried writes the mail with a Content-Type and a body. {text} and
// {envelope} stand for the two parts with their headers, {files} for the files
// with a delimiter before each, and {json}, {base64} and {qp} for the
// envelope alone, as it is or encoded.
func carried(contentType, body string) func(*exchange) string {
	return func(x *exchange) string {
		return x.fields() + "Content-Type: " + contentType + "\n\n" + x.expand(body, x.envelope())
	}
}

const (
	textPart     = "Content-Type: text/plain; charset=utf-8\n\n"
	envelopeType = `Content-Type: application/json; name="envelope.json"`
	envelopeDisp = `Content-Disposition: attachment; filename="envelope.json"`
	inBase64     = "Content-Transfer-Encoding: base64"
	envelopePart = envelopeType + "\n" + envelopeDisp + "\n" + inBase64 + "\n\n"
)

func (x *exchange) expand(body, text string) string {
	files := ""
	for _, f := range x.files {
		files += "--b0\nContent-Type: " + f.mediaType + "\nContent-Disposition: attachment; filename=\"" + f.name + "\"\n" +
			"Content-ID: <" + f.id + ">\n" + inBase64 + "\n\n" + wrapped(f.body, 76) + "\n"
	}
	return strings.NewReplacer(
		"{text}", textPart+x.words, "{envelope}", envelopePart+wrapped(text, 76), "{files}", files,
		"{json}", text, "{base64}", wrapped(text, 76), "{qp}", quotedPrintable(text),
	).Replace(body)
}

// wrapped is base64 in lines of a width.
func wrapped(data string, width int) string {
	text := base64.StdEncoding.EncodeToString([]byte(data))
	var lines []string
	for len(text) > width {
		lines, text = append(lines, text[:width]), text[width:]
	}
	return strings.Join(append(lines, text), "\n")
}

func quotedPrintable(text string) string {
	var b strings.Builder
	w := quotedprintable.NewWriter(&b)
	must(w.Write([]byte(text)))
	if err := w.Close(); err != nil {
		panic(err)
	}
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}

// asComposed writes the mail as the daemon does.
func asComposed(offering string, references ...*exchange) edit {
	return func(x *exchange) {
		x.frame = func(x *exchange) string {
			letter := emailing.Letter{Offering: offering, Files: map[string][]byte{}}
			letter.From.Address, letter.To.Address = x.from, x.to
			for _, earlier := range references {
				letter.References = append(letter.References, emailing.MessageID(earlier.id(), earlier.from))
			}
			for _, f := range x.files {
				letter.Files["cid:"+f.id] = []byte(f.body)
			}
			raw := must(emailing.Compose(must(agentmsg.Parse([]byte(x.envelope()))), letter, &stream{label: x.story.suite.name + " " + x.label}))
			return strings.ReplaceAll(string(raw), "\r\n", "\n")
		}
	}
}

// give gives the member of the message at a path another value, omit takes it
// away.
func give(path string, value any) edit {
	return func(x *exchange) {
		parent, last := walk(x.message, path)
		parent[last] = value
	}
}

func omit(path string) edit {
	return func(x *exchange) {
		parent, last := walk(x.message, path)
		if _, there := parent[last]; !there {
			panic(path + " is not there to be taken away")
		}
		delete(parent, last)
	}
}

// says is the text of a request.
func says(text string) edit { return give("payload.input", map[string]any{"text": text}) }

// asksFor is a request for an offering with an input, nil for none.
func asksFor(offering string, input any) edit {
	payload := map[string]any{"offering": offering}
	if input != nil {
		payload["input"] = input
	}
	return give("payload", payload)
}

func ofTask(id string) edit { return give("task_id", id) }

// onItsWay changes the signed envelope, inMail the written mail.
func onItsWay(change func(string) string) edit { return func(x *exchange) { x.text = change } }
func inMail(change func(string) string) edit   { return func(x *exchange) { x.mail = change } }

// in writes the mail with another Content-Type and body.
func in(contentType, body string) edit {
	return func(x *exchange) { x.frame = carried(contentType, body) }
}

// headed puts further fields into the head of the mail.
func headed(fields string) edit { return func(x *exchange) { x.head = fields } }

// proven has the mail signed with DKIM by the domain of its sender.
func proven(x *exchange) { x.dkim = x.by.mail }

// pinned describes a file (§7.5).
func pinned(f enclosure) map[string]any {
	sum := sha256.Sum256([]byte(f.body))
	return map[string]any{
		"name": f.name, "media_type": f.mediaType, "size": len(f.body), "digest": "sha256:" + hex.EncodeToString(sum[:]), "ref": "cid:" + f.id,
	}
}

// ts is when the message says that it was signed.
func (x *exchange) ts() time.Time {
	return must(time.Parse(time.RFC3339, x.message["ts"].(string)))
}

const (
	second      = time.Second
	millisecond = time.Millisecond
)

// sign makes the message one of another agent.
func sign(by *agent) edit {
	return func(x *exchange) {
		x.by, x.from = by, by.mail.address
		give("from", by.id)(x)
		give("meta.email.address", by.mail.address)(x)
	}
}

// signedBy is a signature of an agent that need not be the one in from.
func signedBy(by *agent, tag string) func([]byte) string {
	return func(canonical []byte) string { return signed(by.key, tag, canonical) }
}

// secretText is the private sealing key of an agent as a suite has it.
func secretText(name string) string {
	secret := digest("sealing key of " + name)
	return base64.RawURLEncoding.EncodeToString(secret[:])
}

// sealedTo seals the input, or the output, to an agent, with the key of
// another for the answer.
func sealedTo(to, answer *agent) edit {
	return func(x *exchange) {
		plain := must(canon.Marshal(x.message["payload"].(map[string]any)["input"]))
		sealedAs(string(plain), to, func(sealed map[string]any) { sealed["reply_key"] = answer.sealing.Public() })(x)
	}
}

// cancelTask is a request to end a task.
func (t *story) cancelTask(by *agent, task, reason string, edits ...edit) *exchange {
	return t.request(by, asksFor("task.cancel", map[string]any{"task_id": task, "reason": reason}), ofTask(task), both(edits...))
}

// plainMail is what a person writes: no message in it.
func (t *story) plainMail(from string, edits ...edit) *exchange {
	x := t.exchange(&agent{id: "", mail: &side{address: from, dkim: t.suite.world.buyer.dkim}}, t.suite.agents.own, "")
	x.words = "Do you have the blue mugs?\n"
	x.frame = func(x *exchange) string { return x.fields() + textPart + x.words }
	both(edits...)(x)
	return x
}

// report is a delivery report (RFC 3464) about a mail from here, which it
// returns whole.
func (t *story) report(about *exchange, action, status string, edits ...edit) *exchange {
	x := t.plainMail("mailer-daemon@helper.test", headed("Auto-Submitted: auto-replied\n"))
	x.frame = func(x *exchange) string {
		return x.fields() + "Content-Type: multipart/report; report-type=delivery-status; boundary=\"r0\"\n\n" +
			"--r0\n" + textPart + "Your mail did not arrive yet.\n--r0\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.helper.test\n\n" +
			"Final-Recipient: rfc822; " + about.to + "\nAction: " + action + "\nStatus: " + status + "\n\n" +
			"--r0\nContent-Type: message/rfc822\n\n" + strings.ReplaceAll(about.raw(), "\r\n", "\n") + "\n--r0--\n"
	}
	both(edits...)(x)
	return x
}
