package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/canon"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/go-json-experiment/json"
)

// letter is a message and the mail that carries it. Each func member, where
// it is set, changes what the step before it made; they stand in the order in
// which they are called.
type letter struct {
	intent.Message
	by      *side
	key     ed25519.PrivateKey // signs the message; nil leaves it unsigned
	jku     string
	answers *letter
	sealed  int64 // t= of the DKIM signature

	tree  func(map[string]any)                // the message, before it is hashed and signed
	token func(payload []byte) string         // makes the JWS, instead of the usual one
	part  func(string) string                 // the machine part, after the message was signed
	draft func(*envelope.Draft)               // the email
	frame func(l *letter, text string) string // writes the email, instead of the usual way
	mail  func(string) string                 // the written email, with LF line ends
	seal  func(string) string                 // signs the email, instead of the usual way
	after func(string) string                 // the signed email, with CRLF line ends

	story *story
	label string // names the mail's file
	file  string // once it was written
}

// change makes a letter different from the baseline.
type change func(*letter)

// all makes one change of several.
func all(changes ...change) change {
	return func(l *letter) {
		for _, c := range changes {
			c(l)
		}
	}
}

// copy is another mail with the same message.
func (l *letter) copy(changes ...change) *letter {
	c := *l
	c.file = ""
	c.label = l.label + "-copy"
	all(changes...)(&c)
	return &c
}

// canonical is what is hashed and signed.
func (l *letter) canonical() []byte {
	data := must(canon.Marshal(l.Message))
	if l.tree == nil {
		return data
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		panic(err)
	}
	l.tree(tree)
	return must(canon.Marshal(tree))
}

func (l *letter) hash() string { return canon.Hash(l.canonical()) }

func (l *letter) jws() string {
	switch {
	case l.token != nil:
		return l.token(l.canonical())
	case l.key != nil:
		return must(jws.Sign(l.key, l.jku, jws.TypMessage, l.canonical()))
	default:
		return ""
	}
}

// text is the machine part.
func (l *letter) text() string {
	text := string(l.canonical())
	if l.part != nil {
		text = l.part(text)
	}
	return text
}

// raw is the whole mail.
func (l *letter) raw() string {
	write := l.frame
	if write == nil {
		write = composed
	}
	text := write(l, l.text())
	if l.mail != nil {
		text = l.mail(text)
	}
	text = strings.ReplaceAll(text, "\n", "\r\n")
	if l.seal != nil {
		text = l.seal(text)
	} else {
		text = string(must(l.by.signer().Sign([]byte(text), time.Unix(l.sealed, 0))))
	}
	if l.after != nil {
		text = l.after(text)
	}
	return text
}

// composed writes the mail the way the daemon does.
func composed(l *letter, text string) string {
	parsed := &intent.Parsed{Message: l.Message, Canonical: []byte(text)}
	var refs []string
	if l.answers != nil {
		refs = []string{l.answers.MessageID()}
	}
	d := must(parsed.Draft(l.jws(), refs))
	if l.draft != nil {
		l.draft(&d)
	}
	raw := must(envelope.Compose(d, &stream{label: l.story.suite.name + " " + l.label}))
	return strings.ReplaceAll(string(raw), "\r\n", "\n")
}

// stream is bytes fixed by a label.
type stream struct {
	label string
	block uint64
	rest  []byte
}

// Read never fails.
func (s *stream) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		if len(s.rest) == 0 {
			sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(s.label), s.block))
			s.rest, s.block = sum[:], s.block+1
		}
		took := copy(p[n:], s.rest)
		n, s.rest = n+took, s.rest[took:]
	}
	return len(p), nil
}

// Changes that several groups make.

func unsigned(l *letter) { l.key = nil }

// tree changes members of the message before it is signed.
func tree(edit func(map[string]any)) change {
	return func(l *letter) { l.tree = edit }
}

// set gives the member at a path another value, del takes it away. A step of
// the path is a member or, as "0", the first element.
func set(path string, value any) change {
	return tree(func(m map[string]any) {
		parent, last := walk(m, path)
		parent[last] = value
	})
}

func del(path string) change {
	return tree(func(m map[string]any) {
		parent, last := walk(m, path)
		if _, there := parent[last]; !there {
			panic(path + " is not there to be taken away")
		}
		delete(parent, last)
	})
}

func walk(m map[string]any, path string) (parent map[string]any, last string) {
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		value := m[step]
		if list, ok := value.([]any); ok {
			value = list[0]
		}
		m = value.(map[string]any)
	}
	return m, steps[len(steps)-1]
}

// part changes the text of the machine part after the message was signed.
func part(edit func(string) string) change { return func(l *letter) { l.part = edit } }

// mailed changes the written email before it is signed, after the signed one.
func mailed(edit func(string) string) change { return func(l *letter) { l.mail = edit } }
func after(edit func(string) string) change  { return func(l *letter) { l.after = edit } }

// swap replaces the one place where old stands. A mutation that finds nothing
// to change would be a second baseline.
func swap(old, new string) func(string) string {
	return func(text string) string {
		if n := strings.Count(text, old); n != 1 {
			panic(strings.Join([]string{"swap:", old, "does not stand there exactly once in", text}, " "))
		}
		return strings.Replace(text, old, new, 1)
	}
}

func before(prefix string) func(string) string {
	return func(text string) string { return prefix + text }
}

func behind(suffix string) func(string) string {
	return func(text string) string { return text + suffix }
}

func only(text string) func(string) string { return func(string) string { return text } }
