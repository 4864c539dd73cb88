package handler

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"sync"
)

// maxSaid is how many lines of a resident program's standard error are logged
// between two events.
const maxSaid = 20

// complaints are what a resident program writes to its standard error. Each
// line goes to the log, printable and cut to a length.
type complaints struct {
	log  func(line string)
	over chan struct{} // closed when nothing more will come

	mu    sync.Mutex // guards what follows
	said  int        // lines since the last event
	first limited    // what was written since then
}

// begin is called with each event.
func (c *complaints) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said, c.first = 0, limited{limit: maxStderr}
}

// words are the first since the last event.
func (c *complaints) words() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first.words()
}

// read takes all that comes.
func (c *complaints) read(from io.Reader) {
	defer close(c.over)
	lines := bufio.NewReaderSize(from, maxStderr)
	for more := false; ; {
		line, err := lines.ReadSlice('\n')
		if !more {
			c.take(line, err != nil)
		}
		if more = errors.Is(err, bufio.ErrBufferFull); err != nil && !more {
			return
		}
	}
}

// take logs a line, or the beginning of one.
func (c *complaints) take(line []byte, cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.first.Write(line)
	l := limited{over: cut}
	l.kept.Write(line)
	text := strings.TrimPrefix(l.words(), ": ")
	if text == "" {
		return
	}
	switch c.said++; {
	case c.said <= maxSaid:
		c.log(text)
	case c.said == maxSaid+1:
		c.log("and more, which is not logged")
	}
}
