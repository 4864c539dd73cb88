package dkim

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Bounds of a tag list. Real ones have a dozen tags and under 4 KiB.
const (
	maxTagList = 16 << 10
	maxTags    = 64
)

// foldingSpace is the white space allowed around and inside tag values.
const foldingSpace = " \t\r\n"

// tag is one name=value of a tag list.
type tag struct {
	name  string
	value string // without the white space around it
	// The value with the white space around it is text[start:end].
	start, end int
}

type tagList []tag

// parseTags reads a tag list (RFC 6376 §3.2). Names keep their letter case.
func parseTags(text string) (tagList, error) {
	if len(text) > maxTagList {
		return nil, fmt.Errorf("a tag list over %d bytes", maxTagList)
	}
	list := make(tagList, 0, 12)
	for at := 0; at < len(text); {
		end := len(text)
		if length := strings.IndexByte(text[at:], ';'); length >= 0 {
			end = at + length
		}
		t, err := parseTag(text[:end], at)
		if err != nil {
			return nil, err
		}
		// RFC 6376 §3.2: two readers would take different ones.
		if _, twice := list.get(t.name); twice {
			return nil, fmt.Errorf("the tag %s= stands twice", t.name)
		}
		if list = append(list, t); len(list) > maxTags {
			return nil, fmt.Errorf("more than %d tags", maxTags)
		}
		at = end + 1
		if strings.Trim(text[min(at, len(text)):], foldingSpace) == "" {
			break // the list may end in a semicolon
		}
	}
	if len(list) == 0 {
		return nil, errors.New("an empty tag list")
	}
	return list, nil
}

// parseTag reads the one tag that is text[at:].
func parseTag(text string, at int) (tag, error) {
	name, value, found := strings.Cut(text[at:], "=")
	t := tag{
		name:  strings.Trim(name, foldingSpace),
		value: strings.Trim(value, foldingSpace),
		start: at + len(name) + 1,
		end:   len(text),
	}
	if !found || !isTagName(t.name) || !isTagValue(value) {
		return tag{}, fmt.Errorf("%.40q is no tag", strings.Trim(text[at:], foldingSpace))
	}
	return t, nil
}

// get returns the value of a tag and whether it is there.
func (l tagList) get(name string) (string, bool) {
	for _, t := range l {
		if t.name == name {
			return t.value, true
		}
	}
	return "", false
}

// has tells whether the colon-separated value of a tag holds one of words,
// without letter case. An absent tag has all.
func (l tagList) has(name string, words ...string) bool {
	value, found := l.get(name)
	if !found {
		return true
	}
	for _, item := range splitList(value) {
		for _, word := range words {
			if item == word {
				return true
			}
		}
	}
	return false
}

// splitList reads a colon-separated value, in lower case, without the white
// space around the colons.
func splitList(value string) []string {
	items := strings.Split(strings.ToLower(value), ":")
	for i, item := range items {
		items[i] = strings.Trim(item, foldingSpace)
	}
	return items
}

// decodeBase64 reads a value that may be folded anywhere (RFC 6376 §3.2,
// base64string). Bits left over must be zero: one value has one spelling.
func decodeBase64(value string) ([]byte, error) {
	value = strings.Join(strings.FieldsFunc(value, func(r rune) bool {
		return strings.ContainsRune(foldingSpace, r)
	}), "")
	return base64.StdEncoding.Strict().DecodeString(value)
}

func isTagName(name string) bool {
	for i := range len(name) {
		letter := name[i]|0x20 >= 'a' && name[i]|0x20 <= 'z'
		digit := name[i] >= '0' && name[i] <= '9' || name[i] == '_'
		if !letter && (i == 0 || !digit) {
			return false
		}
	}
	return name != ""
}

// isTagValue allows printable ASCII and white space, with line ends only where
// a line is folded.
func isTagValue(value string) bool {
	for i := 0; i < len(value); i++ {
		switch b := value[i]; {
		case b > ' ' && b <= '~' || isSpace(b):
		case strings.HasPrefix(value[i:], "\r\n ") || strings.HasPrefix(value[i:], "\r\n\t"):
			i++
		default:
			return false
		}
	}
	return true
}
