package main

import (
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

// What a mail written by hand is made of, with LF line ends.
const (
	mixed       = `multipart/mixed; boundary="b0"`
	machineHead = `Content-Type: application/ld+json; profile="` + intent.ProfileURL + `"`
	baseBody    = "--b0\n{text}\n--b0\n{machine}\n--b0--\n"
)

// byHand is an unsigned offer of times in a mail written by hand: short, and
// every line of it where it can be seen.
func byHand(t *story) *letter {
	l := unsignedTimes(t)
	built(mixed, baseBody)(l)
	sealed(nil)(l)
	return l
}

// built gives the mail a Content-Type and a body. {machine} stands for the
// machine part with its header, {json} for the message alone, {text} for a
// text part.
func built(contentType, body string) change {
	return func(l *letter) {
		l.frame = func(l *letter, text string) string {
			return head(l) + "Content-Type: " + contentType + "\n\n" + expand(body, text)
		}
	}
}

func head(l *letter) string {
	return "From: Buyer agent <" + l.by.address + ">\n" +
		"To: agent@seller.test\n" +
		"Subject: Proposed times\n" +
		"Date: " + time.Unix(l.Iat, 0).UTC().Format("Mon, 02 Jan 2006 15:04:05 +0000") + "\n" +
		"Message-ID: " + l.MessageID() + "\n" +
		"MIME-Version: 1.0\n"
}

func expand(body, text string) string {
	text = strings.NewReplacer(`{"`, "{\n\"", `,"`, ",\n\"", `,{`, ",\n{").Replace(text)
	return strings.NewReplacer(
		"{text}", "Content-Type: text/plain; charset=utf-8\n\nSee the other part.",
		"{machine}", machineHead+"\n\n"+text,
		"{json}", text,
	).Replace(body)
}

// withHead puts further fields into the head of the machine part.
func withHead(fields string) change {
	return built(mixed, "--b0\n{text}\n--b0\n"+machineHead+"\n"+fields+"\n\n{json}\n--b0--\n")
}

// withType gives the machine part another type.
func withType(contentType string) change {
	return built(mixed, "--b0\n{text}\n--b0\nContent-Type: "+contentType+"\n\n{json}\n--b0--\n")
}
