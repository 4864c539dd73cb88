package emailing

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"strings"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
)

// FileState says what became of a file that a message names.
type FileState string

// The states of a file. Only one that is intact is handed on; whatever they
// are, the message stays valid (E2).
const (
	FileIntact  FileState = "ok"
	FileDiffers FileState = "digest"  // in size or digest from what was signed, or it breaks its encoding
	FileMissing FileState = "missing" // no part of its Content-ID, or two
	FileURI     FileState = "uri"     // it lies elsewhere; it is shown as such, and never fetched
)

// CopyFile writes a file that the message names to w, and compares it with
// what was signed in the same pass, a piece at a time. What was written is
// worth something only if the file is intact. The error is that of w.
func (f *Found) CopyFile(file agentmsg.File, w io.Writer) (FileState, error) {
	part, state := f.part(file)
	if part == nil {
		return state, nil
	}
	hash := sha256.New()
	counted := &counter{w: io.MultiWriter(hash, w)}
	err := part.DecodeTo(counted, file.Size)
	switch {
	case errors.Is(err, envelope.ErrTooLarge), errors.Is(err, envelope.ErrEncoding):
		return FileDiffers, nil
	case err != nil:
		return "", fmt.Errorf("copying a file: %w", err)
	case !file.Matches(counted.n, [sha256.Size]byte(hash.Sum(nil))):
		return FileDiffers, nil
	}
	return FileIntact, nil
}

// part is the one part that a file lies in, or nil and why there is none (D114).
func (f *Found) part(file agentmsg.File) (*envelope.Part, FileState) {
	if file.Ref == "" && file.URI != "" {
		return nil, FileURI
	}
	id, ok := contentID(file.Ref)
	if !ok || len(f.scope[id]) != 1 { // of two, one reader would take the first, another the last
		return nil, FileMissing
	}
	return f.scope[id][0], ""
}

// contentID is the Content-ID that a ref means (RFC 2392), without brackets.
func contentID(ref string) (string, bool) {
	scheme, id, _ := strings.Cut(ref, ":")
	id, err := url.PathUnescape(id)
	return id, strings.EqualFold(scheme, "cid") && err == nil && id != ""
}

// NewRef is the ref of a file that will be sent from a domain: a Content-ID
// that no other part in the world has (RFC 2045 §7).
func NewRef(domain string, random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("drawing a Content-ID: %w", err)
	}
	return "cid:" + base64.RawURLEncoding.EncodeToString(b[:]) + "@" + domain, nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(data []byte) (int, error) {
	c.n += int64(len(data))
	return c.w.Write(data)
}

// CarriedName is the name of the part that a file lies in, as the carrier left
// it; empty where there is no such part, or no name.
func (f *Found) CarriedName(file agentmsg.File) string {
	part, _ := f.part(file)
	if part == nil {
		return ""
	}
	for _, field := range []struct{ name, parameter string }{{"Content-Disposition", "filename"}, {"Content-Type", "name"}} {
		if _, params, err := mime.ParseMediaType(part.Header.Get(field.name)); err == nil && params[field.parameter] != "" {
			return params[field.parameter]
		}
	}
	return ""
}
