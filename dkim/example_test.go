package dkim_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"
	"time"

	"github.com/agentmaild/agentmaild/dkim"
)

// published stands in for DNS.
type published map[string]string

func (p published) LookupTXT(_ context.Context, name string) ([]string, error) {
	return []string{p[name]}, nil
}

// A mail is signed where it leaves and believed where it arrives.
func Example() {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	signer, err := dkim.NewSigner("buyer.test", "s1", key)
	if err != nil {
		log.Fatal(err)
	}
	now := time.Unix(1793613600, 0)
	signed, err := signer.Sign([]byte("From: <agent@buyer.test>\r\nContent-Type: text/plain\r\n\r\nHello.\r\n"), now)
	if err != nil {
		log.Fatal(err)
	}
	checker := dkim.Checker{Resolver: published{"s1._domainkey.buyer.test": dkim.KeyRecord(key.Public())}}
	fmt.Println(checker.Authenticate(context.Background(), signed, "buyer.test", now).Outcome)
	fmt.Println(checker.Authenticate(context.Background(), append(signed, "More."...), "buyer.test", now).Outcome)
	// Output:
	// pass
	// fail
}
