package mailtest

import (
	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
)

// refusing answers NO to every command that a reader of mail does not need.
type refusing struct{}

var errNo = &imap.Error{Type: imap.StatusResponseTypeNo, Code: imap.ResponseCodeCannot, Text: "Not in this server"}

func (refusing) Create(string, *imap.CreateOptions) error { return errNo }
func (refusing) Delete(string) error                      { return errNo }
func (refusing) Rename(string, string, *imap.RenameOptions) error {
	return errNo
}
func (refusing) Subscribe(string) error   { return errNo }
func (refusing) Unsubscribe(string) error { return errNo }
func (refusing) List(*imapserver.ListWriter, string, []string, *imap.ListOptions) error {
	return errNo
}

func (refusing) Status(string, *imap.StatusOptions) (*imap.StatusData, error) {
	return nil, errNo
}
func (refusing) Expunge(*imapserver.ExpungeWriter, *imap.UIDSet) error { return errNo }
func (refusing) Store(*imapserver.FetchWriter, imap.NumSet, *imap.StoreFlags, *imap.StoreOptions) error {
	return errNo
}

func (refusing) Copy(imap.NumSet, string) (*imap.CopyData, error) {
	return nil, errNo
}
