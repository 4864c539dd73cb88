package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const maxFile = 256 << 10 // bytes, some 500 inboxes; the library takes time with the square of the keys

// Load reads and checks the configuration file at path, at most 256 KiB, and
// looks at every file it names. Relative paths in it are relative to its
// folder. The error joins one *Error for each mistake, sorted by line; after a
// syntax error there is no other.
func Load(path string) (*Config, error) {
	m := &mistakes{file: path, reported: map[string]bool{}}
	document, err := readFile(path, maxFile)
	if err != nil {
		m.note(0, "", "cannot be read: "+cause(err).Error()+"; "+instead(err))
		return nil, m.err()
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("finding the folder of %s: %w", path, err)
	}
	c := parse(m, document, dir)
	if c != nil {
		check(m, c)
	}
	if err := m.err(); err != nil {
		return nil, err
	}
	if abs, err := filepath.Abs(path); err == nil {
		c.files = append(c.files, abs)
	}
	c.inherit() // not before the check: a bad value is then a mistake once
	return c, nil
}

// instead is what to do about a configuration that cannot be read.
func instead(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "name another with --config, or write one with `agentmaild config new`"
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("let the user that runs this read it, number %d", os.Getuid())
	}
	return "name a configuration with --config"
}

// parse reads a document into a Config, which is nil after a syntax error. It
// touches no file.
func parse(m *mistakes, document []byte, dir string) *Config {
	if bytes.HasPrefix(document, []byte("\xef\xbb\xbf")) || bytes.HasPrefix(document, []byte("\xff\xfe")) || bytes.HasPrefix(document, []byte("\xfe\xff")) {
		m.note(1, "", "begins with a byte order mark: save it as UTF-8 without one") // as editors on Windows do
		return nil
	}
	var values map[string]any
	if err := toml.Unmarshal(document, &values); err != nil {
		m.syntax(err, document)
		return nil
	}
	m.lines = readLines(document)
	c := &Config{file: m.file, lines: m.lines}
	d := &decoder{mistakes: m, dir: dir}
	d.table(reflect.ValueOf(c).Elem(), values, "")
	c.files = d.files
	return c
}

func (m *mistakes) syntax(err error, document []byte) {
	line, key := 0, ""
	if at := new(toml.DecodeError); errors.As(err, &at) {
		line, _ = at.Position()
		for _, part := range at.Key() {
			key = join(key, part)
		}
	}
	if key == "" {
		key = keyIn(document, line)
	}
	text := strings.TrimPrefix(err.Error(), "toml: ")
	if strings.HasSuffix(text, "at start of value") {
		text += ": put text in quotes"
	}
	m.note(line, key, text)
}

var (
	headerLine = regexp.MustCompile(`^\s*\[\[?\s*([A-Za-z0-9_.-]+)\s*\]`)
	keyLine    = regexp.MustCompile(`^\s*([A-Za-z0-9_.-]+)\s*=`)
)

// keyIn is the key that a line sets in a document which is no TOML; "" where that cannot be told.
func keyIn(document []byte, line int) string {
	above := strings.Split(string(document), "\n")
	if line < 1 || line > len(above) {
		return ""
	}
	key := keyLine.FindStringSubmatch(above[line-1])
	if key == nil {
		return ""
	}
	for _, text := range slices.Backward(above[:line]) {
		if table := headerLine.FindStringSubmatch(text); table != nil {
			return table[1] + "." + key[1]
		}
	}
	return key[1]
}

// inherit fills in what is by default the value of another key.
func (c *Config) inherit() {
	for i := range c.Inboxes {
		box := &c.Inboxes[i]
		if box.KeyHost == "" && len(c.Trust.Hosts) > 0 {
			box.KeyHost = c.Trust.Hosts[0]
		}
		if box.IMAP.User == "" {
			box.IMAP.User = box.Address
		}
		if !box.SMTP.ownLogin() {
			box.SMTP.Secret = box.IMAP.Secret
		}
		if box.SMTP.User == "" {
			box.SMTP.User = box.IMAP.User
		}
	}
}

// readFile reads a file of at most so many bytes.
func readFile(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("larger than %d bytes", most)
	}
	return data, err
}

// cause is what went wrong with a file, without its name.
func cause(err error) error {
	if at := new(fs.PathError); errors.As(err, &at) {
		return at.Err
	}
	return err
}
