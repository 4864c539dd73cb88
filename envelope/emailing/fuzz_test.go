package emailing

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

// Whatever a mail is: what is found is within its limit and is one part of
// this name, and a file that is called intact is the one that was signed.
func FuzzFind(f *testing.F) {
	body := []byte(agenda)
	l := letter()
	l.Files["cid:1@buyer.test"] = body
	composed := compose(f, sign(f, chat("Hello", pinned("agenda.txt", "cid:1@buyer.test", body))), l)
	seeds := [][]byte{
		composed, []byte(forward(string(composed))), []byte(multipart("b", attached, filePart("<1@buyer.test>", agenda))),
		[]byte(multipart("b", plain, unreadable)), []byte(nested("outer", 8, attached)), []byte(multipart("b", attached, typeNamed)),
	}
	mails, _ := filepath.Glob(vectors + "/*.eml")
	for _, path := range mails {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, raw)
	}
	found := 0
	for _, seed := range seeds {
		f.Add(seed)
		if _, err := Find(read(f, seed)); err == nil {
			found++
		}
	}
	if found != 18 { // else the target would test refusals only
		f.Fatalf("%d of %d seeds hold a message", found, len(seeds))
	}
	file := pinned("agenda.txt", "cid:1@buyer.test", body)
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := envelope.Read(raw)
		if err != nil {
			return
		}
		found, err := Find(m)
		if err != nil {
			if found != nil {
				t.Errorf("a message and %v", err)
			}
			return
		}
		if len(found.Envelope) > agentmsg.MaxEnvelope {
			t.Errorf("%d bytes", len(found.Envelope))
		}
		files := []agentmsg.File{file}
		if message, err := agentmsg.Parse(found.Envelope); err == nil {
			files = append(files, message.Files()...)
		}
		for _, file := range files {
			var b bytes.Buffer
			state, err := found.CopyFile(file, &b)
			if err != nil || state == FileIntact && !file.Matches(int64(b.Len()), sha256.Sum256(b.Bytes())) {
				t.Errorf("%s, %v: %q", state, err, b.Bytes())
			}
		}
	})
}

func FuzzFileName(f *testing.F) {
	for _, seed := range []string{"agenda.txt", "../../x", `C:\con.txt`, "nul", ".", "a\x00b", "\u202egpj.exe", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) { checkFileName(t, name) })
}
