package page

import (
	"errors"
	"net/url"
	"strconv"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/listen"
)

// file is one that a message names.
type file struct {
	Name, Text string
	Size       int64
	Tone       string
	Path       string // to download it; "" where nothing is kept of it
}

// maxURI is how much is shown of an address that somebody gave a file, in
// characters: a message may name a hundred files.
const maxURI = 300

// lengthOfFiles is how much is shown about files, in bytes.
func lengthOfFiles(list []inbox.ReceivedFile) int {
	sum := 0
	for _, f := range list {
		sum += len(f.Name) + min(len(f.URI), maxURI)
	}
	return sum
}

// files are those of a message that an agent sent.
func (v *view) files(agent, message string, list []inbox.ReceivedFile) []file {
	var shown []file
	for n, f := range list {
		one := file{Name: f.Name, Size: f.Size, Tone: warn, Text: words(f.State)}
		switch {
		case f.Path != "":
			one.Tone, one.Path = good, v.path("file")+"?"+url.Values{"agent": {agent}, "id": {message}, "n": {strconv.Itoa(n)}}.Encode()
		case f.URI != "":
			one.Text += ", at " + beginning(f.URI, maxURI) + ", which was not fetched"
		}
		shown = append(shown, one)
	}
	return shown
}

// file sends a file that came with a message, to be saved.
func (v *view) file() error {
	n, err := strconv.Atoi(v.r.FormValue("n"))
	if err != nil {
		return errNoFile
	}
	f, err := v.source.File(v.r.FormValue("agent"), v.r.FormValue("id"), n)
	if errors.Is(err, inbox.ErrGone) {
		return errFileGone
	}
	if err != nil {
		return unknown(err, errNoFile)
	}
	defer f.Close()
	listen.Download(v.w, v.r, f.Name, f.Digest, f)
	return nil
}
