// Package webhook tells an address of the events of an inbox, signed as Standard Webhooks has it
// (https://www.standardwebhooks.com).
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/inert"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/plainfile"
	"github.com/go-json-experiment/json"
)

// Secret signs what is told. It prints as nothing.
type Secret struct{ keys [][]byte }

// String shows nothing of it.
func (Secret) String() string { return "a webhook secret" }

const (
	secretPrefix = "whsec_"
	leastSecret  = 24 // bytes
	mostSecret   = 64 // bytes
	maxKeys      = 2  // a new one and the one before (D169)
	maxFile      = 1 << 10
)

// LoadSecret reads a secret from a file that only its owner may touch: whsec_ and 24 to 64 bytes in base64. A second line has
// another, while receivers change from one to the other. Its errors do not show them.
func LoadSecret(path string) (Secret, error) {
	data, mode, err := plainfile.Read(path, maxFile)
	if err != nil {
		return Secret{}, fmt.Errorf("reading a webhook secret: %w", err)
	}
	if mode.Perm()&0o077 != 0 { // another user of the machine could tell the address anything
		return Secret{}, fmt.Errorf("reading a webhook secret: %s has mode %04o and is open to other users: chmod 600 %[1]s", path, mode.Perm())
	}
	var secret Secret
	for line := range strings.Lines(strings.TrimSpace(string(data))) {
		key, ok := parseSecret(line)
		if !ok {
			return Secret{}, fmt.Errorf(`reading a webhook secret: line %d of %s holds none: echo "whsec_$(openssl rand -base64 32)" makes one`, len(secret.keys)+1, path)
		}
		secret.keys = append(secret.keys, key)
	}
	switch n := len(secret.keys); {
	case n == 0:
		return Secret{}, fmt.Errorf(`reading a webhook secret: %s is empty: echo "whsec_$(openssl rand -base64 32)" makes one`, path)
	case n > maxKeys:
		return Secret{}, fmt.Errorf("reading a webhook secret: %s holds %d secrets: leave the new one and the one before", path, n)
	}
	return secret, nil
}

func parseSecret(line string) (key []byte, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	return key, ok && err == nil && len(key) >= leastSecret && len(key) <= mostSecret
}

// sign is the signatures of a message, one for each secret (Standard Webhooks, "Signature scheme").
func (s Secret) sign(id, timestamp string, body []byte) string {
	var signatures []string
	for _, key := range s.keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(signatures, " ")
}

// Sender tells one address of the events of one inbox, one after the other.
type Sender struct {
	Inbox  *inbox.Inbox
	URL    string
	Secret Secret
	Now    func() time.Time
	Log    *slog.Logger
}

const (
	answerTime = 15 * time.Second
	maxAnswer  = 4 << 10 // bytes that are read of an answer, and thrown away
	storeWait  = time.Minute
)

// Run tells of events until ctx ends.
func (s *Sender) Run(ctx context.Context) error {
	client := newClient()
	defer client.CloseIdleConnections()
	id := ID(s.URL)
	if _, _, _, err := s.Inbox.NextForHook(id); err == nil {
		s.Log.Info("a webhook is told of events from here on", "inbox", s.Inbox.Name(), "webhook", id)
	}
	for {
		e, next, more, err := s.Inbox.NextForHook(id)
		if err == nil && e != nil {
			err = s.tell(ctx, client, id, e)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s.Log.Error("a webhook cannot be told of events", "inbox", s.Inbox.Name(), "webhook", id, "error", err)
			next, more = s.Now().Add(storeWait), nil
		case e != nil:
			continue
		}
		timer := time.NewTimer(max(next.Sub(s.Now()), 0))
		select {
		case <-ctx.Done():
		case <-more:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// newClient follows no redirect: who moved would be told elsewhere than the owner has written.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       answerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 16 << 10},
	}
}

// ID names an address in the store: with another address it is another webhook.
func ID(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:8])
}

// tell tells of one event and notes what came of it. Cut off by the end of ctx nothing is noted: it is told again.
func (s *Sender) tell(ctx context.Context, client *http.Client, id string, e *inbox.Event) error {
	err := s.post(ctx, client, e)
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		return s.Inbox.HookTold(id, e.Seq)
	}
	where, _ := url.Parse(s.URL) // the configuration was checked
	failure := inbox.HookFailure{Where: where.Host, Reason: err.Error()}
	level, what := slog.LevelWarn, "a webhook was not told"
	if answer := new(refusal); errors.As(err, &answer) {
		failure.After, failure.Gone = answer.after, answer.status == http.StatusGone
	}
	if failure.Gone {
		level, what = slog.LevelError, "a webhook is told nothing more: see `agentmaild waiting list`"
	}
	s.Log.Log(ctx, level, what, "inbox", s.Inbox.Name(), "webhook", id, "seq", e.Seq, "error", err)
	return s.Inbox.HookFailed(id, e, failure)
}

// plain says why nothing was answered. The library's own words hold the address, and what was answered or stands in a
// certificate: text from outside, where the owner and a model take them for ours.
func plain(err error) error {
	var untrusted *tls.CertificateVerificationError
	var network *net.OpError
	var named *net.DNSError
	switch failed := new(url.Error); {
	case errors.As(err, &failed) && failed.Timeout():
		return fmt.Errorf("it did not answer within %s", answerTime)
	case errors.As(err, &untrusted):
		return certificateFault(untrusted)
	case errors.As(err, &named):
		return errors.New("its host was not found by DNS, or DNS failed")
	case errors.As(err, &network) && network.Op == "dial":
		return fmt.Errorf("it cannot be connected to: %w", network.Err)
	case errors.As(err, &network):
		return fmt.Errorf("the connection broke: %w", network.Err)
	}
	return errors.New("it did not answer as a web server does")
}

func certificateFault(err *tls.CertificateVerificationError) error {
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return errors.New("its certificate is for another name")
	case errors.As(err, &authority):
		return errors.New("its certificate is by an authority that this system does not know: SSL_CERT_FILE names others")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return errors.New("its certificate has expired, or counts from later on")
	}
	return errors.New("its certificate does not hold")
}

// refusal is an answer other than 2xx.
type refusal struct {
	status int
	after  time.Duration // that it asked to be left alone for
}

func (r *refusal) Error() string {
	if r.status == http.StatusGone {
		return "it answered with the status 410, which asks to be told nothing more"
	}
	return fmt.Sprintf("it answered with the status %d", r.status)
}

// retryAfter is what a receiver with too much to do asks for, 0 where it asks for nothing (RFC 9110 §10.2.3).
func retryAfter(response *http.Response, now time.Time) time.Duration {
	if response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	text := response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// messageID is the id of what is told: the same for each try, since it is drawn from what is told, and for nothing else. The
// number of an event is not enough: it comes again when the store goes back to a backup, and with another daemon (D166).
func (s *Sender) messageID(body []byte) string {
	sum := sha256.Sum256(append([]byte(s.Inbox.Address()+"\n"), body...))
	return "evt_" + hex.EncodeToString(sum[:16])
}

// payload is what is told.
type payload struct {
	Type      string      `json:"type"`
	Timestamp string      `json:"timestamp"` // when it happened
	Inbox     string      `json:"inbox"`
	Data      inbox.Event `json:"data"`
}

// post makes one try. Its errors name neither the address, in which a secret may stand, nor what was answered.
func (s *Sender) post(ctx context.Context, client *http.Client, e *inbox.Event) error {
	body, err := json.Marshal(payload{"inbox." + e.Kind, time.Unix(e.At, 0).UTC().Format(time.RFC3339), s.Inbox.Name(), e.Elsewhere(s.Inbox.Name())}, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("writing the event: %w", err)
	}
	body = inert.JSON(body)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("it is no address")
	}
	id, timestamp := s.messageID(body), strconv.FormatInt(s.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "agentmaild")
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", timestamp)
	r.Header.Set("webhook-signature", s.Secret.sign(id, timestamp, body))
	response, err := client.Do(r)
	if err != nil {
		return plain(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswer)) // so that the connection serves again
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return &refusal{response.StatusCode, retryAfter(response, s.Now())}
	}
	return nil
}
