package emailing

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope"
)

const wanted = `{"the":"message"}`

// multipart is a node of parts, each with its header.
func multipart(boundary string, parts ...string) string {
	var b strings.Builder
	b.WriteString("Content-Type: multipart/mixed; boundary=\"" + boundary + "\"\r\n\r\n")
	for _, p := range parts {
		b.WriteString("--" + boundary + "\r\n" + p + "\r\n")
	}
	return b.String() + "--" + boundary + "--\r\n"
}

func part(header, body string) string {
	return strings.ReplaceAll(header, "\n", "\r\n") + "\r\n\r\n" + body
}

// forward is a message in a mail.
func forward(message string) string {
	return part("Content-Type: message/rfc822", "From: a@b.test\r\n"+message)
}

// nested puts a node into so many others.
func nested(name string, levels int, inner string) string {
	for i := range levels {
		inner = multipart(fmt.Sprintf("%s%06d", name, i), inner)
	}
	return inner
}

var (
	plain      = part("Content-Type: text/plain", "words")
	attached   = part("Content-Type: application/json\nContent-Disposition: attachment; filename=\"envelope.json\"", wanted)
	typeNamed  = part("Content-Type: application/json; name=envelope.json", wanted)
	unreadable = part("Content-Type: message/rfc822", "From: a@b.test\r\n"+strings.TrimSuffix(multipart("in", attached), "--in--\r\n"))
)

func find(t testing.TB, mail string) (*Found, error) {
	t.Helper()
	m, err := envelope.Read([]byte(mail))
	if err != nil {
		t.Fatal(err)
	}
	return Find(m)
}

// E3: the one part of this name, wherever it is.
func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		mail string
		want error
	}{
		"beside words":                       {multipart("b", plain, attached), nil},
		"by its type":                        {multipart("b", plain, typeNamed), nil},
		"the root itself":                    {attached, nil},
		"the root, by its type":              {typeNamed, nil},
		"in multiparts":                      {nested("outer", 3, attached), nil},
		"a forward":                          {multipart("b", plain, forward(multipart("c", plain, attached))), nil},
		"a forward of the message alone":     {multipart("b", plain, forward(attached)), nil},
		"the whole mail a forward":           {forward(multipart("c", plain, attached)), nil},
		"a forward of a forward":             {multipart("b", forward(multipart("c", forward(multipart("d", attached))))), nil},
		"eight levels":                       {nested("outer", 8, attached), nil},
		"nine levels":                        {nested("outer", 9, attached), ErrNone},
		"eight levels, two of a forward":     {nested("outer", 3, forward(nested("inner", 4, attached))), nil},
		"nine levels, two of a forward":      {nested("outer", 4, forward(nested("inner", 4, attached))), ErrNone},
		"none":                               {multipart("b", plain), ErrNone},
		"no mail but words":                  {plain, ErrNone},
		"two":                                {multipart("b", attached, attached), ErrSeveral},
		"two, the same in a forward":         {multipart("b", attached, forward(multipart("c", attached))), ErrSeveral},
		"two, by their types":                {multipart("b", typeNamed, attached), ErrSeveral},
		"two, one beyond eight levels":       {multipart("b", attached, nested("outer", 8, attached)), nil},
		"a multipart of this name":           {strings.Replace(multipart("b", plain, attached), "boundary=", "name=envelope.json; boundary=", 1), nil},
		"a multipart of this name, no part":  {strings.Replace(multipart("b", plain), "boundary=", "name=envelope.json; boundary=", 1), ErrNone},
		"a forward of this name":             {multipart("b", strings.Replace(forward(plain), "rfc822", "rfc822; name=envelope.json", 1)), ErrNone},
		"beside a forward that is broken":    {multipart("b", attached, unreadable), nil},
		"in a forward that is broken":        {multipart("b", plain, unreadable), ErrNone},
		"in a message of another kind":       {multipart("b", part("Content-Type: message/partial", attached)), ErrNone},
		"the last of a hundred parts":        {multipart("b", strings.Split(strings.Repeat(plain+"|", 99)+attached, "|")...), nil},
		"behind a hundred parts in forwards": {multipart("b", append(strings.Split(strings.Repeat(forward(plain)+"|", 50), "|")[:50], attached)...), ErrNone},
		"in base64, broken":                  {strings.Replace(attached, "\r\n\r\n", "\r\nContent-Transfer-Encoding: base64\r\n\r\n!", 1), ErrUnreadable},
		"said to be in another charset":      {strings.Replace(attached, "application/json", "application/json; charset=utf-16", 1), nil},
		"a megabyte":                         {strings.Replace(attached, wanted, strings.Repeat(" ", 1<<20-len(wanted))+wanted, 1), nil},
		"a megabyte and a byte":              {strings.Replace(attached, wanted, strings.Repeat(" ", 1<<20-len(wanted)+1)+wanted, 1), ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := find(t, c.mail)
			if !errors.Is(err, c.want) || (got == nil) != (c.want != nil) {
				t.Fatalf("%v; want %v", err, c.want)
			}
			if got != nil && strings.TrimSpace(string(got.Envelope)) != wanted {
				t.Errorf("%q", got.Envelope)
			}
		})
	}
}

// E3: every spelling of the name.
func TestNames(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte("envelope.json"))
	for value, want := range map[string]bool{
		`attachment; filename="envelope.json"`:                                          true,
		`attachment; filename=envelope.json`:                                            true,
		`attachment; filename=envelope.json; size=20`:                                   true,
		`inline; filename="ENVELOPE.Json"`:                                              true,
		`attachment; FileName = "envelope.json"`:                                        true,
		`attachment; filename="envelope\.json"`:                                         true,
		`attachment; x="; filename=a.json"; filename="envelope.json"`:                   true,
		`attachment; x="\"; "; filename="envelope.json"`:                                true,
		`attachment; filename*=utf-8''envelope.json`:                                    true,
		`attachment; filename*=UTF-8'en'%65nvelope%2Ejson`:                              true,
		`attachment; filename*=iso-8859-15''envelope.json`:                              true,
		`attachment; filename*=''envelope.json`:                                         true,
		`attachment; filename=a.json; filename*=utf-8''envelope.json`:                   true,
		`attachment; filename=envelope.json; filename*=utf-8''a.json`:                   true,
		`attachment; filename*0=envelope; filename*1=.json`:                             true,
		`attachment; filename*1=.json; filename*0="envelope"`:                           true,
		`attachment; filename*0*=utf-8''%65nvel; filename*1*=op%65; filename*2=".json"`: true,
		`attachment; filename*0=e; filename*1=n; filename*2=velope.jso; filename*3*=n`:  true,
		`attachment; filename="=?utf-8?Q?envelope=2Ejson?="`:                            true,
		`attachment; filename==?UTF-8?B?` + encoded + `?=`:                              true,
		`attachment; filename="=?koi8-r?B?` + encoded + `?="`:                           true,
		`attachment; filename="=?utf-8?Q?envelope?= =?utf-8?Q?=2Ejson?="`:               true,
		`attachment`:                                        false,
		`attachment; filename=""`:                           false,
		`attachment; filename=`:                             false,
		`attachment; filename`:                              false,
		`attachment; filename="my envelope.json"`:           false,
		`attachment; filename="envelope.json.txt"`:          false,
		`attachment; filename="x/envelope.json"`:            false,
		"attachment; filename=\"envelope.j\u017fon\"":       false, // a long s, which some folding makes an s
		`attachment; filename="envelope.json`:               true,
		`attachment; name="envelope.json"`:                  false,
		`attachment; x="; filename=envelope.json"`:          false,
		`envelope.json`:                                     false,
		`filename=envelope.json`:                            false, // the disposition itself
		`attachment; filename*0=envelope; filename*2=.json`: false,
		`attachment; filename*=utf-8''envelope%ZZjson`:      false,
		`attachment; filename*0*=utf-8''en; filename*1*=v`:  false,
		`attachment; filename="=?utf-8?X?envelope.json?="`:  false,
		`attachment; filename*0=utf-8''envelope.json`:       false, // not encoded, so no charset
	} {
		p := &envelope.Part{Header: envelope.Header{{Name: "Content-Disposition", Value: value}}}
		if got := isEnvelope(p); got != want {
			t.Errorf("%s: %v", value, got)
		}
		p.Header[0] = envelope.Field{Name: "content-type", Value: strings.ReplaceAll(strings.ReplaceAll(value, "filename", "name"), "FileName", "NAME")}
		if got := isEnvelope(p); got != want && !strings.Contains(value, " name=") {
			t.Errorf("%s: %v", p.Header[0].Value, got)
		}
	}
}
