package mailbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/mailbox"
)

func TestSecretFile(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
		error   string
	}{
		"plain":          {"hunter2", 0o600, "hunter2", ""},
		"line end cut":   {"hunter2\n", 0o400, "hunter2", ""},
		"one only":       {" hunter2 \n\r\n", 0o600, " hunter2 \n", ""},
		"group may read": {"hunter2", 0o640, "", "chmod 600"},
		"empty":          {"\n", 0o600, "", "empty"},
		"long":           {strings.Repeat("hunter2", 1000), 0o600, "", "longer"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "password")
			if err := os.WriteFile(path, []byte(c.content), c.mode); err != nil {
				t.Fatal(err)
			}
			checkSecret(t, mailbox.SecretFile(path), c.want, c.error)
		})
	}
	checkSecret(t, mailbox.SecretFile(filepath.Join(t.TempDir(), "none")), "", "no such file")
	checkSecret(t, mailbox.SecretFile(t.TempDir()), "", "chmod")
}

func checkSecret(t *testing.T, s mailbox.Secret, want, wantErr string) {
	t.Helper()
	got, err := s(t.Context())
	switch {
	case wantErr == "" && (err != nil || got != want):
		t.Errorf("secret %q, error %v; want %q", got, err, want)
	case wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)):
		t.Errorf("error %v, want %q in it", err, wantErr)
	case err != nil && (got != "" || strings.Contains(err.Error(), "hunter2")):
		t.Errorf("secret %q with error %v", got, err)
	}
}

func TestSecretEnv(t *testing.T) {
	t.Setenv("MAILBOX_TEST", "hunter2")
	checkSecret(t, mailbox.SecretEnv("MAILBOX_TEST"), "hunter2", "")
	t.Setenv("MAILBOX_TEST", "")
	checkSecret(t, mailbox.SecretEnv("MAILBOX_TEST"), "", "MAILBOX_TEST")
}

func TestSecretCommand(t *testing.T) {
	for name, c := range map[string]struct{ script, want, error string }{
		"first line":   {"echo hunter2; echo url: x", "hunter2", ""},
		"no line end":  {"printf hunter2", "hunter2", ""},
		"fails":        {"echo hunter2; echo hunter2 >&2; exit 3", "", "exit status 3"},
		"nothing":      {"true", "", "empty"},
		"endless":      {"head -c 10000000 /dev/zero", "", "longer"},
		"does not end": {"echo hunter2; exec sleep 60", "", "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			timeout := time.Minute
			if c.error == "deadline" {
				timeout = 50 * time.Millisecond
			}
			checkSecret(t, mailbox.SecretCommand([]string{"sh", "-c", c.script}, timeout), c.want, c.error)
		})
	}
	checkSecret(t, mailbox.SecretCommand(nil, time.Minute), "", "empty")
	checkSecret(t, mailbox.SecretCommand([]string{"/no/such/program"}, time.Minute), "", "no such file")
}
