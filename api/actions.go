package api

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/token"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// body is what a request says, as it came.
func body(c *call) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(c.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, &refusal{status: http.StatusUnsupportedMediaType, code: codeMediaType, detail: "send JSON, and say so: Content-Type: application/json"}
	}
	text, err := io.ReadAll(c.Body)
	if large := new(http.MaxBytesError); err != nil && !errors.As(err, &large) {
		return nil, bad("the body: it broke off, or came too slowly")
	}
	return text, err
}

func decode(text []byte, value any) error {
	err := json.Unmarshal(text, value, json.RejectUnknownMembers(true))
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok { // its own words name types of this program
		place := strings.TrimSuffix("the body at "+string(wrong.JSONPointer), " at ")
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return bad(place + ": there is no such member: see /v1/openapi.json")
		case wrong.JSONKind == jsontext.KindNumber:
			return bad(place + ": that number does not belong here, or is too large")
		}
		return bad(place + ": it is of the wrong kind: see /v1/openapi.json")
	}
	if err != nil {
		return bad("the body: " + strings.ReplaceAll(strings.TrimPrefix(err.Error(), "jsontext: "), "\n", " "))
	}
	return nil
}

// act does the owner's action, or proposes the agent's.
func act(_ *Handler, c *call) (any, error) {
	text, err := body(c)
	if err != nil {
		return nil, err
	}
	var a inbox.Action
	if err := decode(text, &a); err != nil {
		return nil, err
	}
	if a.Files != nil { // it would read any file that the daemon can
		return nil, &refusal{status: http.StatusUnprocessableEntity, code: codeAction, detail: "files: leave it out, a file of the daemon's disk cannot be named over HTTP"}
	}
	if a.Once, err = onceOf(c, text); err != nil {
		return nil, err
	}
	do := c.in.Propose
	if c.token.Scope == token.Owner {
		do = c.in.Do
	}
	done, err := do(a)
	if done.Waiting != "" {
		return waits{done}, err
	}
	return done, err
}

// maxKey bounds an Idempotency-Key, in bytes.
const maxKey = 255

// onceOf is the Idempotency-Key of a request, nil without one. Each token has its own: another's answer is not to be had
// by guessing his key (D161).
func onceOf(c *call, text []byte) (*inbox.Once, error) {
	keys := c.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return nil, nil
	}
	key := keys[0]
	if len(keys) > 1 || key == "" || len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, bad("Idempotency-Key: one, of 1 to 255 visible ASCII characters without a space")
	}
	said := jsontext.Value(text)
	if err := said.Canonicalize(); err != nil { // a client may write the same action in another order
		return nil, bad("the body: " + err.Error())
	}
	return &inbox.Once{Key: hashed(append(c.token.Hash[:], key...)), Hash: hashed(said)}, nil
}

func hashed(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
