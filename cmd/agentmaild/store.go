package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"text/tabwriter"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/store"
	"github.com/spf13/cobra"
)

func (a *app) storeCommand() *cobra.Command {
	return group("store", "The file that everything is kept in", a.storeCheck(), a.storeBackup(), a.storeCompact())
}

// checked is a store that was read and found good.
type checked struct {
	File  string        `json:"file"`
	Bytes int64         `json:"bytes"`
	Rows  []store.Count `json:"rows"`
}

func (a *app) storeCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check [FILE]", Short: "Read the whole store, or a backup, and tell what is in it; the daemon must be stopped", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := a.storePath(args)
			if err != nil {
				return err
			}
			c, err := check(path)
			if err != nil {
				return err
			}
			return a.print(cmd, c, func() {
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				defer w.Flush()
				fmt.Fprintln(w, "INBOX\tTABLE\tROWS")
				for _, n := range c.Rows {
					fmt.Fprintf(w, "%s\t%s\t%d\n", n.Inbox, n.Table, n.Rows)
				}
				fmt.Fprintf(w, "%s is good: %d bytes\n", c.File, c.Bytes)
			})
		},
	}
}

// storePath is the file named, or the store of the configuration.
func (a *app) storePath(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	cfg, err := a.load()
	if err != nil {
		return "", err
	}
	return cfg.StorePath(), nil
}

func check(path string) (checked, error) {
	size, err := fileSize(path)
	if err != nil {
		return checked{}, err
	}
	rows, err := store.Check(path)
	if err != nil {
		return checked{}, stopped(err)
	}
	return checked{path, size, rows}, nil
}

// fileSize refuses what is no file at all, or an empty one.
func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, usage("there is no store: %w", err)
	}
	if !info.Mode().IsRegular() {
		return 0, usage("%s is no file, and so no store", path)
	}
	if info.Size() == 0 {
		return 0, usage("%s is empty, and so no store", path)
	}
	return info.Size(), nil
}

// stopped adds what to do where a daemon has the store.
func stopped(err error) error {
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w: stop it first", err)
	}
	return err
}

func (a *app) storeCompact() *cobra.Command {
	return &cobra.Command{
		Use: "compact", Short: "Give the space of deleted rows back to the disk; the daemon must be stopped", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := a.storePath(nil)
			if err != nil {
				return err
			}
			if _, err := fileSize(path); err != nil {
				return err
			}
			before, after, err := store.Compact(path)
			if err != nil {
				return stopped(err)
			}
			return a.print(cmd, map[string]any{"file": path, "before": before, "after": after}, func() {
				cmd.Printf("%s had %d bytes, and has %d now\n", path, before, after)
			})
		},
	}
}

func (a *app) storeBackup() *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "Write a copy of the store to a new file, whether the daemon runs or not", Args: named("new file", regexp.MustCompile(`.`)),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			if err := create(args[0], func(w io.Writer) error { return backup(cmd.Context(), cfg, w) }); err != nil {
				return err
			}
			c, err := check(args[0])
			if err != nil {
				return err
			}
			return a.print(cmd, c, func() { cmd.Printf("wrote %s, %d bytes, and read it again: it is good\n", c.File, c.Bytes) })
		},
	}
}

// backup copies the store through the daemon, or without one from its file.
func backup(ctx context.Context, cfg *config.Config, w io.Writer) error {
	err := control.NewClient(cfg.SocketPath()).Backup(ctx, w)
	if !errors.Is(err, control.ErrNotRunning) {
		return err
	}
	if _, err := fileSize(cfg.StorePath()); err != nil {
		return err
	}
	if err = store.Copy(cfg.StorePath(), w); errors.Is(err, store.ErrLocked) {
		err = fmt.Errorf("%w, and does not answer: try again in a moment", err)
	}
	return err
}

// create makes a new file, mode 0600, that is on the disk under its name as a
// whole or not at all. What is there already is never written over: the name
// is taken first, by an empty file that the whole one then replaces.
func create(path string, write func(io.Writer) error) (err error) {
	name, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usage("%s is there already: name a new file", path)
	}
	if err != nil {
		return usage("the file cannot be written: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part")
	if err != nil {
		return errors.Join(err, name.Close())
	}
	defer os.Remove(part.Name()) // where it was not renamed
	if err := errors.Join(write(part), part.Sync(), part.Close(), name.Close()); err != nil {
		return err
	}
	if err := os.Rename(part.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename last through a loss of power.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
