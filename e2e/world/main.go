// Command world is the rest of the internet for the end-to-end tests: a DNS
// server that answers from a zone file, an HTTPS server for key pages, and the
// policy by which the submission server refuses recipients. All read their
// files anew for every question, so that a test can change them while
// everything runs.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/miekg/dns"
)

func main() {
	dnsAddr := flag.String("dns", "127.0.0.1:11053", "address of the DNS server, UDP and TCP")
	zone := flag.String("zone", "zone.txt", "zone file, RFC 1035 §5")
	httpsAddr := flag.String("https", "127.0.0.1:443", "address of the HTTPS server; empty: none")
	pages := flag.String("pages", "pages", "folder of the key pages")
	cert := flag.String("cert", "cert.pem", "certificate")
	key := flag.String("key", "key.pem", "its key")
	policy := flag.String("policy", "127.0.0.1:11999", "address of the policy server")
	access := flag.String("access", "access.txt", "recipients that are refused, each with the reply")
	flag.Parse()

	for _, network := range []string{"udp", "tcp"} {
		server := &dns.Server{Addr: *dnsAddr, Net: network, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
			m := answer(*zone, q)
			if network == "udp" {
				m.Truncate(udpSize(q))
			}
			_ = w.WriteMsg(m)
		})}
		go func() { log.Fatal(server.ListenAndServe()) }()
	}
	if *httpsAddr != "" {
		files := http.FileServer(http.Dir(*pages))
		go func() { log.Fatal(http.ListenAndServeTLS(*httpsAddr, *cert, *key, files)) }()
	}
	go func() { log.Fatal(servePolicy(*policy, *access)) }()
	fmt.Println("ready")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	<-stop
}

// answer looks a question up in the zone file.
func answer(zone string, q *dns.Msg) *dns.Msg {
	m := new(dns.Msg)
	m.SetReply(q)
	m.RecursionAvailable = true
	file, err := os.Open(zone)
	if err != nil {
		m.Rcode = dns.RcodeServerFailure
		return m
	}
	defer file.Close()
	known := false
	parser := dns.NewZoneParser(file, ".", zone)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		if !strings.EqualFold(rr.Header().Name, q.Question[0].Name) {
			continue
		}
		known = true
		if rr.Header().Rrtype == q.Question[0].Qtype {
			m.Answer = append(m.Answer, rr)
		}
	}
	switch {
	case parser.Err() != nil:
		m.Rcode = dns.RcodeServerFailure
	case !known:
		m.Rcode = dns.RcodeNameError
	}
	return m
}

func udpSize(q *dns.Msg) int {
	if o := q.IsEdns0(); o != nil {
		return int(o.UDPSize())
	}
	return dns.MinMsgSize
}
