package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/spf13/cobra"
)

// newAgentKey makes the key of an agent. No configuration need be there yet: it names the file.
func (a *app) newAgentKey(cmd *cobra.Command, file string) error {
	seed, err := agentmsg.NewSeed(rand.Reader)
	if err != nil {
		return err
	}
	agent, err := agentmsg.ParseSeed(seed)
	if err != nil {
		return err
	}
	return a.keepKey(cmd, file, seed, "agent_id", agent.ID(), "agent_key")
}

// newSealingKey makes the key that others seal to.
func (a *app) newSealingKey(cmd *cobra.Command, file string) error {
	private, err := agentmsg.NewSealingKey(rand.Reader)
	if err != nil {
		return err
	}
	key, err := agentmsg.ParseSealingKey(private)
	if err != nil {
		return err
	}
	return a.keepKey(cmd, file, private, "sealing_key", key.Public(), "sealing_key")
}

// keepKey writes a private key to a new file, and says what its public half is and how the configuration names it.
func (a *app) keepKey(cmd *cobra.Command, file, private, what, public, key string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	err = create(path, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, private)
		return err
	})
	if err != nil {
		return err
	}
	return a.print(cmd, map[string]string{what: public, "file": path}, func() {
		cmd.Printf("made %s %s\nIts private half is in %s. Put into the table of the inbox:\n  %s = %s\n", strings.ReplaceAll(what, "_", " "), public, path, key, strconv.Quote(path))
	})
}
