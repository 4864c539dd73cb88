//go:build e2e

package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const containerUser = 65532 // of the Dockerfile

// TestContainer builds the image as its Dockerfile says and has the seller's
// daemon run in it, over the same servers as everybody.
func TestContainer(t *testing.T) {
	s := startStack(t)
	images := filepath.Join(os.Getenv("E2E_DIR"), "images")
	script := filepath.Join(root(t), "e2e/servers/container.sh")
	output(t, filepath.Join(root(t), "contrib/dist"))
	output(t, script, "build", images, root(t))

	buyer, seller := s.side("buyer"), s.side("seller")
	err := filepath.WalkDir(filepath.Dir(seller.config), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, containerUser, containerUser)
	})
	if err != nil {
		t.Fatal(err)
	}
	seller.program = []string{script, "run", images, s.dir}
	if version := output(t, append(seller.program, "version")...); !strings.HasPrefix(version, "agentmaild ") {
		t.Errorf("its version is %q", version)
	}
	if good := output(t, append(seller.program, "--config", seller.config, "config", "check")...); !strings.HasPrefix(good, "the configuration is good") {
		t.Errorf("config check says %q", good)
	}
	t.Run("its own state folder can be kept in", func(t *testing.T) {
		alone := strings.NewReplacer("state_dir = \"state\"\n", "", "party = \""+party("seller")+"\"\n", "").Replace(seller.read("agentmaild.toml"))
		seller.write("alone.toml", alone)
		path := filepath.Join(filepath.Dir(seller.config), "alone.toml")
		if err := os.Chown(path, containerUser, containerUser); err != nil {
			t.Fatal(err)
		}
		output(t, append(seller.program, "--config", path, "config", "check")...)
	})
	buyer.start()
	seller.start()
	ask, deal := buyer.ask(sellerAddress)
	seller.has(ask, deal, "buyer")
	seller.stop()
}

// output runs a program to its end, which must be a good one.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var complaint strings.Builder
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return string(out)
}
