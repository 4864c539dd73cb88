package mailtest

import (
	"crypto/subtle"
	"io"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
)

// folder only ever grows: a mail's place, counted from 1, is both its sequence
// number and its UID. The library's own store cannot stand in, since it gives
// a mail with a malformed header out as an empty one.
type folder struct {
	mu    sync.Mutex
	mails []stored
}

type stored struct {
	raw     []byte
	arrival time.Time
}

const uidValidity = 1

func (f *folder) add(raw []byte, arrival time.Time) imap.UID {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mails = append(f.mails, stored{raw, arrival})
	return imap.UID(len(f.mails))
}

// snapshot may be read but not changed.
func (f *folder) snapshot() []stored {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mails
}

// user is an account's folders by name.
type user map[string]*folder

// imapSession is one connection. It can do what a reader of mail needs; all
// else is answered with NO.
type imapSession struct {
	refusing

	server *Server
	user   user    // nil before login
	folder *folder // nil unless selected
	told   int     // mails in the folder that the client knows of
}

func (s *Server) newIMAPSession(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
	return &imapSession{server: s}, nil, nil
}

// Close has nothing to do.
func (s *imapSession) Close() error { return nil }

// Login takes a user's address and password.
func (s *imapSession) Login(username, password string) error {
	if !s.server.knows(username, password) {
		return imapserver.ErrAuthFailed
	}
	s.user = s.server.users[username]
	return nil
}

func (s *Server) knows(username, password string) bool {
	want, known := s.options.Users[username]
	return known && subtle.ConstantTimeCompare([]byte(want), []byte(password)) == 1
}

// Select opens INBOX or Sent.
func (s *imapSession) Select(name string, _ *imap.SelectOptions) (*imap.SelectData, error) {
	f := s.user[name]
	if f == nil {
		return nil, &imap.Error{Type: imap.StatusResponseTypeNo, Code: imap.ResponseCodeNonExistent, Text: "No such mailbox"}
	}
	s.folder, s.told = f, len(f.snapshot())
	return &imap.SelectData{
		NumMessages: uint32(s.told),
		UIDNext:     imap.UID(s.told) + 1,
		UIDValidity: uidValidity,
	}, nil
}

// Unselect closes the folder.
func (s *imapSession) Unselect() error {
	s.folder = nil
	return nil
}

// Append adds a mail and tells who idles.
func (s *imapSession) Append(name string, r imap.LiteralReader, options *imap.AppendOptions) (*imap.AppendData, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	f := s.user[name]
	if f == nil {
		return nil, &imap.Error{Type: imap.StatusResponseTypeNo, Code: imap.ResponseCodeTryCreate, Text: "No such mailbox"}
	}
	arrival := options.Time
	if arrival.IsZero() {
		arrival = s.server.now()
	}
	uid := f.add(raw, arrival)
	s.server.announce()
	return &imap.AppendData{UIDValidity: uidValidity, UID: uid}, nil
}

// Poll tells how many mails there are if the client does not know.
func (s *imapSession) Poll(w *imapserver.UpdateWriter, _ bool) error {
	if s.folder == nil {
		return nil
	}
	n := len(s.folder.snapshot())
	if n == s.told {
		return nil
	}
	s.told = n
	return w.WriteNumMessages(uint32(n))
}

// Idle begins with what came before it was called, so that no arrival falls
// between two commands.
func (s *imapSession) Idle(w *imapserver.UpdateWriter, stop <-chan struct{}) error {
	for {
		arrivals := s.server.arrivals() // taken before looking
		if err := s.Poll(w, true); err != nil {
			return err
		}
		select {
		case <-arrivals:
		case <-stop:
			return nil
		}
	}
}

// Fetch gives UID, INTERNALDATE, RFC822.SIZE and the whole mail; other
// sections come whole as well.
func (s *imapSession) Fetch(w *imapserver.FetchWriter, set imap.NumSet, options *imap.FetchOptions) error {
	for i, mail := range s.folder.snapshot() {
		if !contains(set, uint32(i+1)) {
			continue
		}
		m := w.CreateMessage(uint32(i + 1))
		m.WriteUID(imap.UID(i + 1))
		if options.InternalDate {
			m.WriteInternalDate(mail.arrival)
		}
		if options.RFC822Size {
			m.WriteRFC822Size(int64(len(mail.raw)))
		}
		for _, section := range options.BodySection {
			body := m.WriteBodySection(section, int64(len(mail.raw)))
			if _, err := body.Write(mail.raw); err != nil {
				return err
			}
			if err := body.Close(); err != nil {
				return err
			}
		}
		if err := m.Close(); err != nil {
			return err
		}
	}
	return nil
}

func contains(set imap.NumSet, n uint32) bool {
	switch set := set.(type) {
	case imap.UIDSet:
		return set.Contains(imap.UID(n))
	case imap.SeqSet:
		return set.Contains(n)
	}
	return false
}

// Search knows SINCE only.
func (s *imapSession) Search(_ imapserver.NumKind, criteria *imap.SearchCriteria, _ *imap.SearchOptions) (*imap.SearchData, error) {
	var found imap.UIDSet
	for i, mail := range s.folder.snapshot() {
		if !mail.arrival.Before(criteria.Since) {
			found.AddNum(imap.UID(i + 1))
		}
	}
	return &imap.SearchData{All: found}, nil
}
