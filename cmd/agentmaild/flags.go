package main

import (
	"errors"
	"io"
	"os"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

// actionFlags is what was typed for an action. A file is the ground, and what
// a flag gives comes on top: it takes the place of what the file has.
type actionFlags struct {
	cmd   *cobra.Command
	given []func(*inbox.Action) // in the order of the command line
	file  string
	items []intent.Item
	slots []intent.Slot
	files []string

	address string // of request, where it stands beside an agent id
}

// member adds a flag for a member of the action.
func member[T any](f *actionFlags, name, usage string, parse func(string) (T, error), put func(*inbox.Action, T)) {
	f.cmd.Flags().Func(name, usage, func(typed string) error {
		value, err := parse(typed)
		if err != nil {
			return err
		}
		f.given = append(f.given, func(a *inbox.Action) { put(a, value) })
		return nil
	})
}

// several parses a flag that may be given more than once to all that were
// given up to then.
func several[T any](all *[]T, parse func(string) (T, error)) func(string) ([]T, error) {
	return func(typed string) ([]T, error) {
		value, err := parse(typed)
		*all = append(*all, value)
		return *all, err
	}
}

func (f *actionFlags) addItems() {
	member(f, "item", "`ITEM`, as in \"200 piece Ceramic mug, white\" or, in a quote, \"200 piece Ceramic mug, white @ 2.50 EUR\"; a - stands for no unit",
		several(&f.items, parseItem), func(a *inbox.Action, v []intent.Item) { a.Items = v })
}

func (f *actionFlags) addFile() {
	f.cmd.Flags().StringVar(&f.file, "file", "", "read the action from a JSON `FILE` (- for standard input); a flag replaces what the file has")
}

// into puts what was typed into the action.
func (f *actionFlags) into(act *inbox.Action) error {
	if f.file != "" {
		if err := f.read(act); err != nil {
			return err
		}
	}
	for _, put := range f.given {
		put(act)
	}
	return nil
}

// maxAction bounds an action in a file, in bytes.
const maxAction = 1 << 20

var errLarge = errors.New("larger than 1 MiB")

// read takes an action of the type that act has from the file.
func (f *actionFlags) read(act *inbox.Action) error {
	data, err := f.contents(f.file)
	if err != nil {
		return usage("--file %s: %w", f.file, err)
	}
	kind := act.Type
	if err := json.Unmarshal(data, act, json.RejectUnknownMembers(true)); err != nil {
		return usage("--file %s: it is no action: %w", f.file, err)
	}
	if act.Type != kind {
		return usage("--file %s: its type is %q, the command is for %q", f.file, act.Type, kind)
	}
	return nil
}

// contents reads a file, or standard input where its name is -.
func (f *actionFlags) contents(name string) ([]byte, error) {
	in := f.cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxAction+1))
	if err == nil && len(data) > maxAction {
		err = errLarge
	}
	return data, err
}
