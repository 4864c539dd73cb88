package emailing

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName is the greatest length of a safe name in bytes: file systems
// take 255, and whoever stores it may have to add some.
const maxFileName = 200

const maxExtension = 20 // bytes, with the dot

// nameMarks are the marks that stay in a name. Within one they mean nothing to
// a path or a file system.
const nameMarks = " ._-+(),"

// reservedName is a name that Windows takes for a device, whatever its
// extension.
var reservedName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])( *\.| *$)`)

// FileName makes a signed name one that a file may have on any system: its last
// element, of letters, digits and a few marks, with its extension; not hidden,
// no device, no option of a command, never empty, at most 200 bytes (D115). Two
// names may become one, and differ in letter case only: that is for the caller
// to see. A safe name stays as it is.
func FileName(name string) string {
	name = strings.ToValidUTF8(name, "_")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(c rune) rune {
		switch {
		case c == '\u00b9' || c == '\u00b2' || c == '\u00b3': // Windows reads COM¹ as COM1
			return '_'
		case unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsNumber(c) || strings.ContainsRune(nameMarks, c):
			return c
		default:
			return '_'
		}
	}, name)
	name = shorten(trimName(name))
	if reservedName.MatchString(name) {
		name = shorten("_" + name)
	}
	if name == "" {
		return "file"
	}
	return name
}

// trimName takes off what hides a file or is an option at the start, and what
// Windows drops at the end.
func trimName(name string) string {
	return strings.TrimRight(strings.TrimLeft(name, " .-+"), " .")
}

// shorten cuts the stem of a name that is too long; an extension that is a
// text of its own is cut with it.
func shorten(name string) string {
	if len(name) <= maxFileName {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > maxExtension {
		ext = ""
	}
	stem := name[:maxFileName-len(ext)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	return strings.TrimRight(stem, " .") + ext
}
