package main

import (
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/agentmaild/agentmaild/dkim"
)

// dkimKey signs mails. Unlike the daemon's it signs whatever it is told to.
type dkimKey interface {
	sign(digest [32]byte) []byte
	record() string
}

// rsaKey may be too small or too large for the standard library to sign with.
type rsaKey struct{ private *rsa.PrivateKey }

// sign is RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2.1).
func (k rsaKey) sign(digest [32]byte) []byte {
	info := append([]byte("\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"), digest[:]...)
	size := (k.private.N.BitLen() + 7) / 8
	padded := append([]byte{0, 1}, []byte(strings.Repeat("\xff", size-len(info)-3))...)
	padded = append(append(padded, 0), info...)
	m := new(big.Int).SetBytes(padded)
	return m.Exp(m, k.private.D, k.private.N).FillBytes(make([]byte, size))
}

func (k rsaKey) record() string { return dkim.KeyRecord(&k.private.PublicKey) }

type edKey struct{ private ed25519.PrivateKey }

func (k edKey) sign(digest [32]byte) []byte { return ed25519.Sign(k.private, digest[:]) }

func (k edKey) record() string { return dkim.KeyRecord(k.private.Public()) }

// seal is a DKIM signature to be made, right or wrong.
type seal struct {
	key              dkimKey
	algorithm, form  string // a= and c=
	domain, selector string
	made             int64
	names            []string            // h=
	tags             func(string) string // changes the field before it is signed
	body             func(string) string // what of the canonical body is hashed
	value            func([]byte) []byte // changes the signature
	ending           string              // behind the signature
	first            bool                // b= is the first tag
}

// sealed signs the mail with a signature that differs from a plain one.
func sealed(edit func(*seal)) change {
	return func(l *letter) { l.seal = l.sealWith(edit) }
}

func (l *letter) sealWith(edit func(*seal)) func(string) string {
	s := &seal{
		key: l.by.dkim, algorithm: "rsa-sha256", form: "relaxed/relaxed", domain: l.by.domain(), selector: "s1", made: l.sealed,
		names: strings.Fields("From From To Subject Date Message-ID MIME-Version Content-Type"),
	}
	if edit != nil {
		edit(s)
	}
	return s.sign
}

// sign puts the field on top of a mail (RFC 6376 §3.7).
func (s *seal) sign(mail string) string {
	head, body, _ := strings.Cut(mail, "\r\n\r\n")
	headerForm, bodyForm, _ := strings.Cut(s.form, "/")
	content := canonicalBody(bodyForm, body)
	if s.body != nil {
		content = s.body(content)
	}
	hash := sha256.Sum256([]byte(content))
	field := fmt.Sprintf("DKIM-Signature: v=1; a=%s; c=%s; d=%s; s=%s; t=%d;\r\n\th=%s;\r\n\tbh=%s;\r\n\tb=",
		s.algorithm, s.form, s.domain, s.selector, s.made, strings.Join(s.names, ":"), base64.StdEncoding.EncodeToString(hash[:]))
	if s.tags != nil {
		field = s.tags(field)
	}
	field, rest := field, s.ending
	if s.first {
		field, rest = "DKIM-Signature: b=", "; "+strings.TrimSuffix(strings.TrimPrefix(field, "DKIM-Signature: "), ";\r\n\tb=")
	}
	signed := canonicalFields(headerForm, pick(fieldsOf(head), s.names)) + strings.TrimSuffix(canonicalFields(headerForm, []string{field + rest}), "\r\n")
	value := s.key.sign(sha256.Sum256([]byte(signed)))
	if s.value != nil {
		value = s.value(value)
	}
	return field + fold(base64.StdEncoding.EncodeToString(value)) + rest + "\r\n" + mail
}

func fold(text string) string {
	var lines []string
	for len(text) > 72 {
		lines, text = append(lines, text[:72]), text[72:]
	}
	return strings.Join(append(lines, text), "\r\n\t ")
}

// fieldsOf cuts a header block into fields, each with its continuations and
// without the last line end.
func fieldsOf(head string) []string {
	var fields []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if n := len(fields); n > 0 && strings.HasPrefix(line, " ") || n > 0 && strings.HasPrefix(line, "\t") {
			fields[n-1] += "\r\n" + line
		} else {
			fields = append(fields, line)
		}
	}
	return fields
}

// pick takes the fields that h= names, each name from the bottom up (RFC 6376
// §5.4.2).
func pick(fields, names []string) []string {
	var picked []string
	used := map[int]bool{}
	for _, name := range names {
		for i := len(fields) - 1; i >= 0; i-- {
			if got, _, _ := strings.Cut(fields[i], ":"); !used[i] && strings.EqualFold(strings.TrimSpace(got), name) {
				used[i] = true
				picked = append(picked, fields[i])
				break
			}
		}
	}
	return picked
}

var (
	spaces   = regexp.MustCompile("[ \t]+")
	trailing = regexp.MustCompile("[ \t]+\r\n")
)

// canonicalFields is RFC 6376 §3.4.1 and §3.4.2.
func canonicalFields(form string, fields []string) string {
	var b strings.Builder
	for _, field := range fields {
		if form == "relaxed" {
			name, value, _ := strings.Cut(field, ":")
			value = spaces.ReplaceAllString(strings.ReplaceAll(value, "\r\n", ""), " ")
			field = strings.ToLower(strings.TrimSpace(name)) + ":" + strings.TrimSpace(value)
		}
		b.WriteString(field + "\r\n")
	}
	return b.String()
}

// canonicalBody is RFC 6376 §3.4.3 and §3.4.4.
func canonicalBody(form, body string) string {
	if body != "" && !strings.HasSuffix(body, "\r\n") {
		body += "\r\n"
	}
	if form == "relaxed" {
		body = spaces.ReplaceAllString(trailing.ReplaceAllString(body, "\r\n"), " ")
	}
	for strings.HasSuffix(body, "\r\n\r\n") {
		body = strings.TrimSuffix(body, "\r\n")
	}
	if body == "\r\n" && form == "relaxed" {
		return ""
	}
	return body
}
