package mailbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Secret gives a password. Its errors name the source, never what it held.
type Secret func(ctx context.Context) (string, error)

const maxSecret = 4 << 10 // bytes

var errNoSecret = errors.New("the password is empty or longer than 4096 bytes")

// SecretFile reads the password from a file that only its owner may touch; one
// trailing line end is cut off.
func SecretFile(path string) Secret {
	return func(context.Context) (string, error) {
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("opening the password file: %w", err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return "", fmt.Errorf("looking at the password file: %w", err)
		}
		// Any other user of the machine could read the mail.
		if info.Mode().Perm()&0o077 != 0 {
			return "", fmt.Errorf("password file %s is open to other users: run chmod 600 on it", path)
		}
		return readSecret(f, "password file "+path)
	}
}

// SecretEnv reads the password from an environment variable.
func SecretEnv(name string) Secret {
	return func(context.Context) (string, error) {
		return readSecret(strings.NewReader(os.Getenv(name)), "environment variable "+name)
	}
}

// SecretCommand takes the first line that a program writes, which must be
// there and the program gone within the timeout. What it writes to standard
// error is thrown away, since some write secrets there.
func SecretCommand(argv []string, timeout time.Duration) Secret {
	return func(ctx context.Context) (string, error) {
		if len(argv) == 0 {
			return "", errors.New("the password command is empty")
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		var out boundedWriter
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Stdout = &out
		cmd.WaitDelay = time.Second // a grandchild may hold the pipe open
		err := cmd.Run()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", fmt.Errorf("running the password command %s: %w", argv[0], err)
		}
		line, _ := bufio.NewReader(strings.NewReader(out.String())).ReadString('\n')
		return readSecret(strings.NewReader(line), "password command "+argv[0])
	}
}

// readSecret reads one secret to its end, less one line end.
func readSecret(r io.Reader, source string) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSecret+1))
	if err != nil {
		return "", fmt.Errorf("reading the %s: %w", source, err)
	}
	s := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	if s == "" || len(b) > maxSecret {
		return "", fmt.Errorf("using the %s: %w", source, errNoSecret)
	}
	return s, nil
}

// boundedWriter keeps what fits and lets the rest go, so that a program that
// never stops writing costs no memory.
type boundedWriter struct{ strings.Builder }

func (w *boundedWriter) Write(p []byte) (int, error) {
	keep := min(len(p), maxSecret+1-w.Len())
	w.Builder.Write(p[:keep])
	return len(p), nil
}
