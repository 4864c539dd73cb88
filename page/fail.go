package page

import (
	"errors"
	"net/http"
	"strings"

	"github.com/agentmaild/agentmaild/inbox"
)

// failure is what a person is told in place of a page.
type failure struct {
	status int
	title  string
	words  string // one sentence that says what to do
}

// Error is the sentence.
func (f *failure) Error() string { return f.words }

var (
	errNoPage    = &failure{http.StatusNotFound, "Not found", "There is no such page: start from the list of inboxes."}
	errNoInbox   = &failure{http.StatusNotFound, "Not found", "There is no such inbox, or your token is not for it."}
	errNoThread  = &failure{http.StatusNotFound, "Not found", "There is no such thread in this inbox."}
	errNoRequest = &failure{http.StatusNotFound, "Not found", "There is no such request in this inbox."}
	errNoTask    = &failure{http.StatusNotFound, "Not found", "There is no such task in this inbox."}
	errNoRecord  = &failure{http.StatusNotFound, "Not found", "There is no such record in this inbox."}
	errNoFile    = &failure{http.StatusNotFound, "Not found", "There is no such file in this inbox."}
	errFileGone  = &failure{http.StatusGone, "Gone", "This file is kept no more: files are kept for 60 days, or until a program has taken them."}
	errDecided   = &failure{http.StatusNotFound, "Nothing waits here", "It was decided already, or it has run out."}
	errMethod    = &failure{http.StatusMethodNotAllowed, "Not possible", "This address cannot be used in that way: go back and use the form."}
	errForeign   = &failure{http.StatusForbidden, "Refused", "This form did not come from your session on this page: load the page again and send it from there."}
	errSignedOut = &failure{http.StatusUnauthorized, "Signed out", "Your session has ended, and nothing was done: sign in and do it again."}
	errLarge     = &failure{http.StatusRequestEntityTooLarge, "Too large", "What you sent is larger than 64 KiB: make it shorter."}
	errForm      = &failure{http.StatusBadRequest, "Not readable", "The form could not be read: load the page again and send it from there."}
	errChoice    = &failure{http.StatusBadRequest, "Not possible", "That cannot be decided about this: go back and choose one of the buttons."}
)

// unknown replaces the inbox's word for what it does not have.
func unknown(err error, words *failure) error {
	if errors.Is(err, inbox.ErrAction) {
		return words
	}
	return err
}

// fail shows what went wrong. What a person cannot mend is told to the log.
func (v *view) fail(err error) {
	var f *failure
	switch {
	case errors.As(err, &f):
	case errors.Is(err, inbox.ErrAction):
		f = &failure{http.StatusConflict, "Not possible", strings.TrimPrefix(err.Error(), inbox.ErrAction.Error()+": ")}
	default:
		v.Log.Error("a page failed", "path", v.r.URL.Path, "error", err)
		f = &failure{http.StatusInternalServerError, "Failed", "The daemon failed to do it; its log says why."}
		v.source = nil // what stands around the page is of the inbox that failed
	}
	if err := v.show(f.status, "fail", f.title, f.words); err != nil {
		http.Error(v.w, f.words, f.status)
	}
}
