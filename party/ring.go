package party

import (
	"sync"
	"time"
)

// Ring is our own keys as they stand in a folder at each moment: a key that is made, retired or revoked counts from the
// next signature on. It may be used by several goroutines.
type Ring struct {
	dir     string // "" for keys that do not change
	trouble func(error)

	mu   sync.Mutex
	keys []OwnKey
}

// OpenRing reads the keys in dir. From then on, whenever they cannot be read, trouble is told why and those of before
// count: somebody is at work in the folder.
func OpenRing(dir string, trouble func(error)) (*Ring, error) {
	keys, err := LoadKeys(dir)
	return &Ring{dir: dir, trouble: trouble, keys: keys}, err
}

// NewRing is a ring of keys that never change.
func NewRing(keys ...OwnKey) *Ring { return &Ring{keys: keys} }

// Signing returns the key that signs messages at now, as Active does.
func (r *Ring) Signing(now time.Time) (OwnKey, error) {
	key, ok := Active(r.now(), now)
	if !ok {
		return OwnKey{}, errNoKey
	}
	return key, nil
}

// Sealing returns the key that seals an agreement, as the function Sealing does.
func (r *Ring) Sealing(agreedAt int64) (OwnKey, error) {
	key, ok := Sealing(r.now(), agreedAt)
	if !ok {
		return OwnKey{}, errNoKey
	}
	return key, nil
}

func (r *Ring) now() []OwnKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dir == "" {
		return r.keys
	}
	keys, err := LoadKeys(r.dir)
	if err != nil {
		r.trouble(err)
		return r.keys
	}
	r.keys = keys
	return keys
}
