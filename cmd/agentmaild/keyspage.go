package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/party"
	"github.com/spf13/cobra"
)

func (a *app) keysPage() *cobra.Command {
	var out string
	var dns bool
	cmd := &cobra.Command{
		Use: "page [--out FILE | --dns]", Short: "Print the key page to publish, or write it to a file", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dns && out != "" {
				return usage("--out is for the page, and --dns prints none: leave one of them away")
			}
			f, err := a.keyFolder()
			if err != nil {
				return err
			}
			if dns {
				return a.printVouches(cmd, f.vouches())
			}
			page, err := f.page()
			if err != nil {
				return err
			}
			if out != "" {
				return a.writePage(cmd, f, out, append(page, '\n'))
			}
			cmd.Println(string(page)) // JSON with or without --json
			fmt.Fprintf(cmd.ErrOrStderr(), "publish it at %s\n", f.url())
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write the page to `FILE`, in the place of what is there, for a web server to show")
	cmd.Flags().BoolVar(&dns, "dns", false, "print the TXT records by which domains vouch for the party, instead of the page")
	return cmd
}

// writePage puts the page in the place of another, mode 0644. A web server that reads the file meanwhile shows one of the
// two, and never a half.
func (a *app) writePage(cmd *cobra.Command, f keyFolder, out string, page []byte) error {
	if err := replaceFile(out, page); err != nil {
		return usage("--out: %w", err)
	}
	return a.print(cmd, map[string]string{"file": out, "url": f.url()}, func() {
		cmd.Printf("wrote %s, to be found at\n  %s\n", out, f.url())
	})
}

// replaceFile takes the place of a file only: put in the place of a device it would be the end of that for everybody.
func replaceFile(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file: name one, or none to print the page", path)
	}
	part, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".part")
	if err != nil {
		return err
	}
	_, err = part.Write(data)
	if err = errors.Join(err, part.Chmod(0o644), part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// vouch is a TXT record by which a domain vouches for a party, for every address in it (profile: "Party keys and the trust
// rule").
type vouch struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// vouches is one record for each domain that the party has an inbox in.
func (f keyFolder) vouches() []vouch {
	var list []vouch
	for _, in := range f.cfg.Inboxes {
		v := vouch{party.VouchName(address.Of(in.Address)), f.in.Party}
		if in.Party == f.in.Party && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// printVouches prints records as they stand in a zone file (RFC 1035 §5.1).
func (a *app) printVouches(cmd *cobra.Command, list []vouch) error {
	return a.print(cmd, list, func() {
		for _, v := range list {
			cmd.Printf("%s. 3600 IN TXT %q\n", v.Name, v.Text)
		}
	})
}
