package emailing

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"agenda.txt":                      "agenda.txt",
		"Größe (2), v1.0_final-x+y.txt":   "Größe (2), v1.0_final-x+y.txt",
		"日本語.pdf":                         "日本語.pdf",
		"":                                "file",
		".":                               "file",
		"..":                              "file",
		"/":                               "file",
		" . ":                             "file",
		"../../etc/passwd":                "passwd",
		`..\..\windows\system.ini`:        "system.ini",
		`C:\x\y.txt`:                      "y.txt",
		"C:y.txt":                         "C_y.txt",
		"a.txt:stream":                    "a.txt_stream",
		".bashrc":                         "bashrc",
		"-rf":                             "rf",
		"--output=x":                      "output_x",
		"+x":                              "x",
		"a.txt. .":                        "a.txt",
		"CON":                             "_CON",
		"con.txt":                         "_con.txt",
		"nul .tar.gz":                     "_nul .tar.gz",
		"Lpt1":                            "_Lpt1",
		"COM¹":                            "COM_",
		"COM10":                           "COM10",
		"console":                         "console",
		"CONIN$":                          "CONIN_",
		"a\x00b\nc\x1bd\x7fe\u0085f":      "a_b_c_d_e_f",
		"a\u202egnp.exe":                  "a_gnp.exe",
		"a\u200bb\ufeff":                  "a_b_",
		"a\uff0fb\u2215c":                 "a_b_c",
		"a\xffb":                          "a_b",
		`<>"|?*$&;'!~%^` + "`{}[]#@=":     strings.Repeat("_", 22),
		strings.Repeat("a", 300) + ".tar": strings.Repeat("a", 196) + ".tar",
		strings.Repeat("ü", 300) + ".txt": strings.Repeat("ü", 98) + ".txt",
		"con" + strings.Repeat(" ", 300) + "x.txt": "_con.txt",
		"con." + strings.Repeat("a", 300):          "_con." + strings.Repeat("a", 195),
		"a" + strings.Repeat(".", 300) + "txt":     "a.txt",
		strings.Repeat("a", 200):                   strings.Repeat("a", 200),
		strings.Repeat("a", 201):                   strings.Repeat("a", 200),
	} {
		if got := FileName(name); got != want {
			t.Errorf("%q: %q; want %q", name, got, want)
		}
		checkFileName(t, name)
	}
}

// checkFileName asserts what a safe name is, whatever it was made of.
func checkFileName(t rapid.TB, name string) {
	t.Helper()
	got := FileName(name)
	stem, _, _ := strings.Cut(strings.ToLower(got), ".")
	stem = strings.TrimRight(stem, " ")
	device := stem == "con" || stem == "prn" || stem == "aux" || stem == "nul" || len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && unicode.IsDigit(rune(stem[3]))
	switch {
	case got == "" || len(got) > 200 || !utf8.ValidString(got),
		!filepath.IsLocal(got) || filepath.Base(got) != got,
		strings.ContainsAny(got, "/\\:*?\"<>|\x00$`;&'!%~"),
		strings.ContainsFunc(got, func(c rune) bool { return !unicode.IsPrint(c) && !unicode.IsMark(c) }),
		strings.HasPrefix(got, ".") || strings.HasPrefix(got, "-") || strings.HasPrefix(got, " "),
		strings.HasSuffix(got, ".") || strings.HasSuffix(got, " "),
		device:
		t.Errorf("%q became %q", name, got)
	case FileName(got) != got:
		t.Errorf("%q became %q, then %q", name, got, FileName(got))
	}
}

func TestFileNameAlwaysSafe(t *testing.T) {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"con", "COM1", "nul", ".", " ", "..", "/", `\`, "-", ":", ".txt", strings.Repeat("ü", 99), strings.Repeat(" ", 190), strings.Repeat(".", 100)}))
	rapid.Check(t, func(t *rapid.T) {
		checkFileName(t, strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), ""))
	})
}
