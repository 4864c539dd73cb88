package mailbox

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
)

// A certificate that does not hold is told with what to do about it, and in one printable line.
func TestCertificateWords(t *testing.T) {
	verification := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	for want, err := range map[string]error{
		"name its PEM file in ca_file":                               verification(x509.UnknownAuthorityError{}),
		"set host to one of its own: x509: certificate is valid for": verification(x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a.test\n"}}, Host: "b.test"}),
	} {
		if got := failed("starting TLS with", "b.test:993", err).Error(); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}
