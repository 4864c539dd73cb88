package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/daemon"
	"github.com/agentmaild/agentmaild/envelope"
	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/plainfile"
	"github.com/agentmaild/agentmaild/record"
	"github.com/spf13/cobra"
)

// checkFlags say where key pages, vouches and the mails of the thread are.
type checkFlags struct {
	keys    string
	hosts   []string
	vouches []string
	thread  string
}

// defaultHost is the host of key pages that everybody believes who has set nothing else.
const defaultHost = "api.stackshift.cloud"

func (a *app) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use: "check RECORD…", Short: "Check agreement records", Args: cobra.MinimumNArgs(1),
		Long: "Check agreement records, as docs/records.md says: no account, no daemon and no configuration is needed.\n" +
			"One that is named with --config is asked for [trust] and [dns], as in a closed network.\n" +
			"Exit code 0: all check out; 1: one does not; 2: one could not be checked for now.",
		RunE: func(cmd *cobra.Command, files []string) error { return a.check(cmd, files, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.keys, "keys", "", "read key pages from `DIR`, each in a file PARTY.json, instead of fetching them")
	flags.StringArrayVar(&f.hosts, "trusted-host", nil, "believe the key pages of `HOST` (default: "+defaultHost+"); may be repeated")
	flags.StringArrayVar(&f.vouches, "vouch", nil, "take it that a domain vouches for a party, `DOMAIN=PARTY`, instead of asking DNS; may be repeated")
	flags.StringVar(&f.thread, "thread", "", "hold the chain of one record against the mails of its thread, the .eml files in `DIR`")
	return cmd
}

// check checks the records one after the other. What the last line says is an error, so that the exit code is one too.
func (a *app) check(cmd *cobra.Command, files []string, f checkFlags) error {
	for _, folder := range []string{"keys", "thread"} { // as of a variable of a script that is not set
		if flag := cmd.Flags().Lookup(folder); flag.Changed && flag.Value.String() == "" {
			return usage("--%s names no folder", folder)
		}
	}
	if f.thread != "" && len(files) > 1 {
		return usage("--thread is for one record, %d are named", len(files))
	}
	keys, err := a.source(f)
	if err != nil {
		return err
	}
	thread, err := readThread(f.thread)
	if err != nil {
		return err
	}
	var failed, unmade []error
	for _, file := range files {
		data, report := awaitRecord(cmd.Context(), file)
		if report.Result == "" {
			report = record.CheckThread(cmd.Context(), data, keys, thread)
		}
		if err := cmp.Or(a.showReport(cmd, file, data, report), a.out.failed); err != nil {
			return usage("%w", err) // an exit code of 1 would say that the record does not check out
		}
		switch report.Result {
		case record.DoesNotCheckOut:
			failed = append(failed, verdict(file, report))
		case record.NotMade:
			unmade = append(unmade, verdict(file, report))
		}
	}
	switch {
	case len(files) > 1 && len(failed) > 0:
		return fmt.Errorf("%d of %d records do not check out", len(failed), len(files))
	case len(files) > 1 && len(unmade) > 0:
		return usage("%d of %d records could not be checked", len(unmade), len(files))
	}
	return errors.Join(append(failed, unmade...)...)
}

// source is where the flags say that key pages and vouches are. With --keys nobody is asked anything; with a vouch given
// nothing is asked in DNS.
func (a *app) source(f checkFlags) (record.KeySource, error) {
	cfg, err := a.believed(f)
	if err != nil {
		return record.KeySource{}, err
	}
	s := record.KeySource{Trust: party.Trust{Hosts: cfg.Trust.Hosts}}
	vouches, err := f.vouched()
	if err != nil {
		return s, err
	}
	if f.keys != "" {
		root, err := os.OpenRoot(f.keys)
		if err != nil {
			return s, usage("--keys: %w", err)
		}
		s.Pages, s.TXT = record.Folder{Root: root}, vouches
		return s, nil
	}
	world, err := daemon.NewWorld(cfg, os.Stderr)
	if err != nil {
		return s, usage("%w", err)
	}
	s.Pages, s.TXT = world.Pages, world.TXT
	if len(vouches) > 0 {
		s.TXT = vouches
	}
	return s, nil
}

// believed is what is believed of whom. Of configurations only one that is named counts: a record is not to be judged by
// what lies in the folder.
func (a *app) believed(f checkFlags) (*config.Config, error) {
	cfg := &config.Config{DNS: config.DNS{Timeout: dnsTimeout}, Trust: config.Trust{Hosts: []string{defaultHost}}}
	if a.configPath != "" {
		var err error
		if cfg, err = a.load(); err != nil {
			return nil, err
		}
	}
	for _, host := range f.hosts {
		if host == "" || strings.ContainsAny(host, "/@ \t\r\n") { // no key page could be on it, which the record is not to blame for
			return nil, usage("--trusted-host %q: it is no host name, as in keys.example", host)
		}
	}
	if len(f.hosts) > 0 {
		cfg.Trust.Hosts = f.hosts
	}
	return cfg, nil
}

// dnsTimeout is for one question to one server.
const dnsTimeout = 5 * time.Second

func (f checkFlags) vouched() (record.Vouches, error) {
	vouches := record.Vouches{}
	for _, v := range f.vouches {
		domain, id, _ := strings.Cut(v, "=")
		domain, err := address.Domain(domain)
		if _, isParty := (party.Trust{Hosts: []string{"any"}}).Party(party.PageURL("any", id)); err != nil || !isParty {
			return nil, usage("--vouch %q: it is not of the form DOMAIN=PARTY, as in buyer.example=pty_0123456789abcdefghij", v)
		}
		vouches[domain] = append(vouches[domain], id)
	}
	return vouches, nil
}

// awaitRecord is readRecord until ctx ends: a pipe that nobody writes to is waited for, and no longer than a signal.
func awaitRecord(ctx context.Context, name string) ([]byte, record.Report) {
	type read struct {
		data   []byte
		report record.Report
	}
	done := make(chan read, 1)
	go func() {
		data, report := readRecord(name)
		done <- read{data, report}
	}()
	select {
	case r := <-done:
		return r.data, r.report
	case <-ctx.Done():
		return nil, record.Unread(0, "interrupted")
	}
}

// readRecord reads a file, never more of it than a record may have. The report is set where there is nothing to check.
func readRecord(name string) ([]byte, record.Report) {
	file, err := os.Open(name)
	if err != nil {
		return nil, record.Unread(0, reasonOf(err))
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, record.Unread(0, reasonOf(err))
	case info.IsDir():
		return nil, record.Unread(0, "it is a folder: name the records in it")
	case info.Size() > record.MaxSize:
		return nil, record.Unread(info.Size(), "")
	}
	data, err := io.ReadAll(io.LimitReader(file, record.MaxSize+1)) // Check refuses the one byte more
	if err != nil {
		return nil, record.Unread(0, reasonOf(err))
	}
	return data, record.Report{}
}

// reasonOf is an error of the file system without the name of the file.
func reasonOf(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// readThread reads the messages in the .eml files of a folder; "" is none. A mail that holds no message of the profile is
// no part of a thread. One that cannot be read is named: the chain could hang on it.
func readThread(dir string) ([]*intent.Parsed, error) {
	if dir == "" {
		return nil, nil
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, usage("--thread: %w", err)
	}
	thread, mails := []*intent.Parsed{}, 0
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".eml" {
			continue
		}
		mails++
		name := filepath.Join(dir, file.Name())
		message, err := readMail(name)
		if err != nil {
			return nil, usage("--thread: %s: %w", name, err)
		}
		if message != nil {
			thread = append(thread, message)
		}
	}
	if mails == 0 {
		return nil, usage("--thread: there is no .eml file in %s", dir)
	}
	return thread, nil
}

// readMail reads the message in a mail, nil where there is none.
func readMail(name string) (*intent.Parsed, error) {
	raw, _, err := plainfile.Read(name, envelope.MaxMail) // D132
	if err != nil {
		return nil, errors.New(reasonOf(err))
	}
	mail, err := envelope.Read(raw)
	if err != nil {
		return nil, err
	}
	found, err := intent.Find(mail)
	switch {
	case errors.Is(err, intent.ErrProfile):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return found.Parsed, nil
}
