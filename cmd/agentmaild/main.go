// Command agentmaild gives an agent an email address it can do business with.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/control"
	"github.com/spf13/cobra"
)

// Exit codes of every command.
const (
	exitFailed = 1 // it was tried and failed, or the answer is no
	exitUsage  = 2 // the command line, the configuration or an input is wrong, or the daemon refuses what was asked
)

func main() { os.Exit(execute(os.Args[1:])) }

// execute runs one command and returns its exit code. The first signal ends
// it in order, the second at once.
func execute(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	defer stop()
	app := &app{out: &output{to: os.Stdout}}
	root := app.command()
	root.SetArgs(args)
	root.SetOut(app.out)
	root.SetErr(os.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = app.out.failed
	}
	if err == nil {
		return 0
	}
	// One line an error, on standard error.
	for line := range strings.SplitSeq(suggestion.ReplaceAllString(strings.TrimSpace(err.Error()), ": did you mean $1?"), "\n") {
		fmt.Fprintln(os.Stderr, "agentmaild: "+line)
	}
	if !app.started || errors.Is(err, errUsage) || errors.As(err, new(*config.Error)) || errors.As(err, new(*control.RefusedError)) {
		return exitUsage
	}
	return exitFailed
}

// suggestion is what the library adds to an unknown command, in four lines.
var suggestion = regexp.MustCompile(`\s+Did you mean this\?\s+(\S+)[\s\S]*$`)

// errUsage marks an error that the exit code 2 stands for.
var errUsage = errors.New("wrong use")

// usage is an error of the command line or an input file.
func usage(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

type usageError struct{ error }

// Is makes it an errUsage without showing the words.
func (*usageError) Is(target error) bool { return target == errUsage }

// Unwrap gives the error itself.
func (e *usageError) Unwrap() error { return e.error }

// app is what the commands share.
type app struct {
	configPath string
	inbox      string
	json       bool
	started    bool // the command line was understood
	out        *output
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "agentmaild",
		Short: "An email address for an agent to do business with",
		Long: "agentmaild stands beside a mailbox. It believes incoming mail only as far as it is\n" +
			"proven, keeps every negotiation, and answers by email. Begin with `agentmaild demo`.",
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRun: func(*cobra.Command, []string) { a.started = true },
		RunE:             bare,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.configPath, "config", "", "configuration `FILE` (default: $AGENTMAILD_CONFIG, ./agentmaild.toml, /etc/agentmaild/agentmaild.toml)")
	flags.StringVar(&a.inbox, "inbox", "", "`NAME` of the inbox (default: the only one there is)")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	complete(root, "inbox", a.completeInbox)
	root.AddCommand(
		a.runCommand(), a.demoCommand(), a.configCommand(), a.keysCommand(),
		a.inboxCommand(), a.askCommand(), a.quoteCommand(), a.timesCommand(), a.acceptCommand(), a.declineCommand(), a.cancelCommand(),
		a.requestCommand(), a.respondCommand(), a.taskCommand(), a.rosterCommand(), a.contactsCommand(),
		a.threadsCommand(), a.waitingCommand(), a.limitsCommand(), a.recordsCommand(), a.checkCommand(), a.conformanceCommand(), a.carrierTestCommand(), a.mcpCommand(), a.storeCommand(), a.tokenCommand(), a.versionCommand(),
	)
	return root
}

// group is a command that only has others below it.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: bare}
	cmd.AddCommand(below...)
	return cmd
}

// bare is a group without one of its commands: that is no result, so its help
// goes where errors go.
func bare(cmd *cobra.Command, _ []string) error {
	cmd.SetOut(cmd.ErrOrStderr())
	return errors.Join(cmd.Help(), usage("%s needs one of its commands", cmd.CommandPath()))
}

// named wants exactly one argument of a form, and says which.
func named(what string, form *regexp.Regexp) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one %s: see `%s --help`", cmd.Name(), what, cmd.CommandPath())
		}
		if !form.MatchString(args[0]) {
			return fmt.Errorf("%q is no %s: see `%s --help`", args[0], what, cmd.CommandPath())
		}
		return nil
	}
}

// load reads the configuration.
func (a *app) load() (*config.Config, error) {
	path := a.configPath
	if path == "" {
		path = os.Getenv("AGENTMAILD_CONFIG")
	}
	for _, p := range []string{"agentmaild.toml", "/etc/agentmaild/agentmaild.toml"} {
		if path == "" {
			if _, err := os.Stat(p); err == nil {
				path = p
			}
		}
	}
	if path == "" {
		return nil, usage("there is no agentmaild.toml here and none in /etc/agentmaild: name one with --config, or write one with `agentmaild config new`")
	}
	return config.Load(path)
}

// one finds the inbox that --inbox names, or the only one.
func (a *app) one(names []string) (string, error) {
	for _, name := range names {
		if name == a.inbox {
			return name, nil
		}
	}
	switch {
	case a.inbox != "":
		return "", usage("there is no inbox %q: the inboxes are %s", a.inbox, strings.Join(names, ", "))
	case len(names) == 1:
		return names[0], nil
	default:
		return "", usage("there are several inboxes: name one of %s with --inbox", strings.Join(names, ", "))
	}
}
