package inbox

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/emailing"
	"github.com/agentmaild/agentmaild/listen"
	"github.com/agentmaild/agentmaild/store"
	"github.com/go-json-experiment/json"
)

// ErrGone is wrapped, beside ErrAction, where a file came and is kept no more.
var ErrGone = errors.New("it is kept no more")

// File is a file that came with a message, open for reading.
type File struct {
	*os.File
	Name   string // a safe one for the signed one (D115)
	Size   int64  // bytes
	Digest string // "sha256:" and 64 hex digits, as signed
}

// File opens a file of a message that an agent sent, whether it waits at the
// door or was let in; n counts from 0 in the order of its files. The caller
// closes it. Errors wrap ErrUnknown where there is none, or nothing was kept of
// it, and ErrGone where it was given up (D126).
func (in *Inbox) File(agent, message string, n int) (*File, error) {
	var f *File
	var path string
	err := in.view(func(tx *store.Tx) error {
		envelope, files, err := filesOf(tx, agent, message)
		if err != nil {
			return err
		}
		if n < 0 || n >= len(files) || files[n].Path == "" || in.srv.Spool == nil {
			return unknown("there is no file %d of message %q here: see the state of its files", n, message)
		}
		path = spooledAt(files[n].Path)
		known, err := tx.Get(tableSpool, filepath.Dir(path), &spoolRow{})
		if err != nil {
			return err
		}
		if !known {
			return errFileGone
		}
		e, err := agentmsg.Parse([]byte(envelope))
		if err != nil {
			return fmt.Errorf("reading a message: %w", err)
		}
		signed := e.Files()[n]
		f = &File{Name: emailing.FileName(signed.Name), Size: signed.Size, Digest: signed.Digest}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.File, err = in.openSpooled(path, f.Size); err != nil {
		return nil, err
	}
	return f, nil
}

var errFileGone = cannot("%w: files are kept for 60 days, or until whoever handles them has taken them", ErrGone)

// openSpooled opens a file under the spool, below which a symbolic link cannot
// lead out. The digest that goes with it is that of the signed bytes: what has
// another size is not they.
func (in *Inbox) openSpooled(path string, size int64) (*os.File, error) {
	if folder, err := in.srv.Spool.Lstat(filepath.Dir(path)); err == nil && !folder.IsDir() { // a link that somebody has put there
		return nil, errFileGone
	}
	info, err := in.srv.Spool.Lstat(path) // opening a pipe would wait
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() != size) {
		return nil, errFileGone
	}
	if err != nil {
		return nil, fmt.Errorf("reading a file of a message: %w", err)
	}
	file, err := in.srv.Spool.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errFileGone
	}
	if err != nil {
		return nil, fmt.Errorf("reading a file of a message: %w", err)
	}
	return file, nil
}

// spooledAt is a path of a ReceivedFile as seen from the spool, which may have
// moved since: its folder and its name.
func spooledAt(path string) string {
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

// filesOf is a message from outside and its files.
func filesOf(tx *store.Tx, agent, message string) (envelope string, files []ReceivedFile, err error) {
	var row exchangeRow
	known, err := tx.Get(tableExchanges, exchangeKey(agent, message), &row)
	if err != nil || known {
		return row.Envelope, row.Files, err
	}
	err = tx.Scan(tableDoor, "", "", func(r store.Row) (bool, error) {
		var row doorRow
		if err := r.Decode(&row); err != nil || row.From != agent || len(row.Files) == 0 {
			return err == nil, err
		}
		id, err := idOf(row.Envelope)
		if known = id == message; known {
			envelope, files = row.Envelope, row.Files
		}
		return !known, err
	})
	if err == nil && !known {
		err = unknown("no message %q of agent %q is known here", message, agent)
	}
	return envelope, files, err
}

// idOf is the id of a message.
func idOf(envelope string) (string, error) {
	var named struct {
		ID string `json:"id"`
	}
	err := json.Unmarshal([]byte(envelope), &named)
	return named.ID, err
}

// FilePath is where the HTTP API of the daemon has a file of a message.
func FilePath(inbox, agent, message string, n int) string {
	return "/v1/inboxes/" + listen.Segment(inbox) + "/messages/" + listen.Segment(message) + "/files/" + strconv.Itoa(n) + "?" + url.Values{"agent": {agent}}.Encode()
}

// elsewhere is files as somebody on another machine is told of them: with the
// address in the API in place of the path on this disk, which would mean nothing
// there and is nobody's business (D194).
func elsewhere(inbox, agent, message string, files []ReceivedFile) []ReceivedFile {
	files = slices.Clone(files)
	for n := range files {
		if f := &files[n]; f.Path != "" {
			f.Path, f.URL = "", FilePath(inbox, agent, message, n)
		}
	}
	return files
}

// Elsewhere is the message as somebody on another machine is shown it.
func (m ExchangeMessage) Elsewhere(inbox string) ExchangeMessage {
	m.Files = elsewhere(inbox, m.From, m.ID, m.Files)
	return m
}

// Elsewhere is the task as somebody on another machine is shown it.
func (t Task) Elsewhere(inbox string) Task {
	t.Messages = slices.Clone(t.Messages)
	for i := range t.Messages {
		t.Messages[i] = t.Messages[i].Elsewhere(inbox)
	}
	return t
}

// Elsewhere is the event as somebody on another machine is told of it.
func (e Event) Elsewhere(inbox string) Event {
	if e.Exchange != nil {
		x := *e.Exchange
		x.Files = elsewhere(inbox, x.From, e.ID, x.Files)
		e.Exchange = &x
	}
	return e
}

// Elsewhere is what waits as somebody on another machine is shown it.
func (w Waiting) Elsewhere(inbox string) Waiting {
	if id, err := idOf(string(w.Message)); err == nil && len(w.Files) > 0 {
		w.Files = elsewhere(inbox, w.Agent, id, w.Files)
	}
	return w
}
