package agentmsg

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// What later versions of Agent Messaging may rename or change stands here:
// domain tags, versions, members with more than one name, and limits.

// Domain tags: signed bytes begin with one (§5.3, EXT-6).
const (
	tagEnvelope = "agentmesh-envelope-v1\n"
	tagRoster   = "agentmesh-admission-roster-v1\n"
)

// Versions as they are written. Envelopes are read from any 0.x or 0.x.y.
const (
	versionEnvelope = "0.2.0"
	versionSealed   = "sealedpayload.v1"
	versionRoster   = "v1"
)

// Offerings that every agent answers alike.
const (
	OfferingChat     = "chat"        // {text} → {text}
	OfferingDescribe = "describe"    // answered from the configuration, never by the agent
	OfferingKnock    = "knock"       // asks to be admitted
	OfferingCancel   = "task.cancel" // see ParseCancel
)

// payload is that of a request (§6.4) or of a respond (§6.5).
type payload struct {
	Offering jsontext.Value `json:"offering,omitzero"`
	Skill    jsontext.Value `json:"skill,omitzero"` // earlier name of offering
	Input    jsontext.Value `json:"input,omitzero"`
	Config   jsontext.Value `json:"config,omitzero"`
	Files    jsontext.Value `json:"files,omitzero"`

	Status jsontext.Value `json:"status,omitzero"`
	Output jsontext.Value `json:"output,omitzero"`
}

// textNames are the members of a body that hold its text, in the order in
// which they are looked at (§22, the ladder).
var textNames = [...]string{"text", "message", "prompt"}

// MaxEnvelope is the greatest length of an envelope in bytes, as it stands in
// the decoded MIME part (D101).
const MaxEnvelope = 1 << 20

// MaxText is the longest sender text in UTF-16 units (§22).
const MaxText = 65536

// Limits of what one envelope or roster holds.
const (
	maxDepth   = 32      // levels of nesting (§5)
	maxName    = 256     // bytes of a task id, an offering, an error code (D101)
	maxList    = 100     // files, artifacts, parts of an artifact (D101)
	maxHops    = 3       // §22
	maxRoster  = 4 << 20 // bytes (D107)
	maxEntries = 10000   // of a roster (D107)
)

// The mailbox window (§22): how far ts may lie ahead and back, both inclusive.
const (
	maxAhead = 5 * time.Minute
	maxAge   = 7 * 24 * time.Hour
)
