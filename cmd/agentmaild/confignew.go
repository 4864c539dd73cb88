package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/agentmaild/agentmaild/config"
	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// answers are what a first configuration is made of.
type answers struct {
	Name, Address, Org, Contact string
	IMAP, SMTP, TLS             string
	Party, PriceList, Unsigned  string
}

// firstConfiguration has the keys that differ from one owner to another; the
// others are in config.example.toml. A TOML string may be written as in JSON.
var firstConfiguration = template.Must(template.New("").Funcs(template.FuncMap{
	"text": func(s string) (string, error) { data, err := json.Marshal(s); return string(data), err },
	"host": func(server string) string { host, _ := splitPort(server); return host },
	"port": func(server string) string { _, port := splitPort(server); return port },
	"tls":  tlsOf,
}).Parse(`# All keys: config.example.toml and docs/configuration.md. After a change: agentmaild config check
state_dir = "state"

[[inbox]]
name = {{text .Name}}
address = {{text .Address}}
org_name = {{text .Org}}
contact = {{text .Contact}}
{{- if ne .Contact .Address}}
notify = {{text .Contact}}
{{- end}}
agent_name = {{text .Name}}
{{- with .Party}}
party = {{text .}}
{{- end}}
{{- with .PriceList}}
price_list = {{text .}}
{{- end}}
{{- with .Unsigned}}
unsigned = {{text .}}
{{- end}}

[inbox.imap]
host = {{text (host .IMAP)}}
{{- with port .IMAP}}
port = {{.}}
{{- end}}
{{- with tls $.TLS .IMAP}}
tls = {{text .}}
{{- end}}
password_file = {{text (printf "%s.password" .Name)}}

[inbox.smtp]
host = {{text (host .SMTP)}}
{{- with port .SMTP}}
port = {{.}}
{{- end}}
{{- with tls $.TLS .SMTP}}
tls = {{text .}}
{{- end}}
`))

func splitPort(server string) (host, port string) {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return server, ""
	}
	return host, port
}

// tlsOf is the tls key of a server: what was asked for, or STARTTLS at the
// ports that are kept for it (RFC 3501 §2.1, RFC 6409 §3.1).
func tlsOf(asked, server string) string {
	_, port := splitPort(server)
	if asked == "" && (port == "143" || port == "587") {
		return "starttls"
	}
	return asked
}

func (a *app) configNewCommand() *cobra.Command {
	var in answers
	cmd := &cobra.Command{
		Use: "new", Short: "Write a first configuration and the file of its password", Args: cobra.NoArgs,
		Long: "Writes agentmaild.toml, or the file that --config names, with one inbox, and beside it\n" +
			"the password, which is asked for, or read from standard input. Nothing that is there is overwritten.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.configNew(cmd, in) },
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Address, "address", "", "email `ADDRESS` of the mailbox")
	flags.StringVar(&in.IMAP, "imap", "", "`HOST` or HOST:PORT where mail is read")
	flags.StringVar(&in.SMTP, "smtp", "", "`HOST` or HOST:PORT where mail is sent")
	flags.StringVar(&in.Org, "org", "", "`NAME` of the organisation that the agent acts for")
	flags.StringVar(&in.Contact, "contact", "", "email `ADDRESS` of the person behind it")
	flags.StringVar(&in.Name, "name", "sales", "`NAME` of the inbox")
	flags.StringVar(&in.Party, "party", "", "public `ID` of the party, to sign messages")
	flags.StringVar(&in.PriceList, "price-list", "", "`FILE` to quote from")
	flags.StringVar(&in.Unsigned, "unsigned", "", "what becomes of messages that are not signed: hold, ignore or allow (default hold)")
	flags.StringVar(&in.TLS, "tls", "", "tls, starttls, or none for servers on this machine (default: by the port)")
	return cmd
}

func (a *app) configNew(cmd *cobra.Command, in answers) error {
	for _, name := range []string{"address", "imap", "smtp", "org", "contact"} {
		if !cmd.Flags().Changed(name) {
			return usage("--%s is missing: --address, --imap, --smtp, --org and --contact are needed", name)
		}
	}
	path := cmp.Or(a.configPath, "agentmaild.toml")
	secret := filepath.Join(filepath.Dir(path), in.Name+".password")
	for _, file := range []string{path, secret} {
		if _, err := os.Lstat(file); err == nil {
			return usage("%s is there already: remove it, or name another place with --config or --name", file)
		}
	}
	if err := in.place(path); err != nil {
		return err
	}
	var text strings.Builder
	if err := firstConfiguration.Execute(&text, in); err != nil {
		return usage("%w", err)
	}
	password, err := askPassword(cmd.InOrStdin(), cmd.ErrOrStderr(), in.Address)
	if err != nil {
		return err
	}
	if err := errors.Join(writeNew(secret, password+"\n"), writeNew(path, text.String())); err != nil {
		return err
	}
	if _, err := config.Load(path); err != nil {
		return errors.Join(err, os.Remove(path), os.Remove(secret))
	}
	return a.print(cmd, map[string]string{"config": path, "password": secret}, func() {
		cmd.Printf("written: %s, %s\nnext: agentmaild config check, then agentmaild run\n", path, secret)
	})
}

// place has the price list named as seen from the configuration.
func (in *answers) place(path string) error {
	if in.PriceList == "" {
		return nil
	}
	absolute, err := filepath.Abs(in.PriceList)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	if near, err := filepath.Rel(dir, absolute); err == nil && !strings.HasPrefix(near, "..") {
		absolute = near
	}
	in.PriceList = absolute
	return nil
}

// maxPassword bounds what is read as a password, in bytes.
const maxPassword = 1024

// askPassword asks at a terminal, without showing what is typed, and else
// reads the first line.
func askPassword(in io.Reader, out io.Writer, address string) (string, error) {
	var line string
	if file, ok := in.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		fmt.Fprintf(out, "Password of the mailbox of %s: ", address)
		typed, err := term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(out)
		if err != nil {
			return "", fmt.Errorf("reading the password: %w", err)
		}
		line = string(typed)
	} else {
		read, err := bufio.NewReader(io.LimitReader(in, maxPassword)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("reading the password: %w", err)
		}
		line = strings.TrimRight(read, "\r\n")
	}
	if line == "" {
		return "", usage("the password is empty: type it, or give it as one line on standard input")
	}
	return line, nil
}

// writeNew writes a file that only its owner may read; one that is there stays
// as it is.
func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}
