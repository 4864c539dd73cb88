//go:build e2e

package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// open opens an inbox's folder, for reading alone.
func (d *side) open(options imapclient.Options) *imapclient.Client {
	d.t.Helper()
	pem, err := os.ReadFile(filepath.Join(d.stack.dir, "tls/ca.pem"))
	if err != nil {
		d.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	options.TLSConfig = &tls.Config{RootCAs: roots}
	c, err := imapclient.DialTLS("localhost:"+d.stack.imapPort(d.name+".test"), &options)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = c.Close() })
	if err := c.Login(d.address, logins[d.name].password).Wait(); err != nil {
		d.t.Fatal(err)
	}
	if _, err := c.Select("INBOX", &imap.SelectOptions{ReadOnly: true}).Wait(); err != nil {
		d.t.Fatal(err)
	}
	return c
}

// mail is one mail as the server keeps it.
type mail struct {
	flags []imap.Flag
	raw   string
}

// mails reads the whole folder.
func (d *side) mails() []mail {
	d.t.Helper()
	c := d.open(imapclient.Options{})
	defer c.Close()
	var all imap.SeqSet
	all.AddRange(1, 0)
	body := &imap.FetchItemBodySection{Peek: true}
	list, err := c.Fetch(all, &imap.FetchOptions{Flags: true, BodySection: []*imap.FetchItemBodySection{body}}).Collect()
	if err != nil {
		d.t.Fatal(err)
	}
	var mails []mail
	for _, m := range list {
		mails = append(mails, mail{m.Flags, string(m.FindBodySection(body))})
	}
	return mails
}

// signed is the part of a mail that its sender wrote: what servers add on the
// way stands above the signature.
func (m mail) signed() string { return m.raw[max(0, strings.Index(m.raw, "DKIM-Signature:")):] }

// header is a header field's value, in one line.
func (m mail) header(name string) string {
	_, field, _ := strings.Cut(m.raw, "\n"+name+": ")
	field, _, _ = strings.Cut(field, "\r\n")
	return field
}

// untouched looks at a mailbox: every mail is there, and no flag is set.
func (d *side) untouched(want int) {
	d.t.Helper()
	mails := d.mails()
	if len(mails) != want {
		d.t.Errorf("the %s: %d mails, want %d", d.name, len(mails), want)
	}
	for _, m := range mails {
		for _, flag := range m.flags {
			if flag != `\Recent` { // the server's own
				d.t.Errorf("the %s: flag %s", d.name, flag)
			}
		}
	}
}

// toMX speaks the least of SMTP, to the MX of the seller as a stranger would.
func toMX(t *testing.T, mail string) {
	t.Helper()
	c, err := net.Dial("tcp", "127.0.0.1:11025")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	buf := make([]byte, 4096)
	for _, line := range []string{"", "EHLO x\r\n", "MAIL FROM:<person@buyer.test>\r\n", "RCPT TO:<" + sellerAddress + ">\r\n", "DATA\r\n", mail + "\r\n.\r\n", "QUIT\r\n"} {
		if _, err := c.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		n, err := c.Read(buf)
		if err != nil || buf[0] > '3' {
			t.Fatalf("%q: %s %v", line, buf[:n], err)
		}
	}
}
