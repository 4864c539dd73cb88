// Package config reads the one configuration file of the daemon and checks all
// of it before anything connects. A mistake names file, line, key and the mend.
//
// The tags of the structs are the one source of every key: "toml" is its name,
// "default" its default as TOML writes it (strings and durations without
// quotes), "doc" its meaning. A key without a default must be set. "kind",
// "oneof", "min" and "max" say which values are allowed. A struct without a
// tag adds its keys to the table it stands in.
//
// A Config holds no password and no key, only where to find one.
package config

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/agentmaild/agentmaild/limits"
)

// Config is a configuration in which every value is checked and every default
// filled in. All paths are absolute.
type Config struct {
	StateDir string  `toml:"state_dir" default:"/var/lib/agentmaild" kind:"path" doc:"Folder of the store, the control socket and the keys, which no other user may enter. Made where there is none."`
	Log      Log     `toml:"log" default:"{}" doc:"What the daemon writes to standard error."`
	DNS      DNS     `toml:"dns" default:"{}" doc:"Where DKIM keys and party records are looked up."`
	Trust    Trust   `toml:"trust" default:"{}" doc:"Whose key pages are believed."`
	Public   Public  `toml:"public" default:"{}" doc:"The listener that shows our key pages to everybody, see docs/keys.md."`
	Metrics  Metrics `toml:"metrics" default:"{}" doc:"The listener for a supervisor and Prometheus, see docs/running.md."`
	API      API     `toml:"api" default:"{}" doc:"The listener for programs, models and the owner's page, see docs/api.md."`
	Inboxes  []Inbox `toml:"inbox" doc:"One table for each inbox, at least one."`

	file  string // where it was read
	lines lines
	files []string
}

// Files are the files and folders that the configuration names, keys and
// passwords among them, and its own.
func (c *Config) Files() []string { return slices.Clone(c.files) }

// Wrong is a mistake in a key that shows only to who uses it, named as Load names its own: by file and line where the
// configuration was loaded. The key is dotted; that of an inbox is in the table of its name. nil for no error.
func (c *Config) Wrong(inbox, key string, err error) error {
	if err == nil {
		return nil
	}
	path := key
	for i, box := range c.Inboxes {
		if inbox != "" && box.Name == inbox {
			path = entry("inbox", i) + "." + key
		}
	}
	e := &Error{File: c.file, Key: index.ReplaceAllString(path, ""), Text: oneLine(err.Error())}
	if c.lines != nil {
		e.Line = c.lines.of(path)
	}
	return e
}

// StorePath is the file of the store.
func (c *Config) StorePath() string { return filepath.Join(c.StateDir, "agentmaild.db") }

// SocketPath is the control socket, by which commands reach a running daemon.
func (c *Config) SocketPath() string { return filepath.Join(c.StateDir, "agentmaild.sock") }

// TokensPath is the file of the tokens of the HTTP API.
func (c *Config) TokensPath() string { return filepath.Join(c.StateDir, "tokens.json") }

// Log is the table [log].
type Log struct {
	Level  string `toml:"level" default:"info" oneof:"debug info warn error" doc:"Least severity that is logged."`
	Format string `toml:"format" default:"text" oneof:"text json" doc:"Form of a log line."`
}

// DNS is the table [dns].
type DNS struct {
	Servers []string      `toml:"servers" default:"[]" doc:"Servers as host:port, asked in this order. Empty: those of /etc/resolv.conf."`
	Timeout time.Duration `toml:"timeout" default:"5s" min:"100ms" max:"1m" doc:"Longest wait for one answer."`
}

// Trust is the table [trust].
type Trust struct {
	Hosts        []string `toml:"hosts" default:"['api.stackshift.cloud']" doc:"Hosts whose key pages are believed, each a host name alone, without scheme and port. Whoever runs one can speak for every party on it."`
	AllowPrivate bool     `toml:"allow_private" default:"false" doc:"Fetch key pages from private and loopback addresses too. For closed networks only: with it a mail can make the daemon connect to machines inside."`
	CAFile       string   `toml:"ca_file" default:"" kind:"path" doc:"PEM file of the certificate authorities of those hosts. Empty: those of the system."`
}

// Public is the table [public].
type Public struct {
	Listen   string `toml:"listen" default:"" doc:"Where it listens, host:port or :port. Empty: nowhere, and the pages are published in another way."`
	CertFile string `toml:"cert_file" default:"" kind:"path" doc:"PEM file of the certificate for key_host, with its chain. Read again on SIGHUP. Empty: plain HTTP, for a proxy in front that speaks TLS."`
	KeyFile  string `toml:"key_file" default:"" kind:"path" doc:"PEM file of the private key of the certificate, mode 0600 or narrower."`
}

// Metrics is the table [metrics].
type Metrics struct {
	Listen      string `toml:"listen" default:"" doc:"Where /healthz, /readyz and /metrics are answered, host:port. Empty: nowhere."`
	AllowRemote bool   `toml:"allow_remote" default:"false" doc:"Listen where other machines can ask too. There is no login: whoever can ask sees the names of the inboxes and how much mail they have."`
}

// API is the table [api].
type API struct {
	Listen      string   `toml:"listen" default:"" doc:"Where the HTTP API is answered, host:port. Empty: nowhere. It is plain HTTP: for other machines put a proxy in front that speaks TLS."`
	AllowRemote bool     `toml:"allow_remote" default:"false" doc:"Listen where other machines can ask too. Tokens then go over the network as they are."`
	Hosts       []string `toml:"hosts" default:"[]" doc:"Host names, without port, by which it is asked beside localhost and its own address, as that of a proxy in front. Every other name is refused, so that no web page can have a browser ask here (DNS rebinding)."`
}

// Webhook is a table [[inbox.webhook]].
type Webhook struct {
	URL        string `toml:"url" doc:"Address that is told of each event by a POST. https, or http on a loopback host."`
	SecretFile string `toml:"secret_file" kind:"path" doc:"File of the secret that signs what is told, whsec_ and 24 to 64 bytes in base64, mode 0600 or narrower. A second line may have the one before."`
}

// Inbox is a table [[inbox]]: one agent with one address.
type Inbox struct {
	Name           string        `toml:"name" doc:"Short name, as in commands, logs and the store: a-z, 0-9 and hyphens, at most 63. Not to be changed later: deals are stored under it."`
	Address        string        `toml:"address" doc:"Email address of the agent. Mail to another address is left alone."`
	DisplayName    string        `toml:"display_name" default:"" doc:"Name in front of the address in From, at most 200 characters."`
	OrgName        string        `toml:"org_name" doc:"Organisation the agent acts for, 1 to 200 characters; stands in every message."`
	Contact        string        `toml:"contact" doc:"Email address of a person there; stands in every message."`
	AgentName      string        `toml:"agent_name" doc:"Name of the agent, 1 to 200 characters; stands in every message."`
	AgentKind      string        `toml:"agent_kind" default:"connected" oneof:"stackie connected api person" doc:"What decides for the agent; stands in every message."`
	Party          string        `toml:"party" default:"" doc:"Party id under which our key page is published: pty_ and 20 of a-z and 0-9. With it messages are signed, which needs a key made by 'agentmaild keys new'. Empty: they are not signed."`
	KeyHost        string        `toml:"key_host" default:"" doc:"Host of our key page. Empty: the first of trust.hosts."`
	Unsigned       string        `toml:"unsigned" default:"hold" oneof:"hold ignore allow" doc:"What becomes of a valid message without a checked signature: held for the owner, left as plain mail, or acted on."`
	Handler        []string      `toml:"handler" default:"[]" kind:"command" doc:"Program and arguments, run for the events. Empty: events wait for a command or a person."`
	HandlerMode    string        `toml:"handler_mode" default:"event" oneof:"event stream" doc:"event: the handler is run for each event. stream: it stays, reads one event a line and answers each with a line, see docs/handler.md."`
	HandlerTimeout time.Duration `toml:"handler_timeout" default:"30s" min:"1s" max:"1h" doc:"Longest run of the handler for one event; then it is killed."`
	Notify         string        `toml:"notify" default:"" doc:"Email address that is told what waits for your decision, at most once an hour, by the inbox itself. An answer to such a mail decides nothing. Empty: nobody."`
	PriceList      string        `toml:"price_list" default:"" kind:"path" doc:"File of prices from which asks are quoted, see docs/pricelist.md. What it cannot quote goes to the handler, or waits for a person."`
	HourlyLimit    int           `toml:"hourly_limit" default:"20" min:"1" max:"10000" doc:"Most mails to one address within an hour; what is beyond it waits for the owner. One address may begin as many threads in an hour, and go on with them by ten times as many messages; what is beyond that is refused."`
	Agent
	Webhooks []Webhook     `toml:"webhook" default:"[]" doc:"One table for each address that is told of the events of the inbox, see docs/api.md."`
	Limits   *limits.Table `toml:"limits" default:"" doc:"What the agent may do without you, see docs/limits.md. Without this table the handler and the price list decide alone, and an agent that plugs in by the API or MCP decides nothing."`
	Auth     Auth          `toml:"auth" default:"{}" doc:"How it is proven who sent a mail."`
	IMAP     IMAP          `toml:"imap" doc:"Where mail is read."`
	SMTP     SMTP          `toml:"smtp" doc:"Where mail is sent."`
	DKIM     *DKIM         `toml:"dkim" default:"" doc:"Sign outgoing mail here. Without this table the mail provider signs."`
}

// Agent is the keys of [[inbox]] by which it speaks Agent Emailing.
type Agent struct {
	AgentKey   string   `toml:"agent_key" default:"" kind:"path" doc:"File of the agent's seed, made by 'agentmaild keys new --agent FILE', mode 0600 or narrower. With it the inbox speaks Agent Emailing, see docs/agents.md."`
	SealingKey string   `toml:"sealing_key" default:"" kind:"path" doc:"File of the key that others seal messages to, made by 'agentmaild keys new --sealing FILE', mode 0600 or narrower. Empty: nothing sealed can be read."`
	Sealing    string   `toml:"sealing" default:"preferred" oneof:"preferred required" doc:"required: a request that is not sealed is refused, and its sender told so."`
	Offerings  []string `toml:"offerings" default:"[]" doc:"What the agent does for others, beside chat. A request for anything else is answered with OFFERING_NOT_FOUND."`
	Describe   string   `toml:"describe" default:"" kind:"path" doc:"File of the answer to describe, which everybody gets: one JSON object, at most 64 KiB. Empty: agent id, address, offerings and sealing key."`
	Bridge     bool     `toml:"bridge" default:"false" doc:"The plain mail of a person whose domain proves it becomes a request for chat. Without it such mail is left to you."`
}

// KeysDir is the folder of the inbox's signing keys.
func (i *Inbox) KeysDir(stateDir string) string { return filepath.Join(stateDir, "keys", i.Name) }

// SpoolDir is the folder of the files that messages bring.
func (i *Inbox) SpoolDir(stateDir string) string { return filepath.Join(stateDir, "spool", i.Name) }

// Auth is the table [inbox.auth].
type Auth struct {
	Mode       string `toml:"mode" default:"verify" oneof:"verify authres" doc:"verify: check DKIM signatures here. authres: believe the Authentication-Results of the mail provider, for one that damages signatures; whoever can append to the mailbox can forge them."`
	AuthservID string `toml:"authserv_id" default:"" doc:"Server whose results are believed, as the provider writes it. Needed in mode authres. Microsoft 365 writes none and needs mode verify."`
	Trust      string `toml:"trust" default:"topmost" oneof:"topmost all" doc:"Which results of that server count: those above the topmost Received, or all, for a provider that removes forged ones."`
	Alignment  string `toml:"alignment" default:"relaxed" oneof:"relaxed strict" doc:"relaxed: the signing domain and that of From belong to one organisation. strict: they are equal."`
}

// Server holds the keys that [inbox.imap] and [inbox.smtp] share.
type Server struct {
	Host   string `toml:"host" doc:"Server, a name that its certificate carries or an IP address."`
	TLS    string `toml:"tls" default:"tls" oneof:"tls starttls none" doc:"tls: from the first byte. starttls: asked for before the login; without it there is no login. none: for loopback hosts only."`
	User   string `toml:"user" default:"" doc:"Login name. Empty: the address in imap, the one of imap in smtp."`
	Secret Secret
	CAFile string `toml:"ca_file" default:"" kind:"path" doc:"PEM file of the certificate authorities of the server. Empty: those of the system."`
}

// IMAP is the table [inbox.imap].
type IMAP struct {
	Server
	Port        int           `toml:"port" default:"993" min:"1" max:"65535" doc:"TCP port; usually 143 with starttls."`
	Folder      string        `toml:"folder" default:"INBOX" doc:"Folder that is read. Nothing in it is changed."`
	IdleRefresh time.Duration `toml:"idle_refresh" default:"5m" min:"1s" max:"25m" doc:"How often IDLE is issued anew and the folder looked at."` // RFC 2177 §3: before 29 minutes
	Poll        time.Duration `toml:"poll" default:"1m" min:"1s" max:"1h" doc:"How often the folder is looked at where the server has no IDLE."`
}

// SMTP is the table [inbox.smtp].
type SMTP struct {
	Server
	Port int `toml:"port" default:"465" min:"1" max:"65535" doc:"TCP port; usually 587 with starttls."`
}

// ownLogin says whether a password of its own is needed. One of imap goes with
// the user of imap only: for another user it would be shown to the wrong login.
func (s *SMTP) ownLogin() bool { return s.User != "" || len(s.Secret.ways()) > 0 }

// DKIM is the table [inbox.dkim].
type DKIM struct {
	Domain   string `toml:"domain" doc:"Signing domain: that of the address, or one above or below it."`
	Selector string `toml:"selector" doc:"Selector: the public key is the TXT record at SELECTOR._domainkey.DOMAIN."`
	KeyFile  string `toml:"key_file" kind:"path" doc:"PEM file of the private key, RSA or Ed25519, mode 0600 or narrower."`
}
