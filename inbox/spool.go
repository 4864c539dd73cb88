package inbox

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/store"
)

// Files that came with a message lie in a folder of their own under the spool,
// for as long as a row of the store says so. They are written before the
// transaction, and removed where it keeps none of them: a crash leaves at most
// a folder without a row, which Begin removes.

// keepSpooled is how long files are kept: 30 days at the door, and 30 more for
// the agent to take them (D126).
const keepSpooled = doorKeep + 30*24*time.Hour

// maxCopied bounds what is decoded of one mail, in bytes: a message may name
// one part a thousand times.
const maxCopied = 2 * envelope.MaxMail

// spoolRow is a folder of files.
type spoolRow struct {
	From string `json:"from"` // agent id, whose share it takes
	Size int64  `json:"size"` // bytes
}

// keepFiles compares the files that a message names with what the mail
// carries, and copies those that are intact to a folder under the spool.
func (in *Inbox) keepFiles(found *emailing.Found, e *agentmsg.Envelope) (files []ReceivedFile, folder string, err error) {
	named := e.Files()
	if len(named) == 0 {
		return nil, "", nil
	}
	if folder, err = in.newFolder(); err != nil {
		return nil, "", err
	}
	c := copying{in: in, found: found, folder: folder, left: maxCopied, done: map[agentmsg.File]ReceivedFile{}, names: map[string]bool{}}
	for _, file := range named {
		f, err := c.file(file)
		if err != nil {
			return nil, folder, fmt.Errorf("keeping a file of a message: %w", err)
		}
		files = append(files, f)
	}
	if len(c.names) == 0 && folder != "" { // nothing to keep
		_ = in.srv.Spool.RemoveAll(folder)
		folder = ""
	}
	return files, folder, nil
}

// newFolder makes a folder under the spool, which has no name that a sender
// could choose. Without a spool there is none, and files are only compared.
func (in *Inbox) newFolder() (string, error) {
	if in.srv.Spool == nil {
		return "", nil
	}
	name := make([]byte, 16)
	if _, err := io.ReadFull(in.srv.Random, name); err != nil {
		return "", fmt.Errorf("drawing a name: %w", err)
	}
	folder := hex.EncodeToString(name)
	return folder, in.srv.Spool.Mkdir(folder, 0o700)
}

// copying is the files of one message.
type copying struct {
	in     *Inbox
	found  *emailing.Found
	folder string
	left   int64                          // bytes that may still be decoded
	done   map[agentmsg.File]ReceivedFile // each is looked at once, however often it is named
	names  map[string]bool                // taken in the folder, in lower case
}

var errCopied = errors.New("the files of the message are too much together")

func (c *copying) file(file agentmsg.File) (ReceivedFile, error) {
	f := ReceivedFile{Name: file.Name, MediaType: file.MediaType, Size: file.Size, URI: file.URI}
	key := agentmsg.File{Size: file.Size, Digest: file.Digest, Ref: file.Ref, URI: file.URI}
	if same, ok := c.done[key]; ok {
		f.State, f.Path = same.State, same.Path
		return f, nil
	}
	if c.folder == "" {
		state, err := c.found.CopyFile(file, &bounded{io.Discard, &c.left})
		f.State = state
		c.done[key] = f
		return f, c.spent(&f, err)
	}
	w, name, err := c.create(file.Name)
	if err != nil {
		return f, err
	}
	f.State, err = c.found.CopyFile(file, &bounded{w, &c.left})
	if err = c.spent(&f, err); err == nil && f.State == emailing.FileIntact {
		err = w.Sync()
		f.Path = filepath.Join(c.in.srv.Spool.Name(), c.folder, name)
	}
	err = errors.Join(err, w.Close())
	if f.Path == "" {
		delete(c.names, strings.ToLower(name))
		err = errors.Join(err, c.in.srv.Spool.Remove(filepath.Join(c.folder, name)))
	}
	c.done[key] = f
	return f, err
}

// spent takes a file that is beyond the bound for one that is not there.
func (c *copying) spent(f *ReceivedFile, err error) error {
	if errors.Is(err, errCopied) {
		f.State = emailing.FileMissing
		return nil
	}
	return err
}

// create opens a file under a name that none in the folder has. What is one
// name to a file system may be two here (é has two spellings, ſ is an s in upper
// case), and it may not take a name at all: such a file has only a number then,
// or the mail would come back for ever.
func (c *copying) create(signed string) (*os.File, string, error) {
	name := c.name(emailing.FileName(signed))
	w, err := c.open(name)
	if err != nil {
		delete(c.names, strings.ToLower(name))
		name = c.name("file" + strconv.Itoa(len(c.done)+1))
		w, err = c.open(name)
	}
	return w, name, err
}

func (c *copying) open(name string) (*os.File, error) {
	return c.in.srv.Spool.OpenFile(filepath.Join(c.folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// name is a name that none in the folder has, as far as is known here.
func (c *copying) name(safe string) string {
	name := safe
	for n := 2; c.names[strings.ToLower(name)]; n++ {
		name = strconv.Itoa(n) + "-" + safe
	}
	c.names[strings.ToLower(name)] = true
	return name
}

// bounded is a writer that takes no more than left bytes.
type bounded struct {
	w    io.Writer
	left *int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if *b.left -= int64(len(p)); *b.left < 0 {
		return 0, errCopied
	}
	return b.w.Write(p)
}

// fileBlock is what the smallest file takes of a disk, in bytes.
const fileBlock = 4 << 10

// size is how many bytes the files of a message take in the spool.
func (m *errand) size() int64 {
	var size int64
	for _, f := range m.files {
		if f.Path != "" {
			size += max(f.Size, fileBlock)
		}
	}
	return size
}

// spooled keeps the files of a message, where there is room.
func (j *judge) spooled(m *errand) (fits bool, err error) {
	if m.spool == "" {
		return true, nil
	}
	if known, err := j.tx.Get(tableSpool, m.spool, &spoolRow{}); err != nil || known { // it waited at the door
		return known, err
	}
	row := spoolRow{m.envelope.From, m.size()}
	if fits, err = j.share(row.From, claim{spooledBytes, row.Size}); err != nil || !fits {
		return false, err
	}
	until := m.arrival.Add(keepSpooled).Unix()
	if err := j.tx.Put(tableDue, dueKey(until, "spool/"+m.spool), struct{}{}); err != nil {
		return false, err
	}
	return true, j.tx.Put(tableSpool, m.spool, row)
}

// unspool gives files up. The folder is removed once that is durable.
func (j *judge) unspool(folder string) error {
	var row spoolRow
	known, err := j.tx.Get(tableSpool, folder, &row)
	if err != nil || !known {
		return err
	}
	if err := j.giveBack(row.From, claim{spooledBytes, row.Size}); err != nil {
		return err
	}
	j.folders = append(j.folders, folder)
	return j.tx.Delete(tableSpool, folder)
}

// dropFolders removes the folders of mails whose files nobody keeps.
func (in *Inbox) dropFolders(all []*proven) {
	for _, p := range all {
		if p.carried == nil || p.carried.spool == "" {
			continue
		}
		kept := false
		err := in.view(func(tx *store.Tx) (err error) {
			kept, err = tx.Get(tableSpool, p.carried.spool, &spoolRow{})
			return err
		})
		if err == nil && !kept {
			in.removeFolder(p.carried.spool)
		}
	}
}

func (in *Inbox) removeFolder(folder string) {
	if err := in.srv.Spool.RemoveAll(folder); err != nil {
		in.srv.Log.Warn("files of a message cannot be removed", "inbox", in.set.Name, "folder", folder, "error", err)
	}
}

// sweep removes the folders that a crash left behind.
func (in *Inbox) sweep() error {
	if in.srv.Spool == nil {
		return nil
	}
	dir, err := in.srv.Spool.Open(".")
	if err != nil {
		return fmt.Errorf("reading the spool: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("reading the spool: %w", err)
	}
	return in.view(func(tx *store.Tx) error {
		for _, name := range names {
			if known, err := tx.Get(tableSpool, name, &spoolRow{}); err != nil {
				return err
			} else if !known {
				in.removeFolder(name)
			}
		}
		return nil
	})
}
