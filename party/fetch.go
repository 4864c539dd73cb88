package party

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	fetchTimeout = 5 * time.Second // for a whole fetch
	maxHeader    = 16 << 10        // bytes of a response header
	minAge       = time.Minute
	maxAge       = 24 * time.Hour
)

// Options says what a Fetcher may do that is not the rule.
type Options struct {
	AllowPrivate bool           // connect to any address: for closed networks, and for a host on this machine
	RootCAs      *x509.CertPool // certificate authorities to trust instead of the system's; nil: the system's
}

func newClient(o Options) *http.Client {
	dialer := &net.Dialer{}
	if !o.AllowPrivate {
		dialer.Control = publicOnly
	}
	return &http.Client{
		Transport: &http.Transport{ // no Proxy: the environment must not send a fetch elsewhere
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
			DisableCompression:     true, // 64 KiB of gzip are 64 MiB of JSON
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// get fetches and reads one key page, and says for how long it may be kept. With fresh a cache on the way is to ask the
// host (RFC 9111 §5.2.1.4).
func get(ctx context.Context, client *http.Client, key entryKey, fresh bool) (*Page, time.Duration, error) {
	address := key.url
	if u, err := url.Parse(address); err != nil || u.Scheme != "https" {
		return nil, 0, fmt.Errorf("%w: not an https address", ErrNoPage)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "agentmaild")
	if fresh {
		request.Header.Set("Cache-Control", "no-cache")
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, 0, temporary(err)
	}
	defer response.Body.Close()
	if err := checkResponse(response); err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxPage+1)) // ParsePage refuses the one byte more
	if err != nil {
		return nil, 0, temporary(err)
	}
	page, err := ParsePage(data, key.party)
	return page, lifetime(response.Header), err
}

// temporary is the error of a fetch that broke off, unless it was refused here.
func temporary(err error) error {
	if errors.Is(err, ErrNoPage) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrTemporary, err)
}

// checkResponse says whether the body is worth reading. A redirect counts as no page (D44): with it whoever can change
// one path of a trusted host could put the page anywhere.
func checkResponse(r *http.Response) error {
	encoding := r.Header.Get("Content-Encoding")
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.StatusCode == http.StatusTooManyRequests || r.StatusCode >= 500:
		return fmt.Errorf("%w: status %d", ErrTemporary, r.StatusCode)
	case r.StatusCode/100 == 3:
		return fmt.Errorf("%w: status %d, a redirect, which nobody follows", ErrNoPage, r.StatusCode)
	case r.StatusCode != http.StatusOK:
		return fmt.Errorf("%w: status %d", ErrNoPage, r.StatusCode)
	case encoding != "" && encoding != "identity":
		return fmt.Errorf("%w: content encoding %q", ErrNoPage, encoding)
	case err != nil || mediaType != "application/json":
		return fmt.Errorf("%w: not application/json", ErrNoPage)
	}
	return nil
}

// lifetime is how long a page may be kept (RFC 9111 §5.2.2): max-age between one minute, so that a flood of mail is not
// a flood of fetches, and 24 hours, so that a revocation is seen. What the page has aged in caches on the way counts.
func lifetime(h http.Header) time.Duration {
	life := minAge
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-store", "no-cache":
			return minAge
		case "max-age":
			if seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); err == nil {
				life = time.Duration(seconds) * time.Second
			}
		}
	}
	return max(min(life, maxAge)-aged(h), minAge)
}

// aged is for how long caches between the host and here have held a page (RFC 9111 §4.2.3, §5.1): without it each would
// begin the five minutes of a page anew, and a revocation be seen so much later.
func aged(h http.Header) time.Duration {
	first, _, _ := strings.Cut(h.Get("Age"), ",")
	seconds, err := strconv.ParseUint(strings.TrimSpace(first), 10, 31)
	if errors.Is(err, strconv.ErrRange) {
		return maxAge
	}
	return time.Duration(seconds) * time.Second
}
