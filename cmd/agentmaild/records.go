package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/agentmaild/agentmaild/control"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/record"
	"github.com/spf13/cobra"
)

func (a *app) recordsCommand() *cobra.Command {
	return group("records", "The agreement records that a running daemon keeps", a.recordsList(), a.recordsShow(), a.recordsExport())
}

func (a *app) recordsList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the records, and what the check of each found when it came", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			list, err := client.Records(cmd.Context(), name)
			if err != nil {
				return err
			}
			return a.print(cmd, list, func() { showRecords(cmd, list) })
		},
	}
}

func showRecords(cmd *cobra.Command, list []inbox.Record) {
	if len(list) == 0 {
		cmd.Println("no records yet")
		return
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	defer w.Flush()
	row := func(cells ...string) { _, _ = w.Write([]byte(strings.Join(cells, "\t") + "\n")) }
	row("RECORD", "OF", "KIND", "WITH", "AGREED", "CHECK")
	for _, r := range list {
		row(recordName(r), whose(r), orDash(string(r.Kind)), r.With, when(r.AgreedAt), mark(r))
	}
}

// recordName is an id under which a record is found. The other side writes the
// id of its own, which may be no id at all.
func recordName(r inbox.Record) string {
	if idForm.MatchString(r.ID) {
		return r.ID
	}
	return r.Accept
}

func whose(r inbox.Record) string {
	if r.Ours {
		return "ours"
	}
	return "theirs"
}

// mark is what there is to say about a record in one line.
func mark(r inbox.Record) string {
	switch {
	case r.Ours:
		return "sealed here, " + string(r.Kind)
	case r.Result == record.DoesNotCheckOut:
		return "DOES NOT CHECK OUT: " + printable(r.Reason) + "; the agreement stands"
	case r.Result == record.NotMade:
		return "could not be checked when it came: " + printable(r.Reason) + "; the agreement stands"
	}
	return verdicts[r.Result]
}

// recordCommand is a command about one record.
func (a *app) recordCommand(use, short string, args cobra.PositionalArgs, run func(cmd *cobra.Command, args []string, theirs bool) error) *cobra.Command {
	var theirs bool
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args, ValidArgsFunction: a.completeIDs(recordIDs(&theirs)),
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd, args, theirs) },
	}
	cmd.Flags().BoolVar(&theirs, "theirs", false, "the other side's record, and not this side's own")
	return cmd
}

var oneRecord = named("id of a record, an accept or an offer, as `agentmaild records list` shows it", idForm)

func (a *app) recordsShow() *cobra.Command {
	return a.recordCommand("show ID", "Check a record anew, and show what was agreed and what is proven", oneRecord,
		func(cmd *cobra.Command, args []string, theirs bool) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			kept, err := client.CheckRecord(cmd.Context(), name, args[0], !theirs)
			if err != nil {
				return err
			}
			shown := struct {
				Record inbox.Record  `json:"record"`
				Report record.Report `json:"report"`
			}{kept.Record, kept.Report}
			if err := a.print(cmd, shown, func() { showRecord(cmd, kept) }); err != nil {
				return err
			}
			return verdict(recordName(kept.Record), kept.Report)
		})
}

func showRecord(cmd *cobra.Command, kept control.KeptRecord) {
	cmd.Print(reportText(recordName(kept.Record), kept.File, kept.Report))
	if !kept.Record.Ours {
		cmd.Printf("\nThis is the other side's record. When it came: %s\n", mark(kept.Record))
	}
}

// orFile takes one record, and a file after it.
func orFile(cmd *cobra.Command, args []string) error {
	if len(args) == 2 {
		args = args[:1]
	}
	return oneRecord(cmd, args)
}

func (a *app) recordsExport() *cobra.Command {
	cmd := a.recordCommand("export ID [FILE]", "Write a record exactly as it is kept, to a new file or to standard output", orFile, a.export)
	cmd.Long = "Write a record exactly as it is kept, to a new file or to standard output.\n" +
		"Anybody can check it, with `agentmaild check FILE` or another program."
	return cmd
}

func (a *app) export(cmd *cobra.Command, args []string, theirs bool) error {
	client, name, err := a.client(cmd.Context())
	if err != nil {
		return err
	}
	kept, err := client.Record(cmd.Context(), name, args[0], !theirs)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		if _, err := w.Write(kept.File); err != nil {
			return fmt.Errorf("writing the record: %w", err)
		}
		return nil
	}
	if len(args) == 1 {
		return write(cmd.OutOrStdout())
	}
	if err := create(args[1], write); err != nil {
		return err
	}
	written := map[string]any{"file": args[1], "bytes": len(kept.File), "record": kept.Record}
	return a.print(cmd, written, func() { cmd.Printf("wrote %s, %d bytes\n", args[1], len(kept.File)) })
}
