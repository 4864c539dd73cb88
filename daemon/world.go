package daemon

import (
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/dkim"
	"github.com/agentmaild/agentmaild/party"
	"github.com/agentmaild/agentmaild/plainfile"
	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// World is what the daemon uses of the outside besides mail servers.
type World struct {
	TXT    dkim.Resolver // DKIM keys and vouches
	Pages  party.Pages   // key pages of other parties
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger

	Fetches  func() party.Fetches // how often Pages fetched; nil: not counted
	Notify   func(state string)   // tells a supervisor; nil: there is none
	Watchdog time.Duration        // within which it wants to hear something; 0: never
}

// NewWorld is the real one: DNS, HTTPS, the clock, and a log to w. Nothing is
// asked of it yet.
func NewWorld(cfg *config.Config, w io.Writer) (World, error) {
	names, err := dkim.NewDNS(cfg.DNS.Servers, cfg.DNS.Timeout)
	if err != nil {
		return World{}, fmt.Errorf("dns: %w", err)
	}
	trusted, err := roots(cfg.Trust.CAFile)
	if err != nil {
		return World{}, fmt.Errorf("trust: %w", err)
	}
	watchdog, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		return World{}, fmt.Errorf("the supervisor's watchdog: %w", err)
	}
	pages, log := party.NewFetcher(time.Now, party.Options{AllowPrivate: cfg.Trust.AllowPrivate, RootCAs: trusted}), newLog(cfg.Log, w)
	return World{
		TXT: names, Pages: pages, Now: time.Now, Random: rand.Reader, Log: log,
		Fetches: pages.Fetches, Notify: toSystemd(log), Watchdog: watchdog,
	}, nil
}

func newLog(c config.Log, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // the configuration was checked
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// maxCAFile is what the configuration allows, in bytes.
const maxCAFile = 4 << 20

// roots is the system's certificate authorities and those of a file beside
// them; nil, which means the system's, without a file.
func roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, _, err := plainfile.Read(file, maxCAFile)
	if err != nil {
		return nil, fmt.Errorf("reading ca_file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file %s holds no PEM certificate", file)
	}
	return pool, nil
}
