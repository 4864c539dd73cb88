package emailing

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

const agenda = "09:00 Welcome\n09:30 Prices\n"

func filePart(id, body string) string {
	return part("Content-Type: text/plain\nContent-ID: "+id+"\nContent-Transfer-Encoding: quoted-printable", strings.ReplaceAll(body, "\n", "=0A"))
}

// E2: a file is the part of its Content-ID in the message's own mail, with the
// size and digest that were signed.
func TestCopyFile(t *testing.T) {
	good := filePart("<1@buyer.test>", agenda)
	other := filePart("<1@buyer.test>", "something else")
	for name, c := range map[string]struct {
		mail string
		file func(*agentmsg.File)
		want FileState
	}{
		"as signed":                       {multipart("b", attached, good), nil, FileIntact},
		"before the message":              {multipart("b", good, attached), nil, FileIntact},
		"in another multipart":            {multipart("b", multipart("c", good), multipart("d", attached)), nil, FileIntact},
		"no brackets":                     {multipart("b", attached, filePart("1@buyer.test", agenda)), nil, FileIntact},
		"inline":                          {multipart("b", attached, strings.Replace(good, "Content-ID", "Content-Disposition: inline\r\nContent-ID", 1)), nil, FileIntact},
		"another type":                    {multipart("b", attached, strings.Replace(good, "text/plain", "application/octet-stream", 1)), nil, FileIntact},
		"a charset that nobody knows":     {multipart("b", attached, strings.Replace(good, "text/plain", "text/plain; charset=x", 1)), nil, FileIntact},
		"digest in capitals":              {multipart("b", attached, good), func(f *agentmsg.File) { f.Digest = "sha256:" + strings.ToUpper(f.Digest[7:]) }, FileIntact},
		"scheme in capitals":              {multipart("b", attached, good), func(f *agentmsg.File) { f.Ref = "CID:1@buyer.test" }, FileIntact},
		"percent-encoded":                 {multipart("b", attached, good), func(f *agentmsg.File) { f.Ref = "cid:%31%40buyer.test" }, FileIntact},
		"a percent sign":                  {multipart("b", attached, filePart("<a%b+c@d>", agenda)), func(f *agentmsg.File) { f.Ref = "cid:a%25b+c@d" }, FileIntact},
		"beside a uri":                    {multipart("b", attached, good), func(f *agentmsg.File) { f.URI = "https://a.test/x" }, FileIntact},
		"in the forward":                  {multipart("b", plain, other, forward(multipart("c", attached, good))), nil, FileIntact},
		"another one in a forward":        {multipart("b", attached, good, forward(multipart("c", other))), nil, FileIntact},
		"round a forward":                 {multipart("b", good, forward(multipart("c", other)), attached), nil, FileIntact},
		"a message":                       {multipart("b", attached, part("Content-Type: message/rfc822\nContent-ID: <m@b>", "A: b\r\n\r\nHello")), messageFile, FileIntact},
		"another byte":                    {multipart("b", attached, strings.Replace(good, "Welcome", "welcome", 1)), nil, FileDiffers},
		"a byte more":                     {multipart("b", attached, filePart("<1@buyer.test>", agenda+"\n")), nil, FileDiffers},
		"a byte less":                     {multipart("b", attached, filePart("<1@buyer.test>", agenda[1:])), nil, FileDiffers},
		"megabytes more":                  {multipart("b", attached, filePart("<1@buyer.test>", strings.Repeat("a", 4<<20))), nil, FileDiffers},
		"nothing":                         {multipart("b", attached, filePart("<1@buyer.test>", "")), nil, FileDiffers},
		"a size that is another":          {multipart("b", attached, good), func(f *agentmsg.File) { f.Size++ }, FileDiffers},
		"a size below nothing":            {multipart("b", attached, good), func(f *agentmsg.File) { f.Size = -1 }, FileDiffers},
		"a digest that is another":        {multipart("b", attached, good), func(f *agentmsg.File) { f.Digest = "sha256:" + strings.Repeat("0", 64) }, FileDiffers},
		"no digest":                       {multipart("b", attached, good), func(f *agentmsg.File) { f.Digest = "" }, FileDiffers},
		"broken in its encoding":          {multipart("b", attached, filePart("<1@buyer.test>", agenda+"=ZZ")), nil, FileDiffers},
		"in no known encoding":            {multipart("b", attached, strings.Replace(good, "quoted-printable", "x-gzip", 1)), nil, FileDiffers},
		"dropped":                         {multipart("b", attached), nil, FileMissing},
		"another Content-ID":              {multipart("b", attached, filePart("<2@buyer.test>", agenda)), nil, FileMissing},
		"another letter case":             {multipart("b", attached, filePart("<1@Buyer.test>", agenda)), nil, FileMissing},
		"two parts":                       {multipart("b", attached, good, good), nil, FileMissing},
		"two parts, one of them right":    {multipart("b", other, attached, good), nil, FileMissing},
		"two Content-IDs":                 {multipart("b", attached, strings.Replace(good, "\r\n\r\n", "\r\nContent-ID: <2@buyer.test>\r\n\r\n", 1)), nil, FileMissing},
		"in the mail round the forward":   {multipart("b", good, forward(multipart("c", attached))), nil, FileMissing},
		"in a forward beside the message": {multipart("b", attached, forward(multipart("c", good))), nil, FileMissing},
		"beyond eight levels":             {multipart("b", attached, nested("outer", 8, good)), nil, FileMissing},
		"no ref":                          {multipart("b", attached, good), func(f *agentmsg.File) { f.Ref = "" }, FileMissing},
		"a ref of another kind":           {multipart("b", attached, good), func(f *agentmsg.File) { f.Ref = "https://1@buyer.test" }, FileMissing},
		"a ref without a name":            {multipart("b", attached, filePart("<>", agenda)), func(f *agentmsg.File) { f.Ref = "cid:" }, FileMissing},
		"a ref that breaks its encoding":  {multipart("b", attached, good), func(f *agentmsg.File) { f.Ref = "cid:1%4@buyer.test" }, FileMissing},
		"elsewhere":                       {multipart("b", attached, good), func(f *agentmsg.File) { f.Ref, f.URI = "", "https://a.test/x" }, FileURI},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := find(t, c.mail)
			if err != nil {
				t.Fatal(err)
			}
			file := pinned("agenda.txt", "cid:1@buyer.test", []byte(agenda))
			if c.file != nil {
				c.file(&file)
			}
			state, body := copied(t, f, file)
			if state != c.want {
				t.Errorf("%s; want %s", state, c.want)
			}
			if int64(len(body)) > max(file.Size, 0) {
				t.Errorf("%d bytes written of %d", len(body), file.Size)
			}
			if !file.Matches(int64(len(body)), sha256.Sum256(body)) && state == FileIntact {
				t.Errorf("%q is intact", body)
			}
		})
	}
}

func messageFile(f *agentmsg.File) { *f = pinned("mail.eml", "cid:m@b", []byte("A: b\r\n\r\nHello")) }

// What cannot be written is no fault of the file.
func TestCopyFileFails(t *testing.T) {
	f, err := find(t, multipart("b", attached, filePart("<1@buyer.test>", agenda)))
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no room")
	r, w := io.Pipe()
	r.CloseWithError(full)
	if state, err := f.CopyFile(pinned("agenda.txt", "cid:1@buyer.test", []byte(agenda)), w); !errors.Is(err, full) || state != "" {
		t.Errorf("%q, %v", state, err)
	}
}

func TestNewRef(t *testing.T) {
	random := source()
	refs := map[string]bool{}
	for range 3 {
		ref, err := NewRef("buyer.test", random)
		id, ok := contentID(ref)
		if err != nil || !ok || "cid:"+id != ref || !strings.HasSuffix(id, "@buyer.test") {
			t.Errorf("%q, %v", ref, err)
		}
		refs[ref] = true
	}
	if len(refs) != 3 {
		t.Error("the same ref twice")
	}
	dry := errors.New("no entropy")
	if ref, err := NewRef("buyer.test", iotest.ErrReader(dry)); !errors.Is(err, dry) {
		t.Errorf("%q, %v", ref, err)
	}
}

// A mail with a file of 20 MB costs its own bytes and little more, whatever is
// done with it, and the file is gone through once.
func TestGreatFile(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 20e6/16)
	l := letter()
	l.Files["cid:1@buyer.test"] = body
	m := sign(t, chat("Look at this.", pinned("great.bin", "cid:1@buyer.test", body)))
	var raw []byte
	if used := allocated(func() { raw = compose(t, m, l) }); used > uint64(len(raw))+1<<20 {
		t.Errorf("%d bytes to compose a mail of %d", used, len(raw))
	}
	var state FileState
	var passed counter
	passed.w = io.Discard
	used := allocated(func() {
		f, m := received(t, raw)
		var err error
		if state, err = f.CopyFile(m.Files()[0], &passed); err != nil {
			t.Error(err)
		}
	})
	if state != FileIntact || passed.n != int64(len(body)) {
		t.Errorf("%s, %d bytes", state, passed.n)
	}
	if total := uint64(len(raw)) + used; total > 40e6 || used > 1<<20 {
		t.Errorf("%d bytes for the mail and %d more", len(raw), used)
	}
	// The same in a forward.
	forwarded := []byte(multipart("forward", part("Content-Type: message/rfc822", string(raw))))
	used = allocated(func() {
		f, m := received(t, forwarded)
		state, _ = f.CopyFile(m.Files()[0], io.Discard)
	})
	if state != FileIntact || used > 1<<20 {
		t.Errorf("in a forward: %s, %d bytes more", state, used)
	}
}

// allocated is the number of bytes that f asks for.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
