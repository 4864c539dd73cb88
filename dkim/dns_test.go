package dkim

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// patience is longer than any answer on this machine takes.
const patience = 10 * time.Second

// serve runs a DNS server on one UDP and TCP port and returns its address.
func serve(t *testing.T, handle dns.HandlerFunc) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := net.ListenPacket("udp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []*dns.Server{{Listener: listener}, {PacketConn: packets}} {
		started, ended := make(chan struct{}), make(chan error, 1)
		server.Handler = handle
		server.NotifyStartedFunc = func() { close(started) }
		go func() { ended <- server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() {
			if err := server.Shutdown(); err != nil {
				t.Error(err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	return listener.Addr().String()
}

// txt is a TXT record of the given character-strings.
func txt(name string, strings ...string) dns.RR {
	return &dns.TXT{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: strings}
}

func cname(name, target string) dns.RR {
	return &dns.CNAME{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET}, Target: target}
}

// zone answers as a resolver would; the name decides how.
func zone(w dns.ResponseWriter, question *dns.Msg) {
	reply := new(dns.Msg).SetReply(question)
	long := strings.Repeat("x", 255)
	overUDP := w.LocalAddr().Network() == "udp"
	switch name := question.Question[0].Name; name {
	case "plain.test.":
		reply.Answer = []dns.RR{txt(name, "one"), txt(name, "two")}
	case "split.test.":
		reply.Answer = []dns.RR{txt(name, "p=ab", "", "cd")}
	case "escaped.test.":
		reply.Answer = []dns.RR{txt(name, `a\"b\\c\000\255d`)}
	case "case.test.":
		reply.Answer = []dns.RR{txt("CASE.test.", "one")}
	case "edns.test.":
		reply.Answer = []dns.RR{txt(name, "no EDNS0")}
		if opt := question.IsEdns0(); opt != nil && opt.UDPSize() == udpSize {
			reply.Answer = []dns.RR{txt(name, "EDNS0")}
		}
	case "large.test.":
		reply.Answer = []dns.RR{txt(name, long, long, long, long, long, long)}
		reply.Truncated = overUDP
		if overUDP {
			reply.Answer = nil
		}
	case "cut.test.":
		reply.Truncated = true
	case "alias.test.":
		reply.Answer = []dns.RR{cname(name, "middle.test."), cname("MIDDLE.test.", "end.test."), txt("end.test.", "followed")}
	case "forwarded.test.":
		reply.Answer = []dns.RR{cname(name, "plain.test.")}
	case "dangling.test.":
		reply.Answer = []dns.RR{cname(name, "nothing.test.")}
	case "odd.test.":
		reply.Answer = []dns.RR{cname(name, `x\000y.test.`)}
	case "loop.test.":
		reply.Answer = []dns.RR{cname(name, "pool.test.")}
	case "pool.test.":
		reply.Answer = []dns.RR{cname(name, "loop.test.")}
	case "ring.test.":
		reply.Answer = []dns.RR{cname(name, "ring.test.")}
	case "stray.test.":
		reply.Answer = []dns.RR{txt("other.test.", "not asked for")}
	case "other.test.":
		reply.Question[0].Name = "plain.test."
		reply.Answer = []dns.RR{txt("plain.test.", "one")}
	case "servfail.test.":
		reply.Rcode = dns.RcodeServerFailure
	case "refused.test.":
		reply.Rcode = dns.RcodeRefused
	case "gone.test.":
		reply.Rcode = dns.RcodeNameError
	case "silent.test.":
		return
	}
	// A failed write shows as a lookup without an answer.
	_ = w.WriteMsg(reply)
}

func TestLookupTXT(t *testing.T) {
	resolver, err := NewDNS([]string{serve(t, zone)}, patience)
	if err != nil {
		t.Fatal(err)
	}
	const found, notFound, temporary = "found", "not found", "temporary"
	cases := []struct {
		name  string
		want  string
		texts []string
	}{
		{"plain.test", found, []string{"one", "two"}},
		{"plain.test.", found, []string{"one", "two"}},
		{"split.test", found, []string{"p=abcd"}},
		{"escaped.test", found, []string{"a\"b\\c\x00\xffd"}},
		{"case.test", found, []string{"one"}},
		{"edns.test", found, []string{"EDNS0"}},
		{"large.test", found, []string{strings.Repeat("x", 6*255)}},
		{"alias.test", found, []string{"followed"}},
		{"forwarded.test", found, []string{"one", "two"}},
		{"gone.test", notFound, nil},
		{"nothing.test", notFound, nil},
		{"dangling.test", notFound, nil},
		{"stray.test", notFound, nil},
		{"odd.test", notFound, nil},
		{"", notFound, nil},
		{"a..test", notFound, nil},
		{"a b.test", notFound, nil},
		{"a\x00.test", notFound, nil},
		{strings.Repeat("a", 64) + ".test", notFound, nil},
		{strings.Repeat("a.", 125) + "test", notFound, nil},
		{"servfail.test", temporary, nil},
		{"refused.test", temporary, nil},
		{"other.test", temporary, nil},
		{"cut.test", temporary, nil},
		{"loop.test", temporary, nil},
		{"ring.test", notFound, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			texts, err := resolver.LookupTXT(context.Background(), c.name)
			got := found
			var failed *net.DNSError
			if errors.As(err, &failed) {
				got = temporary
				if failed.IsNotFound {
					got = notFound
				}
				if failed.IsTemporary == failed.IsNotFound {
					t.Errorf("%+v is neither or both", failed)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Fatalf("%s, want %s (%v)", got, c.want, err)
			}
			if diff := cmp.Diff(c.texts, texts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLookupTXTTimeout(t *testing.T) {
	resolver, err := NewDNS([]string{serve(t, zone)}, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	_, err = resolver.LookupTXT(context.Background(), "silent.test")
	var failed *net.DNSError
	if !errors.As(err, &failed) || !failed.IsTimeout || !failed.IsTemporary || failed.IsNotFound {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = resolver.LookupTXT(ctx, "silent.test")
	if !errors.As(err, &failed) || !failed.IsTemporary || failed.IsNotFound {
		t.Errorf("cancelled: got %v", err)
	}
}

// The next server is asked when one does not know, not when one says no.
func TestServersInOrder(t *testing.T) {
	broken := serve(t, func(w dns.ResponseWriter, question *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetRcode(question, dns.RcodeServerFailure))
	})
	resolver, err := NewDNS([]string{broken, serve(t, zone)}, patience)
	if err != nil {
		t.Fatal(err)
	}
	if texts, err := resolver.LookupTXT(context.Background(), "plain.test"); err != nil || len(texts) != 2 {
		t.Errorf("behind a broken server: %q, %v", texts, err)
	}
	empty := serve(t, func(w dns.ResponseWriter, question *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetRcode(question, dns.RcodeNameError))
	})
	resolver, err = NewDNS([]string{empty, serve(t, zone)}, patience)
	if err != nil {
		t.Fatal(err)
	}
	if texts, err := resolver.LookupTXT(context.Background(), "plain.test"); err == nil {
		t.Errorf("behind a server that says no: %q", texts)
	}
}

func TestNewDNS(t *testing.T) {
	resolver, err := NewDNS([]string{"192.0.2.1", "2001:db8::1", "192.0.2.2:5353"}, patience)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"192.0.2.1:53", "[2001:db8::1]:53", "192.0.2.2:5353"}
	if diff := cmp.Diff(want, resolver.servers); diff != "" {
		t.Error(diff)
	}
}

// A key split over character-strings, inside p= too, verifies a mail through a
// real server.
func TestSplitKeyOverDNS(t *testing.T) {
	s := newScene(t)
	record := KeyRecord(s.key.Public())
	address := serve(t, func(w dns.ResponseWriter, question *dns.Msg) {
		reply := new(dns.Msg).SetReply(question)
		reply.Answer = []dns.RR{txt(question.Question[0].Name, record[:17], record[17:200], record[200:])}
		_ = w.WriteMsg(reply)
	})
	resolver, err := NewDNS([]string{address}, patience)
	if err != nil {
		t.Fatal(err)
	}
	s.checker.Resolver = resolver
	if got := s.authenticate(t); got.Outcome != Pass {
		t.Error(got.Reason)
	}
}
