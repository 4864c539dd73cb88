package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/smtp"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/mailbox/mailtest"
	"github.com/miekg/dns"
	"github.com/rogpeppe/go-internal/testscript"
)

func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"world": world, "expand": expand, "until": until, "grab": grab, "code": code, "post": post,
	}
}

// world starts a mail server for agent@buyer.test and agent@seller.test, whose
// passwords are buyer-password and seller-password, and a DNS server that
// knows their DKIM keys; those are put into buyer.pem and seller.pem. The
// ports are in IMAP, SMTP and DNS.
func world(ts *testscript.TestScript, _ bool, _ []string) {
	server, err := mailtest.Start(mailtest.Options{Users: map[string]string{
		"agent@buyer.test": "buyer-password", "agent@seller.test": "seller-password",
	}})
	ts.Check(err)
	ts.Defer(func() { ts.Check(server.Close()) })
	names := zone{}
	for _, side := range []string{"buyer", "seller"} {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		ts.Check(err)
		der, err := x509.MarshalPKCS8PrivateKey(private)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(side+".pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
		names["s1._domainkey."+side+".test."] = dkim.KeyRecord(public)
	}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	ts.Check(err)
	answers := &dns.Server{PacketConn: conn, Handler: names}
	started, ended := make(chan struct{}), make(chan error, 1)
	answers.NotifyStartedFunc = func() { close(started) }
	go func() { ended <- answers.ActivateAndServe() }()
	<-started
	ts.Defer(func() {
		ts.Check(answers.ShutdownContext(context.Background()))
		ts.Check(<-ended)
	})
	ts.Setenv("IMAP", strconv.Itoa(server.IMAP().Port))
	ts.Setenv("SMTP", strconv.Itoa(server.SMTP().Port))
	ts.Setenv("DNS", conn.LocalAddr().String())
}

// post sends a mail of agent@buyer.test, signed with buyer.pem, to
// agent@seller.test. Variables in it are replaced.
func post(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.ReplaceAll(os.Expand(ts.ReadFile(args[0]), ts.Getenv), "\n", "\r\n")
	key, err := dkim.LoadKey(ts.MkAbs("buyer.pem"))
	ts.Check(err)
	signer, err := dkim.NewSigner("buyer.test", "s1", key)
	ts.Check(err)
	raw, err := signer.Sign([]byte(text), time.Now())
	ts.Check(err)
	from := "agent@buyer.test"
	ts.Check(smtp.SendMail("127.0.0.1:"+ts.Getenv("SMTP"), smtp.PlainAuth("", from, "buyer-password", "127.0.0.1"), from, []string{"agent@seller.test"}, raw))
}

// zone is TXT records by name.
type zone map[string]string

// ServeDNS answers with a record, or that there is no such name.
func (z zone) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	m := new(dns.Msg)
	m.SetReply(q)
	if text, ok := z[q.Question[0].Name]; ok {
		m.Answer = []dns.RR{&dns.TXT{
			Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 60},
			Txt: []string{text},
		}}
	} else {
		m.Rcode = dns.RcodeNameError
	}
	_ = w.WriteMsg(m)
}

// expand replaces the variables in files.
func expand(ts *testscript.TestScript, _ bool, files []string) {
	for _, name := range files {
		text := os.Expand(ts.ReadFile(name), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

// tries bounds until; each try is a process.
const tries = 400

// until runs a command again and again until its output matches.
func until(ts *testscript.TestScript, _ bool, args []string) {
	want := regexp.MustCompile("(?m)" + args[0])
	for range tries {
		_ = ts.Exec(args[1], args[2:]...)
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("%s never wrote %s", strings.Join(args[1:], " "), args[0])
}

// grab sets a variable to what the first group of a pattern matches in the
// output of the last command.
func grab(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("%s is not in the output", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// code runs agentmaild and checks its exit code, and that a failure is told in
// one line on standard error and nowhere else.
func code(ts *testscript.TestScript, _ bool, args []string) {
	_ = ts.Exec("sh", append([]string{"-c", `agentmaild "$@"; echo $? >code`, "sh"}, args[1:]...)...)
	got, complaint := strings.TrimSpace(ts.ReadFile("code")), ts.ReadFile("stderr")
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
	if got != "0" && (strings.Count(complaint, "\n") != 1 || !strings.HasPrefix(complaint, "agentmaild: ")) {
		ts.Fatalf("it complains in another form than one line: %q", complaint)
	}
}
