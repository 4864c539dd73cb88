package config

import (
	"fmt"
	"io"
)

// Secret says where a password is found; exactly one field is set. It shows
// nothing but which, in every form of print, JSON and log: somebody will put
// the password itself into one of them.
type Secret struct {
	File    string   `toml:"password_file" default:"" kind:"path" doc:"File that holds the password, mode 0600 or narrower. One of the three ways must be chosen; in smtp, none of them and no user means the login of imap."`
	Env     string   `toml:"password_env" default:"" doc:"Name of an environment variable that holds the password."`
	Command []string `toml:"password_command" default:"[]" kind:"command" doc:"Program and arguments; the first line it writes is the password."`
}

// String names the kind of source: file, env, command or none.
func (s Secret) String() string {
	switch {
	case s.File != "":
		return "file"
	case s.Env != "":
		return "env"
	case len(s.Command) > 0:
		return "command"
	}
	return "none"
}

// Format writes String for every verb, so that %#v shows no more than %v.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText gives String, for JSON and with it for slog.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ways are the keys that are set, in the order of the file's reference.
func (s Secret) ways() (keys []string) {
	if s.File != "" {
		keys = append(keys, "password_file")
	}
	if s.Env != "" {
		keys = append(keys, "password_env")
	}
	if len(s.Command) > 0 {
		keys = append(keys, "password_command")
	}
	return keys
}
