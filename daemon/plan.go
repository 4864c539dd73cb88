package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/handler"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/mailbox"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/pricelist"
	"github.com/agentmaild/agentmaild/store"
	"github.com/agentmaild/agentmaild/webhook"
)

// inboxPlan is one inbox with everything read that stands in files.
type inboxPlan struct {
	cfg      config.Inbox
	settings inbox.Settings
	services inbox.Services
	spool    string           // folder, "" without an agent
	hooks    []webhook.Secret // of the webhooks, in their order
	imap     mailbox.Account
	smtp     mailbox.Account
}

// plan reads the keys and certificates of every inbox.
func plan(cfg *config.Config, w World) ([]*inboxPlan, error) {
	var plans []*inboxPlan
	var problems []error
	for _, c := range cfg.Inboxes {
		p, err := planInbox(cfg, c, w)
		if err != nil {
			problems = append(problems, err)
		}
		plans = append(plans, p)
	}
	return plans, errors.Join(problems...)
}

func planInbox(cfg *config.Config, c config.Inbox, w World) (*inboxPlan, error) {
	p := &inboxPlan{cfg: c}
	p.settings = inbox.Settings{
		Name: c.Name, Address: c.Address, Sender: c.DisplayName, Party: c.Party,
		OrgName: c.OrgName, Contact: c.Contact, AgentName: c.AgentName, AgentKind: c.AgentKind,
		Unsigned: inbox.Unsigned(c.Unsigned), Handled: len(c.Handler) > 0 || c.PriceList != "", HourlyLimit: c.HourlyLimit, Notify: c.Notify,
	}
	p.services = inbox.Services{
		DKIM: checker(c.Auth, w.TXT),
		Keys: &party.Verifier{Trust: party.Trust{Hosts: cfg.Trust.Hosts}, Pages: w.Pages, TXT: w.TXT},
		Now:  w.Now, Random: w.Random, Log: w.Log,
	}
	if c.Limits != nil {
		l, _ := c.Limits.Limits() // the configuration was checked
		p.settings.Limits = &l
	}
	return p, errors.Join(
		cfg.Wrong(c.Name, "party", p.readKeys(cfg, w)), p.readAgent(cfg), cfg.Wrong(c.Name, "dkim.key_file", p.readDKIM()),
		cfg.Wrong(c.Name, "imap", p.readIMAP()), cfg.Wrong(c.Name, "smtp", p.readSMTP()), cfg.Wrong(c.Name, "price_list", p.readPrices()), p.readHooks(cfg))
}

// same tells whether a unit made by one plan does all that the other asks for:
// the table of the inbox is the same, and so is what its files hold. Passwords
// and the keys of a party do not count: they are read anew each time.
func (p *inboxPlan) same(q *inboxPlan) bool {
	return reflect.DeepEqual(p.cfg, q.cfg) &&
		reflect.DeepEqual(p.services.Keys.Trust, q.services.Keys.Trust) && reflect.DeepEqual(p.services.Signer, q.services.Signer) &&
		reflect.DeepEqual(p.hooks, q.hooks) && sameAgent(p.settings.Agent, q.settings.Agent) && reflect.DeepEqual(p.settings.Prices, q.settings.Prices) && p.imap.RootCAs.Equal(q.imap.RootCAs) && p.smtp.RootCAs.Equal(q.smtp.RootCAs)
}

// readKeys finds the key that signs messages. An inbox that names a party
// signs; without a key that would be a promise not kept.
func (p *inboxPlan) readKeys(cfg *config.Config, w World) error {
	if p.cfg.Party == "" {
		return nil
	}
	keys, err := party.OpenRing(p.cfg.KeysDir(cfg.StateDir), func(err error) {
		w.Log.Error("the keys cannot be read, those of before go on", "inbox", p.cfg.Name, "error", err)
	})
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("is set and there is no key to sign with: make one with `agentmaild keys new --inbox %s`", p.cfg.Name)
	}
	if err != nil {
		return err
	}
	if _, err := keys.Signing(w.Now()); err != nil {
		return fmt.Errorf("is set: %w", err)
	}
	p.settings.Keys, p.settings.JKU = keys, party.PageURL(p.cfg.KeyHost, p.cfg.Party)
	return nil
}

func (p *inboxPlan) readHooks(cfg *config.Config) error {
	var problems []error
	for i, c := range p.cfg.Webhooks {
		secret, err := webhook.LoadSecret(c.SecretFile)
		p.hooks = append(p.hooks, secret)
		p.settings.Webhooks = append(p.settings.Webhooks, webhook.ID(c.URL))
		problems = append(problems, cfg.Wrong(p.cfg.Name, fmt.Sprintf("webhook[%d].secret_file", i), err))
	}
	return errors.Join(problems...)
}

func (p *inboxPlan) readPrices() (err error) {
	if p.cfg.PriceList != "" {
		p.settings.Prices, err = pricelist.Load(p.cfg.PriceList)
	}
	return err
}

func (p *inboxPlan) readDKIM() error {
	if p.cfg.DKIM == nil {
		return nil
	}
	key, err := dkim.LoadKey(p.cfg.DKIM.KeyFile)
	if err != nil {
		return err
	}
	p.services.Signer, err = dkim.NewSigner(p.cfg.DKIM.Domain, p.cfg.DKIM.Selector, key)
	return err
}

func (p *inboxPlan) readIMAP() (err error) {
	p.imap, err = account(p.cfg.IMAP.Server, p.cfg.IMAP.Port)
	return err
}

func (p *inboxPlan) readSMTP() (err error) {
	p.smtp, err = account(p.cfg.SMTP.Server, p.cfg.SMTP.Port)
	return err
}

func checker(a config.Auth, txt dkim.Resolver) *dkim.Checker {
	c := &dkim.Checker{Resolver: txt, Mode: dkim.Verify, AuthservID: a.AuthservID, TrustAll: a.Trust == "all", Strict: a.Alignment == "strict"}
	if a.Mode == "authres" {
		c.Mode = dkim.AuthRes
	}
	return c
}

// secretTime bounds a password command.
const secretTime = 30 * time.Second

func account(s config.Server, port int) (mailbox.Account, error) {
	a := mailbox.Account{Endpoint: mailbox.Endpoint{Host: s.Host, Port: port, TLS: mailbox.TLSMode(s.TLS)}, User: s.User}
	switch {
	case s.Secret.File != "":
		a.Password = mailbox.SecretFile(s.Secret.File)
	case s.Secret.Env != "":
		a.Password = mailbox.SecretEnv(s.Secret.Env)
	default:
		a.Password = mailbox.SecretCommand(s.Secret.Command, secretTime)
	}
	var err error
	a.RootCAs, err = roots(s.CAFile)
	return a, err
}

// open makes the running parts of the inbox on a store.
func (p *inboxPlan) open(s *store.Store) (*unit, error) {
	p.services.Store = s
	if err := p.openSpool(); err != nil {
		return nil, err
	}
	in, err := inbox.Open(p.settings, p.services)
	if err != nil {
		return nil, err
	}
	log := p.services.Log.With("inbox", p.cfg.Name)
	u := &unit{
		plan: p, inbox: in, log: log,
		watcher: p.watcher(log),
		sender:  &mailbox.Sender{Account: p.smtp},
	}
	for i, secret := range p.hooks {
		u.hooks = append(u.hooks, &webhook.Sender{Inbox: in, URL: p.cfg.Webhooks[i].URL, Secret: secret, Now: p.services.Now, Log: p.services.Log})
	}
	if p.settings.Handled {
		u.handler = &handler.Handler{Inbox: in, Prices: p.settings.Prices, Command: p.cfg.Handler, Stream: p.cfg.HandlerMode == "stream", Timeout: p.cfg.HandlerTimeout, Now: p.services.Now, Log: p.services.Log}
	}
	return u, nil
}

// Mailbox is the account of a configured inbox as its daemon would use it, for
// who wants to look at it without one.
type Mailbox struct {
	Watcher *mailbox.Watcher
	Sender  *mailbox.Sender
	Signer  *dkim.Signer // nil where the mail provider signs
}

// NewMailbox reads what the account of an inbox needs. Nothing is connected to.
func NewMailbox(c config.Inbox, log *slog.Logger) (*Mailbox, error) {
	p := &inboxPlan{cfg: c}
	if err := errors.Join(p.readDKIM(), p.readIMAP(), p.readSMTP()); err != nil {
		return nil, fmt.Errorf("inbox %s: %w", c.Name, err)
	}
	return &Mailbox{Watcher: p.watcher(log), Sender: &mailbox.Sender{Account: p.smtp}, Signer: p.services.Signer}, nil
}

func (p *inboxPlan) watcher(log *slog.Logger) *mailbox.Watcher {
	return &mailbox.Watcher{Account: p.imap, Folder: p.cfg.IMAP.Folder, IdleRefresh: p.cfg.IMAP.IdleRefresh, Poll: p.cfg.IMAP.Poll, Log: log}
}
