package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/limits"
)

const maxText = 200 // characters; D3 for the names in a message

// address puts an address into its comparable form.
func (m *mistakes) address(at string, value *string) {
	parsed, err := address.Parse(*value) // D9
	if err != nil {
		m.add(at, "must be an address such as agent@seller.example, is %q: %v", *value, err)
		return
	}
	*value = parsed
}

// printable refuses control characters: a line end in a name would begin a
// header, one in a folder another command. D10
func (m *mistakes) printable(at, value string) {
	if utf8.RuneCountInString(value) > maxText || strings.ContainsFunc(value, unicode.IsControl) {
		m.add(at, "must be at most %d characters without control characters", maxText)
	}
}

func (m *mistakes) party(at string, box *Inbox, hosts []string) {
	if box.Party != "" && !partyID.MatchString(box.Party) {
		m.add(join(at, "party"), "must be pty_ and 20 of a-z and 0-9, is %q", box.Party)
	}
	if box.KeyHost != "" {
		m.keyHost(join(at, "key_host"), box.KeyHost)
	} else if box.Party != "" && len(hosts) == 0 && !m.reported["trust.hosts"] {
		m.add(join(at, "key_host"), "must be set where party is and trust.hosts is empty")
	}
}

// keyHost takes a host as it stands in the address of a key page, compared as
// text: any other spelling would never match. Profile: "Party keys".
func (m *mistakes) keyHost(at, host string) {
	name, err := address.Domain(host)
	_, notIP := netip.ParseAddr(host)
	if err != nil || name != host || notIP == nil {
		m.add(at, "must be a host name in lower case without https://, port and path, is %q", host)
	}
}

func (m *mistakes) public(public *Public) {
	m.listen("public.listen", public.Listen)
	m.caFile("public.cert_file", public.CertFile)
	m.privateFile("public.key_file", public.KeyFile)
	switch {
	case public.CertFile != "" && public.KeyFile == "":
		m.add("public.key_file", "must be set where public.cert_file is")
	case public.CertFile == "" && public.KeyFile != "":
		m.add("public.cert_file", "must be set where public.key_file is")
	case public.CertFile != "" && public.Listen == "":
		m.add("public.listen", "must be set where public.cert_file is")
	}
}

// metrics keeps to this machine what has no login, unless that is not wanted.
func (m *mistakes) metrics(metrics *Metrics) {
	m.listen("metrics.listen", metrics.Listen)
	host, _, _ := net.SplitHostPort(metrics.Listen)
	if metrics.Listen != "" && !isLoopback(host) && !metrics.AllowRemote {
		m.add("metrics.listen", "must be on a loopback address, as 127.0.0.1:9464, or metrics.allow_remote be true, is %q", metrics.Listen)
	}
}

// api checks where the API is answered, and by which names.
func (m *mistakes) api(api *API) {
	m.listen("api.listen", api.Listen)
	host, _, _ := net.SplitHostPort(api.Listen)
	if api.Listen != "" && !isLoopback(host) && !api.AllowRemote {
		m.add("api.listen", "must be on a loopback address, as 127.0.0.1:8465, or api.allow_remote be true, is %q", api.Listen)
	}
	for i, host := range api.Hosts {
		if !isHost(host) {
			m.add(entry("api.hosts", i), "must be a host name without scheme and port, as agent.example.com, is %q", host)
		}
	}
}

// webhooks checks where events are told. The address is not shown: a secret may stand in it.
func (m *mistakes) webhooks(at string, hooks []Webhook) {
	seen := map[string]bool{}
	for i, hook := range hooks {
		here := entry(join(at, "webhook"), i)
		u, err := url.Parse(hook.URL)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
			m.add(join(here, "url"), "must be an https address, or http on a loopback host")
		case u.User != nil || u.Fragment != "":
			m.add(join(here, "url"), "must have no user, password or #: what is told is signed")
		case seen[hook.URL]:
			m.add(join(here, "url"), "is that of another webhook of this inbox")
		}
		seen[hook.URL] = true
		m.privateFile(join(here, "secret_file"), hook.SecretFile)
	}
}

// limits checks what the agent may do.
func (m *mistakes) limits(at string, table *limits.Table) {
	if table == nil {
		return
	}
	_, wrong := table.Limits()
	for _, w := range wrong {
		m.add(at+"."+w.Key, "%s", w.Text)
	}
	if table.Times != nil {
		m.plainFile(at+".times.calendar", table.Times.Calendar, "an iCalendar file")
	}
}

// listen checks where a listener is, if it is anywhere.
func (m *mistakes) listen(at, address string) {
	host, port, err := net.SplitHostPort(address)
	if _, notNumber := strconv.ParseUint(port, 10, 16); address != "" && (err != nil || notNumber != nil || host != "" && !isHost(host)) {
		m.add(at, "must be host:port or :port, as 127.0.0.1:8080, is %q", address)
	}
}

func (m *mistakes) auth(at string, auth Auth) {
	if strings.ContainsFunc(auth.AuthservID, func(r rune) bool { return r <= ' ' || r > '~' }) {
		m.add(join(at, "authserv_id"), "must be the first word of the provider's Authentication-Results, is %q", auth.AuthservID)
	}
	// D53: without a name every field in the mail would count, forged ones too.
	if auth.Mode == "authres" && auth.AuthservID == "" {
		m.add(join(at, "authserv_id"), `must be set in mode "authres"; if the provider writes none, as Microsoft 365, set mode = "verify"`)
	}
}

// server checks what imap and smtp share; implicit says that the port is the
// one that speaks TLS from the first byte.
func (m *mistakes) server(at string, server *Server, implicit bool) {
	if !isHost(server.Host) {
		m.add(join(at, "host"), "must be a host name or an IP address without scheme and port, is %q", server.Host)
	}
	m.printable(join(at, "user"), server.User)
	switch {
	case server.TLS == "none" && !isLoopback(server.Host): // the password would cross the network in clear
		m.add(join(at, "tls"), `"none" is for loopback hosts only: set "tls" or "starttls"`)
	case server.TLS == "starttls" && implicit: // both sides would wait for the other to speak
		m.add(join(at, "port"), `is one for tls = "tls": with "starttls" it is usually 143 for imap, 587 for smtp`)
	}
	m.caFile(join(at, "ca_file"), server.CAFile)
}

func (m *mistakes) dkim(at string, box *Inbox) {
	domain, err := address.Domain(box.DKIM.Domain)
	from := address.Of(box.Address)
	switch {
	case err != nil:
		m.add(join(at, "domain"), "must be a domain, is %q", box.DKIM.Domain)
	case m.reported[join(parent(at), "address")]: // not known what to compare with
	case !below(domain, from) && !below(from, domain):
		// D21: signed by a stranger, the mail would count nowhere.
		m.add(join(at, "domain"), "must be %s, or a domain above or below it, is %q", from, domain)
	}
	selector, err := address.Domain(box.DKIM.Selector)
	if err != nil {
		m.add(join(at, "selector"), "must be of letters, digits, hyphens and dots, is %q", box.DKIM.Selector)
	}
	box.DKIM.Domain, box.DKIM.Selector = domain, selector
	m.privateFile(join(at, "key_file"), box.DKIM.KeyFile)
}

// below says whether a domain is another one or lies below it.
func below(domain, above string) bool {
	return domain == above || strings.HasSuffix(domain, "."+above)
}

func isHost(host string) bool {
	_, notIP := netip.ParseAddr(host)
	_, notName := address.Domain(host)
	return notIP == nil || notName == nil
}

// isLoopback takes localhost as a name by RFC 6761 §6.3.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
