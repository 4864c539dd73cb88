package agentmsg

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Pin says which bytes a file has: their number and digest.
func (f *File) Pin(size int64, sum [sha256.Size]byte) {
	f.Size, f.Digest = size, digestPrefix+hex.EncodeToString(sum[:])
}

// Matches tells whether a file of this size in bytes and SHA-256 is the one
// that was signed (§7.5). A File without a digest matches nothing: its bytes
// were never signed.
func (f *File) Matches(size int64, sum [sha256.Size]byte) bool {
	digits, pinned := strings.CutPrefix(f.Digest, digestPrefix)
	digest, err := hex.DecodeString(digits)
	return pinned && err == nil && bytes.Equal(digest, sum[:]) && size == f.Size
}

const digestPrefix = "sha256:"
