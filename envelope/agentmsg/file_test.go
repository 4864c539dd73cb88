package agentmsg

import (
	"crypto/sha256"
	"strings"
	"testing"
)

func TestFileMatches(t *testing.T) {
	const digest = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2, B.1
	sum := sha256.Sum256([]byte("abc"))
	for name, tc := range map[string]struct {
		file File
		want bool
	}{
		"the same":               {File{Size: 3, Digest: digest}, true},
		"upper case":             {File{Size: 3, Digest: "sha256:" + strings.ToUpper(digest[7:])}, true},
		"another size":           {File{Size: 4, Digest: digest}, false},
		"no size":                {File{Digest: digest}, false},
		"another digest":         {File{Size: 3, Digest: digest[:70] + "e"}, false},
		"no digest":              {File{Size: 3}, false},
		"half a digest":          {File{Size: 3, Digest: digest[:39]}, false},
		"more behind":            {File{Size: 3, Digest: digest + "00"}, false},
		"no hex":                 {File{Size: 3, Digest: "sha256:" + strings.Repeat("g", 64)}, false},
		"no name of a function":  {File{Size: 3, Digest: digest[7:]}, false},
		"another function":       {File{Size: 3, Digest: "sha512:" + digest[7:]}, false},
		"another case of a name": {File{Size: 3, Digest: "SHA256:" + digest[7:]}, false},
	} {
		if tc.file.Matches(3, sum) != tc.want {
			t.Errorf("%s: %v", name, !tc.want)
		}
	}
	var f File
	f.Pin(3, sum)
	if f.Digest != digest || f.Size != 3 || !f.Matches(3, sum) {
		t.Error(f)
	}
}
