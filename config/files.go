package config

import (
	"crypto/x509"
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/agentmaild/agentmaild/plainfile"
)

// secret checks that a password can be had in exactly one way. Names and
// commands are not shown: somebody will write the password itself there.
func (m *mistakes) secret(at string, secret Secret) {
	ways := secret.ways()
	switch {
	case len(ways) == 0:
		m.add(join(at, "password_file"), "must be set, or password_env or password_command")
		return
	case len(ways) > 1:
		m.add(join(at, ways[1]), "only one of %s may be set", strings.Join(ways, " and "))
		return
	}
	m.privateFile(join(at, "password_file"), secret.File)
	if _, set := os.LookupEnv(secret.Env); secret.Env != "" && !set {
		m.add(join(at, "password_env"), "names an environment variable that is not set")
	}
	m.command(join(at, "password_command"), secret.Command)
}

// command checks that a program can be run; nil and empty are none at all.
func (m *mistakes) command(at string, argv []string) {
	if len(argv) == 0 {
		return
	}
	if argv[0] == "" {
		m.add(at, "the program is empty: name it first, then its arguments, or leave the key out")
		return
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		m.add(at, "the program cannot be run: %v; give the full path of an executable file", cause(errors.Unwrap(err)))
	}
}

// privateFile checks a file that holds a secret without reading it; "" is none.
func (m *mistakes) privateFile(at, name string) {
	if name == "" {
		return
	}
	info, err := os.Stat(name) // first, since opening a pipe would wait
	switch {
	case err != nil:
		m.add(at, "cannot be read: %v; it must be a file of mode 0600", cause(err))
		return
	case !info.Mode().IsRegular():
		m.add(at, "must be a regular file")
		return
	case info.Size() == 0:
		m.add(at, "%s is empty: write the secret into it", name)
		return
	case info.Mode().Perm()&0o077 != 0: // any user of the machine could be the agent
		m.add(at, "%s has mode %04o and is open to other users: chmod 600 %s", name, info.Mode().Perm(), name)
		return
	}
	file, err := os.Open(name)
	if err != nil {
		m.add(at, "cannot be read: %v; it must belong to the user that runs the daemon", cause(err))
		return
	}
	file.Close()
}

// plainFile checks that a file that holds no secret is there; "" is none.
func (m *mistakes) plainFile(at, name, what string) {
	if name == "" {
		return
	}
	info, err := os.Stat(name) // first, since opening a pipe would wait
	if err == nil && !info.Mode().IsRegular() {
		err = plainfile.ErrKind
	}
	if err == nil {
		var file *os.File
		if file, err = os.Open(name); err == nil {
			file.Close()
		}
	}
	if err != nil {
		m.add(at, "cannot be read: %v; it must be %s", cause(err), what)
	}
}

const maxCAFile = 4 << 20 // bytes; those of a whole system are 250 KB

// caFile checks that a file has a certificate in it; "" is none.
func (m *mistakes) caFile(at, name string) {
	if name == "" {
		return
	}
	pem, _, err := plainfile.Read(name, maxCAFile)
	if err != nil {
		m.add(at, "cannot be read: %v; it must be a PEM file", cause(err))
	} else if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		m.add(at, "holds no certificate in PEM form")
	}
}
