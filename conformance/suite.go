// Package conformance runs suites of cases against the very code that the
// daemon runs, with DNS, key pages and time taken from the suite. A run needs
// no network and no clock. The format is described in docs/conformance.md.
package conformance

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/agentmaild/agentmaild/envelope/address"
	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/agentmaild/agentmaild/record"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrSuite is wrapped by every error that says a suite cannot be read.
var ErrSuite = errors.New("suite cannot be read")

// maxSuite bounds suite.json and every file it names, in bytes.
const maxSuite = 64 << 20

// Suite is a folder of cases.
type Suite struct {
	Dir          string              `json:"-"`
	Format       int                 `json:"format"`
	Profile      string              `json:"profile"`
	About        jsontext.Value      `json:"about,omitempty"` // free, for readers
	Inbox        Inbox               `json:"inbox"`
	TrustedHosts []string            `json:"trusted_hosts"`
	DNS          map[string][]string `json:"dns"`
	DNSErrors    map[string]string   `json:"dns_errors"`
	KeyPages     map[string]KeyPage  `json:"key_pages"`
	Roster       jsontext.Value      `json:"roster"` // of agent-emailing/0.2.1
	Cases        []Case              `json:"cases"`
}

// Inbox is who receives.
type Inbox struct {
	Address    string         `json:"address"`
	Party      string         `json:"party"`
	OrgName    string         `json:"org_name"`
	Contact    string         `json:"contact"`
	SigningKey *JWK           `json:"signing_key"`
	JKU        string         `json:"jku"`
	Unsigned   inbox.Unsigned `json:"unsigned"`
	Auth       Auth           `json:"auth"`

	// Of agent-emailing/0.2.1.
	AgentSeed  string    `json:"agent_seed"`
	SealingKey string    `json:"sealing_key"`
	Sealing    string    `json:"sealing"` // "required" or "preferred"
	Bridge     *bool     `json:"bridge"`  // true where absent
	Contacts   []Contact `json:"contacts"`
}

// Contact is a name card that the owner wrote.
type Contact struct {
	Agent      string   `json:"agent_id"`
	Addresses  []string `json:"addresses"`
	SealingKey string   `json:"sealing_key"`
	Name       string   `json:"name"`
}

// JWK is a private Ed25519 key. What else libraries write into one says
// nothing here.
type JWK struct {
	Kty    string         `json:"kty"`
	Crv    string         `json:"crv"`
	X      string         `json:"x"`
	D      string         `json:"d"`
	Kid    string         `json:"kid"`
	Alg    string         `json:"alg"`
	Use    string         `json:"use"`
	KeyOps jsontext.Value `json:"key_ops"`
}

// Auth is how mail is authenticated (section 5 of the profile's reading).
type Auth struct {
	Mode       string `json:"mode"`
	AuthservID string `json:"authserv_id"`
	Trust      string `json:"trust"`
	Alignment  string `json:"alignment"`
}

// KeyPage is the answer to a request for a key page.
type KeyPage struct {
	Status   int    `json:"status"` // absent: 200 where there is a file, else no answer
	File     string `json:"file"`
	Location string `json:"location"`
}

// Case is a story, told in steps from an empty store.
type Case struct {
	Name  string `json:"name"`
	Why   string `json:"why"`
	Steps []Step `json:"steps"`
	Final Final  `json:"final"`

	// Of agent-agreement/1 a case is a record instead.
	Record string   `json:"record"`
	Expect *Finding `json:"expect"`
}

// Step is one thing that happens, at a time. Exactly one of Sent, Deliver,
// Admit, Tick and Restart is set.
type Step struct {
	Sent    string    `json:"sent"`
	Deliver string    `json:"deliver"`
	Admit   string    `json:"admit"` // agent id; of agent-emailing/0.2.1
	Tick    bool      `json:"tick"`
	Restart bool      `json:"restart"`
	At      time.Time `json:"at"`
	Expect  *Expect   `json:"expect"`
}

// Expect is what must hold of a delivery; a member not given is not compared.
type Expect struct {
	Verdict   *string   `json:"verdict"`
	Code      *string   `json:"code"`
	Signature *string   `json:"signature"`
	Type      *string   `json:"type"`
	Thread    *string   `json:"thread"`
	ID        *string   `json:"id"`
	Warnings  *[]string `json:"warnings"`

	// Of agent-emailing/0.2.1.
	From       *string           `json:"from"`
	Offering   *string           `json:"offering"`
	Answered   jsontext.Value    `json:"answered"` // null for silence
	AnsweredTo *string           `json:"answered_to"`
	Files      map[string]string `json:"files"`
	Task       *Task             `json:"task"`
	Text       *string           `json:"text_shown"`
}

// Task is where a task must stand.
type Task struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// Final is what must hold after the last step.
type Final struct {
	Offers  map[string]string  `json:"offers"`
	Records map[string]*string `json:"records"`
	Tasks   map[string]string  `json:"tasks"` // of agent-emailing/0.2.1
}

// Load reads a suite. A member that the format does not have, a class of
// value it does not know and a file that is not there are errors, so that a
// typing mistake cannot pass for a case. Errors wrap ErrSuite.
func Load(dir string) (*Suite, error) {
	s := &Suite{Dir: dir}
	data, err := s.read("suite.json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, s, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrSuite, filepath.Join(dir, "suite.json"), err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrSuite, filepath.Join(dir, "suite.json"), err)
	}
	return s, nil
}

// read reads a file of the suite, which must lie within it.
func (s *Suite) read(name string) ([]byte, error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w: there is no %s", ErrSuite, filepath.Join(s.Dir, name))
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", ErrSuite, s.Dir, err)
	case info.Size() > maxSuite:
		return nil, fmt.Errorf("%w: %s is larger than %d bytes", ErrSuite, filepath.Join(s.Dir, name), maxSuite)
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	return data, nil
}

func (s *Suite) check() error {
	if s.Format != 1 {
		return fmt.Errorf("format is %d; this program reads format 1", s.Format)
	}
	if s.Profile != intent.Profile && s.Profile != record.Profile && s.Profile != emailingProfile {
		return fmt.Errorf("profile is %q; this program runs %s, %s and %s", s.Profile, intent.Profile, record.Profile, emailingProfile)
	}
	for name, class := range s.DNSErrors {
		if class != "temporary" {
			return fmt.Errorf("dns_errors: %s: %q is no class of error", name, class)
		}
	}
	seen := map[string]bool{}
	for _, c := range s.Cases {
		if c.Name == "" || seen[c.Name] {
			return fmt.Errorf("case %q: a case needs a name of its own", c.Name)
		}
		seen[c.Name] = true
		if s.Profile == record.Profile {
			if err := errors.Join(c.checkRecord(), s.has(c.Record)); err != nil {
				return fmt.Errorf("case %s: %w", c.Name, err)
			}
			continue
		}
		if c.Record != "" || c.Expect != nil {
			return fmt.Errorf("case %s: record and its expect belong to %s", c.Name, record.Profile)
		}
		for i, step := range c.Steps {
			if err := errors.Join(step.check(), s.has(step.Sent), s.has(step.Deliver)); err != nil {
				return fmt.Errorf("case %s: step %d: %w", c.Name, i+1, err)
			}
		}
	}
	if s.TrustedHosts == nil {
		s.TrustedHosts = []string{"api.stackshift.cloud"} // profile: "Party keys and the trust rule"
	}
	for _, a := range []*string{&s.Inbox.Address, &s.Inbox.Contact} {
		if parsed, err := address.Parse(*a); err == nil { // one that is none is an error when a case runs
			*a = parsed
		}
	}
	if s.Inbox.Auth.Mode == "authres" && s.Inbox.Auth.AuthservID == "" {
		return errors.New("inbox.auth: mode authres needs authserv_id")
	}
	for url, page := range s.KeyPages {
		if page.Status == 0 && page.File != "" {
			page.Status = 200
			s.KeyPages[url] = page
		}
		if page.Status == 200 && page.File == "" {
			return fmt.Errorf("key_pages: %s: a page with status 200 needs a file", url)
		}
		if err := s.has(page.File); err != nil {
			return fmt.Errorf("key_pages: %s: %w", url, err)
		}
	}
	return nil
}

// has tells whether a file that the suite names is there; "" names none.
func (s *Suite) has(name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Join(s.Dir, name)); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("there is no file %s", name)
	}
	return nil
}

func (s Step) check() error {
	kinds := 0
	for _, set := range []bool{s.Sent != "", s.Deliver != "", s.Admit != "", s.Tick, s.Restart} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("needs exactly one of sent, deliver, admit, tick and restart")
	case s.At.IsZero() && !s.Restart:
		return errors.New("needs at")
	case s.Expect != nil && s.Deliver == "":
		return errors.New("expect belongs to deliver")
	case s.Expect != nil && s.Expect.Verdict != nil && !known(verdicts, *s.Expect.Verdict):
		return fmt.Errorf("%q is no verdict", *s.Expect.Verdict)
	case s.Expect != nil && s.Expect.Code != nil && !known(codes, *s.Expect.Code):
		return fmt.Errorf("%q is no code", *s.Expect.Code)
	case s.Expect != nil && s.Expect.Signature != nil && !known(signatures, *s.Expect.Signature):
		return fmt.Errorf("%q is no result of a signature", *s.Expect.Signature)
	default:
		return nil
	}
}

var (
	verdicts = []inbox.Verdict{
		inbox.Accepted, inbox.Held, inbox.Plain, inbox.Refused, inbox.Duplicate, inbox.Parked, inbox.Retry,
		inbox.Blocked, inbox.Review, inbox.Bridged, inbox.Bounce, inbox.Ignored,
	}
	codes = []inbox.Code{
		inbox.CodeNone, inbox.CodeSize, inbox.CodeJSON, inbox.CodeSchema, inbox.CodeFrom, inbox.CodeDKIM, inbox.CodeUnsigned,
		inbox.CodeTo, inbox.CodeExpired, inbox.CodeReplay, inbox.CodePrev, inbox.CodeJWS, inbox.CodeState, inbox.CodeOverfull, "",

		inbox.CodeDuplicate, inbox.CodeCancel, inbox.CodeStranger, inbox.CodeUnsolicited, inbox.CodeSealing, inbox.CodeRate,
		inbox.Code(agentmsg.CodeSignature), inbox.Code(agentmsg.CodeType), inbox.Code(agentmsg.CodeStale), inbox.Code(agentmsg.CodeFuture),
		inbox.Code(agentmsg.CodeMisaddressed), inbox.Code(agentmsg.CodeTooLarge), inbox.Code(agentmsg.CodeHops),
	}
)

var signatures = []inbox.Signature{inbox.Signed, inbox.MailOnly, inbox.Unchecked, inbox.Invalid, ""}

func known[T ~string](words []T, word string) bool {
	for _, w := range words {
		if string(w) == word {
			return true
		}
	}
	return false
}

// private reads the key.
func (k *JWK) private() (ed25519.PrivateKey, error) {
	seed, err := base64.RawURLEncoding.DecodeString(k.D)
	if err != nil || len(seed) != ed25519.SeedSize || k.Kty != "OKP" || k.Crv != "Ed25519" {
		return nil, fmt.Errorf("%w: signing_key is no private Ed25519 JWK", ErrSuite)
	}
	key := ed25519.NewKeyFromSeed(seed)
	if x := base64.RawURLEncoding.EncodeToString(key[32:]); x != k.X {
		return nil, fmt.Errorf("%w: signing_key: x does not belong to d", ErrSuite)
	}
	return key, nil
}
