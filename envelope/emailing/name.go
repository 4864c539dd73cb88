package emailing

import (
	"io"
	"iter"
	"mime"
	"net/url"
	"strconv"
	"strings"

	"github.com/agentmaild/agentmaild/envelope"
)

// isEnvelope tells whether a part is named envelope.json, by Content-Disposition
// or Content-Type, in the form of RFC 2231, of RFC 2047 or none (E3). Where it
// has several names one is enough: a second message must not hide behind a
// name that this reader passes over. In every charset that mail uses, the bytes
// of this name are its ASCII, so none is looked at.
func isEnvelope(p *envelope.Part) bool {
	for _, f := range p.Header {
		switch strings.ToLower(f.Name) {
		case "content-disposition":
			if names(f.Value, "filename") {
				return true
			}
		case "content-type":
			if names(f.Value, "name") {
				return true
			}
		}
	}
	return false
}

// names tells whether a parameter of a field says envelope.json. The library's
// reader refuses a field for one bad parameter, and drops names in charsets
// that it does not know.
func names(field, parameter string) bool {
	pieces := map[string]string{} // by number, RFC 2231 §3
	for key, value := range parameters(field) {
		name, section, starred := strings.Cut(key, "*")
		section, encoded := strings.CutSuffix(section, "*")
		switch {
		case name != parameter:
		case !starred:
			if isName(decodeWords(value)) {
				return true
			}
		case section == "": // the whole name, RFC 2231 §4
			if isName(percentDecode(afterCharset(value))) {
				return true
			}
		default:
			if encoded && section == "0" {
				value = afterCharset(value)
			}
			if encoded {
				value = percentDecode(value)
			}
			pieces[section] = value
		}
	}
	var whole strings.Builder
	for n := range len(pieces) {
		whole.WriteString(pieces[strconv.Itoa(n)])
	}
	return isName(whole.String())
}

// isName does not fold letters that are no ASCII to ASCII ones, as
// strings.EqualFold does.
func isName(name string) bool { return strings.ToLower(name) == envelopeName }

// parameters yields the parameters of a field, their names in lower case,
// without minding what the field's grammar forbids.
func parameters(field string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		_, rest := cutUnquoted(field)
		for rest != "" {
			var parameter string
			parameter, rest = cutUnquoted(rest)
			key, value, _ := strings.Cut(parameter, "=")
			if !yield(strings.ToLower(strings.TrimSpace(key)), unquote(strings.TrimSpace(value))) {
				return
			}
		}
	}
}

// cutUnquoted cuts a field at its first semicolon outside quotes.
func cutUnquoted(field string) (before, after string) {
	quoted := false
	for i := 0; i < len(field); i++ {
		switch c := field[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ';' && !quoted:
			return field[:i], field[i+1:]
		}
	}
	return field, ""
}

// unquote takes the quotes off a quoted string (RFC 5322 §3.2.4).
func unquote(value string) string {
	inner, ok := strings.CutPrefix(value, `"`)
	if !ok {
		return value
	}
	inner = strings.TrimSuffix(inner, `"`)
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' && i+1 < len(inner) {
			i++
		}
		b.WriteByte(inner[i])
	}
	return b.String()
}

// decodeWords undoes RFC 2047, which forbids itself in parameters (§5) and is
// used there all the same.
func decodeWords(value string) string {
	words := mime.WordDecoder{CharsetReader: func(_ string, text io.Reader) (io.Reader, error) { return text, nil }}
	decoded, err := words.DecodeHeader(value)
	if err != nil {
		return value
	}
	return decoded
}

// afterCharset cuts charset and language off an encoded value.
func afterCharset(value string) string {
	if parts := strings.SplitN(value, "'", 3); len(parts) == 3 {
		return parts[2]
	}
	return value
}

func percentDecode(value string) string {
	decoded, err := url.PathUnescape(value)
	if err != nil {
		return value
	}
	return decoded
}
