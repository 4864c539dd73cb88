package emailing

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"pgregory.net/rapid"
)

// carrier does to a mail what mail systems do, and keeps its values: it
// encodes and wraps anew, orders and escapes the members of the message
// otherwise, renames types, writes names in another form, adds parts and
// fields, and forwards.
type carrier struct {
	t          *rapid.T
	boundaries int
}

func (c *carrier) flips(what string) bool { return rapid.Bool().Draw(c.t, what) }

func (c *carrier) pick(what string, from ...string) string {
	return rapid.SampledFrom(from).Draw(c.t, what)
}

// carry is the mail as it arrives.
func (c *carrier) carry(raw []byte) []byte {
	m := read(c.t, raw)
	mail := "Received: from relay.test\r\nFrom: Buyer <agent@buyer.test>\r\nX-Spam: no\r\n" + c.node(m.Root)
	switch c.pick("forward", "", "", "attached", "encoded", "inline") {
	case "attached":
		mail = c.multipart(plain, part("Content-Type: message/rfc822\nContent-Disposition: attachment; filename=\"mail.eml\"", mail))
	case "encoded": // RFC 2046 §5.2.1 forbids it
		mail = c.multipart(plain, part("Content-Type: message/rfc822\nContent-Transfer-Encoding: base64", c.wrap(base64.StdEncoding.EncodeToString([]byte(mail)), "\r\n")))
	case "inline":
		mail = c.multipart(plain, c.node(m.Root))
	}
	if c.flips("bare LF") {
		mail = strings.ReplaceAll(mail, "\r\n", "\n")
	}
	return []byte(mail)
}

func (c *carrier) multipart(parts ...string) string {
	c.boundaries++
	return multipart(fmt.Sprintf("carrier%06d", c.boundaries), parts...)
}

func (c *carrier) node(p *envelope.Part) string {
	if len(p.Parts) == 0 {
		return c.leaf(p)
	}
	var parts []string
	for _, child := range p.Parts {
		parts = append(parts, c.node(child))
	}
	if c.flips("a footer") {
		parts = append(parts, part("Content-Type: text/plain", "This mail was scanned."))
	}
	if len(parts) > 1 && c.flips("one more multipart") {
		parts = append(parts[:1:1], c.multipart(parts[1:]...))
	}
	return c.multipart(parts...)
}

func (c *carrier) leaf(p *envelope.Part) string {
	var data bytes.Buffer
	if err := p.DecodeTo(&data, 1<<20); err != nil {
		c.t.Fatal(err)
	}
	body := data.Bytes()
	var header []string
	switch {
	case isEnvelope(p):
		body = c.values(body)
		header = c.named(c.pick("type", "application/json", "application/octet-stream", "text/plain; charset=utf-8", "text/plain; charset=iso-8859-1", "APPLICATION/JSON", "text/json"), c.pick("case", "envelope.json", "ENVELOPE.JSON", "Envelope.json"))
	case p.Header.Count("Content-ID") == 1:
		header = append(c.named(c.pick("type", p.Type, "application/octet-stream", "text/plain; charset=iso-8859-1"), "file.bin"), "Content-ID: "+p.Header.Get("Content-ID"))
	default:
		header = []string{"Content-Type: " + p.Type}
	}
	encoding, text := c.encode(body)
	header = append(header, "Content-Transfer-Encoding: "+encoding)
	return part(strings.Join(rapid.Permutation(header).Draw(c.t, "order of fields"), "\n"), text)
}

// named are the fields that give a part its type and name.
func (c *carrier) named(mediaType, name string) []string {
	where := c.pick("name in", "disposition", "type", "both")
	if where == "disposition" {
		return []string{"Content-Type: " + mediaType, "Content-Disposition: " + c.pick("disposition", "attachment", "inline") + c.parameter("filename", name)}
	}
	fields := []string{"Content-Type: " + mediaType + c.parameter("name", name)}
	if where == "both" {
		fields = append(fields, "Content-Disposition: attachment"+c.parameter("filename", name))
	}
	return fields
}

func (c *carrier) parameter(key, name string) string {
	switch c.pick("form of the name", "quoted", "token", "charset", "pieces", "encoded pieces", "words") {
	case "quoted":
		return "; " + key + `="` + name + `"`
	case "token":
		return ";\n\t" + key + "=" + name
	case "charset":
		return "; " + key + "*=" + c.pick("charset", "utf-8", "ISO-8859-1", "us-ascii") + "''" + strings.Replace(name, ".", "%2E", 1)
	case "pieces":
		return ";\n " + key + `*0="` + name[:5] + `";` + "\n " + key + "*1=" + name[5:]
	case "encoded pieces":
		return ";\n " + key + "*0*=utf-8'en'" + name[:4] + ";\n " + key + "*1*=" + fmt.Sprintf("%%%02X", name[4]) + ";\n " + key + "*2=" + name[5:]
	default:
		return "; " + key + `="=?` + c.pick("charset", "utf-8", "windows-1252", "GB2312") + `?B?` + base64.StdEncoding.EncodeToString([]byte(name)) + `?="`
	}
}

// encode gives a body one of the transfer encodings that it fits.
func (c *carrier) encode(body []byte) (encoding, text string) {
	encodings := []string{"base64", "quoted-printable"}
	pairs := bytes.Count(body, []byte("\r\n"))
	if bytes.Count(body, []byte{'\r'}) == pairs && bytes.Count(body, []byte{'\n'}) == pairs {
		encodings = append(encodings, "8bit")
	}
	switch encoding = c.pick("encoding", encodings...); encoding {
	case "base64":
		text = c.wrap(base64.StdEncoding.EncodeToString(body), "\r\n")
	case "quoted-printable":
		text = c.quoted(body)
	default:
		text = string(body)
	}
	return c.pick("case", encoding, strings.ToUpper(encoding)), text
}

func (c *carrier) wrap(text, end string) string {
	width := rapid.SampledFrom([]int{4, 60, 76, 998}).Draw(c.t, "width")
	var lines []string
	for line := range slices.Chunk([]byte(text), width) {
		lines = append(lines, string(line))
	}
	return strings.Join(lines, end)
}

// quoted is quoted-printable with all that is no letter or digit encoded, but
// for line ends.
func (c *carrier) quoted(body []byte) string {
	hex := rapid.SampledFrom([]string{"=%02X", "=%02x"}).Draw(c.t, "hex")
	var b strings.Builder
	for i, char := range body {
		if i%20 == 19 {
			b.WriteString("=" + c.pick("transport padding", "", " ") + "\r\n")
		}
		if '0' <= char && char <= '9' || 'a' <= char && char <= 'z' {
			b.WriteByte(char)
		} else {
			fmt.Fprintf(&b, hex, char)
		}
	}
	return b.String()
}

// values is the same JSON in other bytes.
func (c *carrier) values(data []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		c.t.Fatal(err)
	}
	var b strings.Builder
	c.write(&b, v, c.pick("space", "", " ", "\r\n\t"), c.flips("escaped"))
	return []byte(b.String())
}

func (c *carrier) write(b *strings.Builder, v any, space string, escaped bool) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteString("{" + space)
		for i, key := range rapid.Permutation(slices.Sorted(maps.Keys(v))).Draw(c.t, "order of members") {
			if i > 0 {
				b.WriteString(space + "," + space)
			}
			c.write(b, key, space, escaped)
			b.WriteString(space + ":" + space)
			c.write(b, v[key], space, escaped)
		}
		b.WriteString(space + "}")
	case []any:
		b.WriteString("[" + space)
		for i, item := range v {
			if i > 0 {
				b.WriteString("," + space)
			}
			c.write(b, item, space, escaped)
		}
		b.WriteString("]")
	case string:
		plain, _ := json.Marshal(v)
		if escaped && v != "" && v[0] < 0x80 {
			plain = fmt.Appendf(nil, `"\u%04x%s`, v[0], marshal(v[1:])[1:])
		}
		b.Write(plain)
	default:
		b.Write(marshal(v))
	}
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// A mail that a carrier changed in any such way, and another after it, holds
// the same message and the same files.
func TestCarriers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := letter()
		var files []agentmsg.File
		for i := range rapid.IntRange(0, 2).Draw(t, "files") {
			ref, body := fmt.Sprintf("cid:%d@buyer.test", i), rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Just([]byte("a line\r\nanother\r\n"))).Draw(t, "body")
			l.Files[ref] = body
			files = append(files, pinned("file.bin", ref, body))
		}
		m := sign(t, chat(hostile().Draw(t, "text"), files...))
		raw := compose(t, m, l)
		c := &carrier{t: t}
		for range rapid.IntRange(1, 2).Draw(t, "carriers") {
			raw = c.carryOnce(raw)
		}
		found, got := received(t, raw)
		if !bytes.Equal(got.Bytes(), m.Bytes()) {
			t.Errorf("%s; want %s", got.Bytes(), m.Bytes())
		}
		for _, f := range got.Files() {
			if state, body := copied(t, found, f); state != FileIntact || !bytes.Equal(body, l.Files[f.Ref]) {
				t.Errorf("%s: %s in\n%s", f.Ref, state, raw)
			}
		}
	})
}

// carryOnce leaves a mail that is a forward already as it is: what is in it no
// carrier takes apart.
func (c *carrier) carryOnce(raw []byte) []byte {
	if bytes.Contains(raw, []byte("message/rfc822")) {
		return raw
	}
	return c.carry(raw)
}
