package config

import (
	"net"
	"regexp"
	"strconv"
)

var (
	inboxName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	partyID   = regexp.MustCompile(`^pty_[a-z0-9]{20}$`) // profile: "The message", from.party
)

const maxSocket = 103 // bytes of the path of a Unix socket: 107 on Linux, 103 elsewhere

// check finds the mistakes that no key shows alone, and those in named files.
func check(m *mistakes, c *Config) {
	if n := len(c.SocketPath()); n > maxSocket {
		m.add("state_dir", "must be shorter by %d bytes: %s is too long for a socket", n-maxSocket, c.SocketPath())
	}
	for i, server := range c.DNS.Servers {
		host, port, err := net.SplitHostPort(server)
		if n, notNumber := strconv.ParseUint(port, 10, 16); err != nil || notNumber != nil || n == 0 || !isHost(host) {
			m.add(entry("dns.servers", i), "must be host:port, as 192.0.2.1:53, is %q", server)
		}
	}
	for i, host := range c.Trust.Hosts {
		m.keyHost(entry("trust.hosts", i), host)
	}
	m.caFile("trust.ca_file", c.Trust.CAFile)
	m.public(&c.Public)
	m.metrics(&c.Metrics)
	m.api(&c.API)
	names, addresses := map[string]string{}, map[string]string{}
	for i := range c.Inboxes {
		at, box := entry("inbox", i), &c.Inboxes[i]
		m.inbox(at, box, c.Trust.Hosts)
		m.unique(names, join(at, "name"), box.Name)
		m.unique(addresses, join(at, "address"), box.Address)
	}
	for i := range c.Inboxes {
		if at, taken := addresses[c.Inboxes[i].Notify]; taken {
			m.add(join(entry("inbox", i), "notify"), "must be the address of a person, is that of the inbox in line %d", m.lines.of(at))
		}
	}
}

// unique refuses a value that another inbox has: two would answer one mail, or
// write over each other's deals.
func (m *mistakes) unique(seen map[string]string, at, value string) {
	if first, ok := seen[value]; ok && value != "" {
		m.add(at, "%q is taken by the inbox in line %d: each needs its own", value, m.lines.of(first))
		return
	}
	seen[value] = at
}

func (m *mistakes) inbox(at string, box *Inbox, hosts []string) {
	if !inboxName.MatchString(box.Name) {
		m.add(join(at, "name"), "must be a-z, 0-9 and hyphens, at most 63 and no hyphen first, is %q", box.Name)
	}
	m.address(join(at, "address"), &box.Address)
	m.address(join(at, "contact"), &box.Contact)
	if box.Notify != "" {
		m.address(join(at, "notify"), &box.Notify)
	}
	m.printable(join(at, "display_name"), box.DisplayName)
	m.printable(join(at, "org_name"), box.OrgName)
	m.printable(join(at, "agent_name"), box.AgentName)
	m.party(at, box, hosts)
	m.command(join(at, "handler"), box.Handler)
	m.agent(at, &box.Agent)
	m.plainFile(join(at, "price_list"), box.PriceList, "a price list, as docs/pricelist.md has it")
	m.limits(join(at, "limits"), box.Limits)
	m.webhooks(at, box.Webhooks)
	m.auth(join(at, "auth"), box.Auth)
	m.server(join(at, "imap"), &box.IMAP.Server, box.IMAP.Port == 993)
	m.secret(join(at, "imap"), box.IMAP.Secret)
	m.printable(join(join(at, "imap"), "folder"), box.IMAP.Folder)
	m.server(join(at, "smtp"), &box.SMTP.Server, box.SMTP.Port == 465)
	if box.SMTP.ownLogin() {
		m.secret(join(at, "smtp"), box.SMTP.Secret)
	}
	if box.DKIM != nil {
		m.dkim(join(at, "dkim"), box)
	}
}
