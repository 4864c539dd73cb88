package dkim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// udpSize is the answer size offered over UDP, in bytes: the largest that
// crosses common links in one piece (RFC 9715).
const udpSize = 1232

// maxAliases bounds how many CNAME questions one lookup may cause.
const maxAliases = 8

// DNS is a Resolver that asks recursive DNS servers. It does not check DNSSEC
// and keeps no answers: point it at a validating, caching server close by.
type DNS struct {
	servers  []string // host:port, asked in this order
	timeout  time.Duration
	udp, tcp *dns.Client
}

// NewDNS returns a DNS that asks servers ("host" or "host:port") in order,
// each question for at most timeout. Without servers those of
// /etc/resolv.conf are used; the error is about reading that file.
func NewDNS(servers []string, timeout time.Duration) (*DNS, error) {
	d := &DNS{timeout: timeout, udp: &dns.Client{Net: "udp"}, tcp: &dns.Client{Net: "tcp"}}
	if len(servers) == 0 {
		system, err := dns.ClientConfigFromFile("/etc/resolv.conf")
		if err != nil {
			return nil, fmt.Errorf("finding the DNS servers of this machine: %w", err)
		}
		servers = system.Servers
	}
	for _, server := range servers {
		if _, _, err := net.SplitHostPort(server); err != nil {
			server = net.JoinHostPort(server, "53")
		}
		d.servers = append(d.servers, server)
	}
	if len(d.servers) == 0 {
		return nil, errors.New("no DNS server is known")
	}
	return d, nil
}

// LookupTXT returns the TXT records at name, each with its character-strings
// joined (RFC 6376 §3.6.2.2), CNAMEs followed. All errors are *net.DNSError:
// IsNotFound for NXDOMAIN, for no TXT record and for what is no name;
// IsTemporary for everything else, as timeouts, SERVFAIL and REFUSED.
func (d *DNS) LookupTXT(ctx context.Context, name string) ([]string, error) {
	owner := name
	for range maxAliases {
		owner = strings.TrimSuffix(owner, ".")
		// RFC 1035 §2.3.4. A name with a NUL or a space is nobody's.
		if !isName(owner, true) {
			return nil, &net.DNSError{Err: "no host name", Name: name, IsNotFound: true}
		}
		reply, err := d.ask(ctx, owner)
		if err != nil {
			return nil, err
		}
		texts, last := readTXT(reply, dns.Fqdn(owner))
		if len(texts) > 0 {
			return texts, nil
		}
		if strings.EqualFold(last, dns.Fqdn(owner)) {
			return nil, &net.DNSError{Err: "no TXT record", Name: name, IsNotFound: true}
		}
		// A full resolver answers for the end of a chain; one that only forwards
		// may leave the rest to us.
		owner = last
	}
	return nil, &net.DNSError{Err: "too many aliases", Name: name, IsTemporary: true}
}

// ask puts one question to the servers in order, until one knows.
func (d *DNS) ask(ctx context.Context, name string) (*dns.Msg, error) {
	var trouble *net.DNSError
	for _, server := range d.servers {
		reply, err := d.exchange(ctx, name, server)
		switch {
		case err != nil:
			var timeout net.Error
			trouble = &net.DNSError{
				UnwrapErr: err, Err: err.Error(), Name: name, Server: server,
				IsTimeout: errors.As(err, &timeout) && timeout.Timeout(), IsTemporary: true,
			}
		case reply.Rcode == dns.RcodeSuccess:
			return reply, nil
		case reply.Rcode == dns.RcodeNameError:
			return nil, &net.DNSError{Err: "no such name", Name: name, Server: server, IsNotFound: true}
		default:
			trouble = &net.DNSError{Err: dns.RcodeToString[reply.Rcode], Name: name, Server: server, IsTemporary: true}
		}
	}
	return nil, trouble
}

// exchange asks one server over UDP, and over TCP where the answer was cut.
func (d *DNS) exchange(ctx context.Context, name, server string) (*dns.Msg, error) {
	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeTXT).SetEdns0(udpSize, false)
	for _, client := range []*dns.Client{d.udp, d.tcp} {
		limited, cancel := context.WithTimeout(ctx, d.timeout)
		reply, _, err := client.ExchangeContext(limited, question, server)
		cancel()
		if err != nil {
			return nil, err
		}
		// A reply to another question, late or forged, says nothing.
		if len(reply.Question) != 1 || !strings.EqualFold(reply.Question[0].Name, question.Question[0].Name) ||
			reply.Question[0].Qtype != dns.TypeTXT {
			return nil, errors.New("an answer to another question")
		}
		if !reply.Truncated {
			return reply, nil
		}
	}
	return nil, errors.New("the answer is cut off even over TCP")
}

// readTXT follows the CNAMEs of a reply from owner and returns the TXT records
// at the last name. Records of other names are nobody's answer.
func readTXT(reply *dns.Msg, owner string) (texts []string, last string) {
	aliases := map[string]string{}
	for _, rr := range reply.Answer {
		if alias, ok := rr.(*dns.CNAME); ok {
			aliases[strings.ToLower(alias.Hdr.Name)] = alias.Target
		}
	}
	last = owner
	for range maxAliases {
		target, ok := aliases[strings.ToLower(last)]
		if !ok {
			break
		}
		last = target
	}
	for _, rr := range reply.Answer {
		if txt, ok := rr.(*dns.TXT); ok && strings.EqualFold(txt.Hdr.Name, last) {
			texts = append(texts, unescape(strings.Join(txt.Txt, "")))
		}
	}
	return texts, last
}

// unescape undoes the zone-file form in which the library hands out text: a
// backslash before a quote, a backslash or three digits.
func unescape(text string) string {
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			plain.WriteByte(text[i])
			continue
		}
		if code, err := strconv.ParseUint(text[i+1:min(i+4, len(text))], 10, 8); err == nil {
			plain.WriteByte(byte(code))
			i += 3
			continue
		}
		i++
		plain.WriteByte(text[i])
	}
	return plain.String()
}
