package party

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentmaild/agentmaild/plainfile"
)

// ErrStays says that a key was not changed, for a reason that lies in what was asked.
var ErrStays = errors.New("the key stays as it is")

// Retire has a key in dir sign no more. It is retired from the second after now on, so that what it signed in this one
// still checks. Refused with ErrStays: a key that is not there, is retired or revoked, or without which nothing can sign;
// and, where another key would begin to sign, one that others may not have on their copy of the page yet (D91). It returns
// the key that signs from now on.
func Retire(dir, kid string, now time.Time) (OwnKey, error) {
	return change(dir, kid, now, func(k *OwnKey, keys []OwnKey) error {
		if err := over(k, now); err != nil {
			return err
		}
		before, _ := Active(keys, now)
		k.RetiredAt = now.Unix() + 1
		next, _ := Active(keys, now)
		if ready := time.Unix(next.CreatedAt, 0).Add(PageAge); next.Kid != before.Kid && now.Before(ready) {
			return fmt.Errorf("%w: %s would sign from now on, and is so new that not everybody sees it on the key page yet; "+
				"publish it and come back after %s", ErrStays, next.Kid, ready.UTC().Format(time.DateTime+"Z"))
		}
		return nil
	})
}

// over is why a key cannot be retired, or nil.
func over(k *OwnKey, now time.Time) error {
	switch {
	case now.Unix() < k.CreatedAt: // retired before it was made, nothing that it signed would check
		return fmt.Errorf("%w: it was made at %s, which is to come by the clock of this machine", ErrStays, stamp(k.CreatedAt))
	case k.RevokedAt != 0:
		return fmt.Errorf("%w: it was revoked at %s", ErrStays, stamp(k.RevokedAt))
	case k.RetiredAt != 0:
		return fmt.Errorf("%w: it was retired at %s", ErrStays, stamp(k.RetiredAt))
	}
	return nil
}

// Revoke says that nothing counts that a key in dir signed at the given time or later. Refused with ErrStays: a key that
// is not there, or is the only one that can sign; a time that is to come, or is not before the one that is set. It returns
// the key that signs from now on; that others may not have it on their page yet does not count here.
func Revoke(dir, kid string, at, now time.Time) (OwnKey, error) {
	return change(dir, kid, now, func(k *OwnKey, _ []OwnKey) error {
		switch {
		case at.After(now):
			return fmt.Errorf("%w: %s is to come, and a key is revoked for what it signs from then on", ErrStays, stamp(at.Unix()))
		case at.Unix() <= 0:
			return fmt.Errorf("%w: a time before 1970", ErrStays)
		case k.RevokedAt != 0 && at.Unix() >= k.RevokedAt: // what was refused would count again
			return fmt.Errorf("%w: it was revoked at %s, and only an earlier time can take the place of that", ErrStays, stamp(k.RevokedAt))
		}
		k.RevokedAt = at.Unix()
		return nil
	})
}

func stamp(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.DateTime + "Z") }

// change sets the times of one key and returns the one that signs then.
func change(dir, kid string, now time.Time, set func(*OwnKey, []OwnKey) error) (OwnKey, error) {
	unlock, err := plainfile.Lock(dir)
	if err != nil {
		return OwnKey{}, err
	}
	defer unlock()
	keys, err := LoadKeys(dir)
	if err != nil {
		return OwnKey{}, err
	}
	i := slices.IndexFunc(keys, func(k OwnKey) bool { return k.Kid == kid })
	if i < 0 {
		return OwnKey{}, fmt.Errorf("%w: there is no key %q in %s", ErrStays, kid, dir)
	}
	_, could := Active(keys, now)
	if err := set(&keys[i], keys); err != nil {
		return OwnKey{}, err
	}
	signer, can := Active(keys, now)
	if could && !can {
		return OwnKey{}, fmt.Errorf("%w: no other could sign; make one first with `agentmaild keys new`", ErrStays)
	}
	data, err := keys[i].file()
	if err != nil {
		return OwnKey{}, fmt.Errorf("write the times of a key: %w", err)
	}
	if err := plainfile.Replace(filepath.Join(dir, kid+".json"), data); err != nil {
		return OwnKey{}, fmt.Errorf("write the times of a key: %w", err)
	}
	return signer, nil
}
