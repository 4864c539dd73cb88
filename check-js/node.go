package checkjs

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// leastNode is the oldest major version of Node that runs the command: package.json, engines.
const leastNode = 20

// Node finds a node that can run the command, never one in the working
// directory. The error says what is wrong with the one that is here, or that
// there is none.
func Node(ctx context.Context) (string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return "", errors.New("node is not on this machine")
	}
	out, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("node --version failed: %w", err)
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < leastNode {
		return "", fmt.Errorf("node here is %q, and version %d or later is needed", version, leastNode)
	}
	return node, nil
}
