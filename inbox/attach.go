package inbox

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"mime"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/plainfile"
)

// MaxFile is the greatest file that an action may name, in bytes.
const MaxFile = 20 << 20

// maxAttached is how many files an action may name.
const maxAttached = 100

// attachedFiles are the files of an action.
type attachedFiles struct {
	named  []agentmsg.File
	bodies map[string][]byte // by ref
}

// attach reads the files of an action.
func (in *Inbox) attach(paths []string) (attachedFiles, error) {
	files := attachedFiles{bodies: map[string][]byte{}}
	if len(paths) > maxAttached {
		return files, cannot("files: at most %d", maxAttached)
	}
	total := 0
	for _, path := range paths {
		body, err := in.readAttached(path)
		if err != nil {
			return files, cannot("files: %w", err)
		}
		if total += len(body); total > envelope.MaxMail { // no mail would hold them
			return files, cannot("files: %w", emailing.ErrTooGreat)
		}
		ref, err := emailing.NewRef(address.Of(in.set.Address), in.srv.Random)
		if err != nil {
			return files, err
		}
		file := agentmsg.File{Name: filepath.Base(path), MediaType: mediaType(path), Ref: ref}
		file.Pin(int64(len(body)), sha256.Sum256(body))
		files.named = append(files.named, file)
		files.bodies[ref] = body
	}
	return files, nil
}

// mediaType is the type of a file by its name.
func mediaType(path string) string {
	return firstOf(mime.TypeByExtension(filepath.Ext(path)), "application/octet-stream")
}

// readAttached reads a regular file of at most MaxFile bytes that is none of
// the daemon's own.
func (in *Inbox) readAttached(path string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if in.private(real) {
		return nil, fmt.Errorf("%s is one of the daemon's own files: copy what is to be sent to another folder", path)
	}
	body, _, err := plainfile.Read(real, MaxFile)
	if errors.Is(err, plainfile.ErrKind) || errors.Is(err, plainfile.ErrLarge) {
		err = fmt.Errorf("%s is no regular file of at most %d bytes", path, MaxFile)
	}
	return body, err
}

// private tells whether a file, symbolic links resolved, is the daemon's own
// (D193): an agent, which may be talked into anything, must not mail its
// owner's keys or what came to another inbox. What came to this one it has
// read already.
func (in *Inbox) private(file string) bool {
	if in.srv.Private == nil || in.srv.Spool != nil && within(in.srv.Spool.Name(), file) {
		return false
	}
	return slices.ContainsFunc(in.srv.Private(), func(path string) bool { return within(path, file) })
}

// within tells whether a file is that of a path, or lies in that folder.
func within(path, file string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return file == path || strings.HasPrefix(file, strings.TrimSuffix(path, "/")+"/")
}
