package inbox

import (
	"crypto/sha256"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
)

// MaxFile is the greatest file that an action may name, in bytes.
const MaxFile = 20 << 20

// attachedFiles are the files of an action.
type attachedFiles struct {
	named  []agentmsg.File
	bodies map[string][]byte // by ref
}

// attach reads the files of an action.
func (in *Inbox) attach(paths []string) (attachedFiles, error) {
	files := attachedFiles{bodies: map[string][]byte{}}
	for _, path := range paths {
		body, err := readFile(path)
		if err != nil {
			return files, cannot("files: %w", err)
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

// readFile reads a regular file of at most MaxFile bytes.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFile {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes", path, MaxFile)
	}
	body, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(body) > MaxFile {
		err = fmt.Errorf("%s is longer than %d bytes", path, MaxFile)
	}
	return body, err
}
