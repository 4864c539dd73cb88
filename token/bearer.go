package token

import (
	"net/http"
	"strings"
)

// Bearer is the secret that a request brings in its Authorization field (RFC 6750 §2.1), "" where it brings none. One in
// the address, where it would be logged, does not count.
func Bearer(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if len(r.Header.Values("Authorization")) != 1 || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}
