package dkim

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
)

// RFC 6376 §3.4.5, examples 1 and 2, less the name that ends in a space.
func TestCanonicalForms(t *testing.T) {
	const header = "A: X\r\nB: Y\t\r\n\tZ  \r\n"
	m, err := readMessage([]byte(header + "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	for form, want := range map[canonicalization]string{simple: header, relaxed: "a:X\r\nb:Y Z\r\n"} {
		var got []byte
		for _, f := range m.fields {
			got = form.appendField(got, f)
		}
		if string(got) != want {
			t.Errorf("header in form %d: %q, want %q", form, got, want)
		}
	}
	bodies := []struct{ name, body, simple, relaxed string }{
		{"rfc", " C \r\nD \t E\r\n\r\n\r\n", " C \r\nD \t E\r\n", " C\r\nD E\r\n"},
		{"empty", "", "\r\n", ""},
		{"line_end", "\r\n", "\r\n", ""},
		{"line_ends", "\r\n\r\n", "\r\n", ""},
		{"spaces", " \r\n\t", " \r\n\t\r\n", ""},
		{"no_end", "a", "a\r\n", "a\r\n"},
		{"no_end_spaces", "a \t", "a \t\r\n", "a\r\n"},
		{"one_space_stays", "a b\r\n\tc\r\n", "a b\r\n\tc\r\n", "a b\r\n c\r\n"},
		{"empty_lines_stay", "\r\n\r\na\r\n \r\nb\r\n", "\r\n\r\na\r\n \r\nb\r\n", "\r\n\r\na\r\n\r\nb\r\n"},
		{"bare_cr_stays", "a \r b\r", "a \r b\r\r\n", "a \r b\r\r\n"},
		{"bare_lf_stays", "a \n\n", "a \n\n\r\n", "a \n\n\r\n"},
		{"cr_before_crlf", "a\r\r\n", "a\r\r\n", "a\r\r\n"},
	}
	for _, c := range bodies {
		t.Run(c.name, func(t *testing.T) {
			if got := simple.hashBody([]byte(c.body)); got != sha256.Sum256([]byte(c.simple)) {
				t.Errorf("simple is not the hash of %q", c.simple)
			}
			if got := relaxed.hashBody([]byte(c.body)); got != sha256.Sum256([]byte(c.relaxed)) {
				t.Errorf("relaxed is not the hash of %q", c.relaxed)
			}
		})
	}
}

// RFC 6376 §3.4.3 and §3.4.4 give the hashes of an empty body.
func TestEmptyBodyHashes(t *testing.T) {
	for form, want := range map[canonicalization]string{
		simple:  "frcCV1k9oG9oKj3dpUqdJg1PxRT2RSN/XKdLCPjaYaY=",
		relaxed: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
	} {
		sum := form.hashBody(nil)
		if got := base64.StdEncoding.EncodeToString(sum[:]); got != want {
			t.Errorf("form %d: %s, want %s", form, got, want)
		}
	}
}

// The examples of RFC 6376 Appendix A and RFC 8463 Appendix A, down to the
// signature. Neither would count here: both leave Content-Type open.
func TestRFCExamples(t *testing.T) {
	const (
		rsaKey = "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDwIRP/UC3SBsEmGqZ9ZJW3/DkMoGeLnQg1fWn7/zYt" +
			"IxN2SnFCjxOCKG9v3b4jYfcTNh5ijSsq631uBItLa7od+v/RtdC2UzJ1lWT947qR+Rcac2gbto/NMqJ0fzfVjH4OuKhi" +
			"tdY9tf6mcwGjaNBcWToIMmPSPDdQPNUYckcQ2QIDAQAB"
		rsaKey8463 = "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bd" +
			"OKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO9Pz" +
			"oxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB"
		edRecord = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
		fields   = "From: Joe SixPack <joe@football.example.com>\n" +
			"To: Suzie Q <suzie@shopping.example.net>\n" +
			"Subject: Is dinner ready?\n" +
			"Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)\n" +
			"Message-ID: <20030712040037.46341.5F8J@football.example.com>\n\n" +
			"Hi.\n\n"
		simpleSigned = `DKIM-Signature: v=1; a=rsa-sha256; s=brisbane; d=example.com;
      c=simple/simple; q=dns/txt; i=joe@football.example.com;
      h=Received : From : To : Subject : Date : Message-ID;
      bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
      b=AuUoFEfDxTDkHlLXSZEpZj79LICEps6eda7W3deTVFOk4yAUoqOB
      4nujc7YopdG5dWLSdNg6xNAZpOPr+kHxt1IrE+NahM6L/LbvaHut
      KVdkLLkpVaVVQPzeRDI009SO2Il5Lu7rDNH6mZckBdrIx0orEtZV
      4bmp/YzhwvcubU4=;
Received: from client1.football.example.com  [192.0.2.1]
      by submitserver.example.com with SUBMISSION;
      Fri, 11 Jul 2003 21:01:54 -0700 (PDT)
` + fields + "We lost the game. Are you hungry yet?\n\nJoe.\n"
		relaxedSigned = `DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=brisbane; t=1528637909; h=from : to :
 subject : date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus
 Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==
DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=test; t=1528637909; h=from : to : subject :
 date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3
 DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2Jz
 dA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=
` + fields + "We lost the game.  Are you hungry yet?\n\nJoe."
	)
	cases := []struct {
		name, mail string
		position   int // of the signature, from the top
		record     string
	}{
		{"rfc6376", simpleSigned, 0, rsaKey},
		{"rfc8463_ed25519", relaxedSigned, 0, edRecord},
		{"rfc8463_rsa", relaxedSigned, 1, rsaKey8463},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, err := readMessage([]byte(strings.ReplaceAll(c.mail, "\n", "\r\n")))
			if err != nil {
				t.Fatal(err)
			}
			s, err := parseSignature(m.fields[c.position])
			if err != nil {
				t.Fatal(err)
			}
			key, err := parseKey(c.record)
			if err != nil {
				t.Fatal(err)
			}
			if string(m.bodyHash(s.body)) != string(s.bodyHash) {
				t.Error("the body hash differs")
			}
			if err := key.verify(s, s.digest(m)); err != nil {
				t.Error(err)
			}
		})
	}
}
