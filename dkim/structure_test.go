package dkim

import (
	"strings"
	"testing"
)

// quoting is a text that holds a whole MIME body of another boundary.
const quoting = "--b1\r\nContent-Type: text/plain\r\n\r\nYou wrote:\r\n" +
	"--b2\r\nContent-Type: application/ld+json\r\n\r\n{}\r\n--b2--\r\n--b1--\r\n"

// Content-Type is not signed in any of these, as Gmail and Yahoo leave it.
func TestUnsignedContentType(t *testing.T) {
	unsigned := func(mutate func(*testing.T, *scene)) func(*testing.T, *scene) {
		return func(t *testing.T, s *scene) {
			s.replace(t, "mime-version:content-type;", "mime-version;")
			mutate(t, s)
		}
	}
	kind := func(value string) func(*testing.T, *scene) {
		return unsigned(damaging("multipart/mixed; boundary=\"b1\"", value))
	}
	body := func(body string) func(*testing.T, *scene) {
		return unsigned(func(_ *testing.T, s *scene) { s.body = body })
	}
	runCases(t, []testCase{
		{"ok_gmail_shape", unsigned(func(*testing.T, *scene) {}), Pass, "", 1},
		{"ok_preamble_epilogue_empty", body("A preamble.\r\n" + baseBody + "\r\n \r\n"), Pass, "", 1},
		{"ok_space_behind_delimiters", body(strings.ReplaceAll(baseBody, "--\r\n", "-- \t\r\n")), Pass, "", 1},
		{"ok_subtype", kind("multipart/alternative; boundary=b1"), Pass, "", 1},
		{"ok_content_type_unfolded", kind("MULTIPART/mixed;\r\n\tBoundary=\"b1\""), Pass, "", 1},
		{"ct_unsigned_swapped", unsigned(func(t *testing.T, s *scene) {
			s.body = quoting
			s.damage(t, "boundary=\"b1\"", "boundary=\"b2\"")
		}), Fail, "begin with its own delimiter", 0},
		{"boundary_prefix", kind("multipart/mixed; boundary=b"), Fail, "begin with its own", 0},
		{"boundary_longer", kind("multipart/mixed; boundary=b11"), Fail, "begin with its own", 0},
		{"ct_unsigned_singlepart", kind("application/ld+json"), Fail, "no multipart", 0},
		{"no_boundary", kind("multipart/mixed"), Fail, "no multipart with a boundary", 0},
		{"boundary_twice", kind("multipart/mixed; boundary=b1; boundary=b2"), Fail, "cannot be read", 0},
		{"boundary_extended", kind("multipart/mixed; boundary*0=b; boundary*1=1"), Fail, "extended form", 0},
		{"unreadable", kind("multipart/mixed; boundary"), Fail, "cannot be read", 0},
		{"missing", unsigned(damaging("Content-Type: multipart/mixed; boundary=\"b1\"\r\n", "")), Fail, "0 such fields", 0},
		{"twice", unsigned(damaging("MIME-Version", "Content-Type: multipart/mixed; boundary=b1\r\nMIME-Version")), Fail, "2 such fields", 0},
		{"close_delimiter_missing", body(strings.TrimSuffix(baseBody, "--b1--\r\n")), Fail, "end with its close", 0},
		{"epilogue", body(baseBody + "Something.\r\n"), Fail, "end with its close", 0},
		{"close_delimiter_glued", body(strings.TrimSuffix(baseBody, "--b1--\r\n") + "x--b1--\r\n"), Fail, "end with its close", 0},
		{"dashes_in_preamble", body("--x\r\n" + baseBody), Fail, "begin with its own", 0},
		{"only_close_delimiter", body("--b1--\r\n"), Fail, "begin with its own", 0},
		{"no_dashes", body("b1\r\n"), Fail, "begin with its own", 0},
		{"empty_body", body(""), Fail, "begin with its own", 0},
		{"bare_lf", body("x\n--b2\r\n" + baseBody), Fail, "bare CR or LF", 0},
		{"bare_cr", body("x\r--b2\r\n" + baseBody), Fail, "bare CR or LF", 0},
	})
	runCases(t, []testCase{
		// Signed once, another on top: the reader takes the top one.
		{"dkim_dup_content_type", damaging("MIME-Version", "Content-Type: text/plain\r\nMIME-Version"), Fail, "2 such fields", 0},
		{"ok_singlepart_signed", func(t *testing.T, s *scene) {
			s.replace(t, "multipart/mixed; boundary=\"b1\"", "application/ld+json")
		}, Pass, "", 1},
		{"ok_missing_signed", func(t *testing.T, s *scene) {
			s.replace(t, "Content-Type: multipart/mixed; boundary=\"b1\"\r\n", "")
		}, Pass, "", 1},
		{"missing_signed_added", func(t *testing.T, s *scene) {
			s.replace(t, "Content-Type: multipart/mixed; boundary=\"b1\"\r\n", "")
			s.damage(t, "MIME-Version", "Content-Type: text/html\r\nMIME-Version")
		}, Fail, "header was changed", 1},
	})
}
