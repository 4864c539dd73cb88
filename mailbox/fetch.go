package mailbox

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// listed is what is known of a mail before it is fetched.
type listed struct {
	uid     uint32
	size    int64     // RFC822.SIZE, the server's claim
	arrival time.Time // INTERNALDATE
}

const (
	maxUID  = 1<<32 - 1
	maxList = 4096 // mails listed at a time
)

// list gives the lowest maxList mails above a UID, in order; more reports that
// there were others. Sequence numbers and EXISTS counts are never looked at
// (I8).
func (s *session) list(ctx context.Context, above uint32) (mails []listed, more bool, err error) {
	if above == maxUID {
		return nil, false, nil
	}
	set := imap.UIDSet{{Start: imap.UID(above) + 1, Stop: 0}} // above+1:*
	return s.listSet(ctx, set, above)
}

func (s *session) listSet(ctx context.Context, set imap.UIDSet, above uint32) (mails []listed, more bool, err error) {
	cut := func(n int) {
		slices.SortFunc(mails, func(a, b listed) int { return int(int64(a.uid) - int64(b.uid)) })
		if len(mails) > n {
			mails, more = mails[:n], true
		}
	}
	err = s.exchange(ctx, "listing new mail at", budgetList, func() error {
		cmd := s.client.Fetch(set, &imap.FetchOptions{UID: true, RFC822Size: true, InternalDate: true})
		defer cmd.Close() // the library stands still until all is consumed
		for msg := cmd.Next(); msg != nil; msg = cmd.Next() {
			data, err := msg.Collect()
			if err != nil {
				return err
			}
			// RFC 9051 §9, seq-range: n:* with n above the last UID is the last mail.
			if uint32(data.UID) <= above {
				continue
			}
			mails = append(mails, listed{uint32(data.UID), data.RFC822Size, data.InternalDate})
			if len(mails) >= 2*maxList {
				cut(maxList)
			}
		}
		return cmd.Close()
	})
	cut(maxList)
	return mails, more, err
}

// Why a mail is stepped over for good, in words for the owner.
const (
	problemSize   = "larger than 32 MiB"
	problemDate   = "the server gives no arrival date"
	problemNone   = "the server lists it but does not send it"
	problemTwo    = "the server sent more than one body"
	problemEmpty  = "the server sent an empty body"
	problemFailed = "fetching it failed twice: "
)

// fetch gets one mail whole, in one command: what is verified is what was
// fetched, however the server changes it afterwards (I14). A mail that is gone
// has neither bytes nor a problem. After an error the session is at its end.
func (s *session) fetch(ctx context.Context, m listed) (raw []byte, problem string, err error) {
	switch {
	case m.size > MaxMail:
		return nil, problemSize, nil
	case m.arrival.IsZero():
		return nil, problemDate, nil
	}
	bodies, err := s.bodies(ctx, m.uid)
	switch {
	case err != nil:
		return nil, "", err
	case len(bodies) == 0:
		return s.missing(ctx, m.uid)
	case len(bodies) > 1: // I5: which of them was listed, nobody knows
		return nil, problemTwo, nil
	case len(bodies[0]) == 0:
		return nil, problemEmpty, nil
	}
	return bodies[0], "", nil
}

// bodies fetches with PEEK, RFC 9051 §6.4.5, so that \Seen is not set. The
// library drops answers for other UIDs, for none, and a second one for this.
func (s *session) bodies(ctx context.Context, uid uint32) ([][]byte, error) {
	var bodies [][]byte
	err := s.exchange(ctx, "fetching mail at", budgetBody, func() error {
		cmd := s.client.Fetch(imap.UIDSetNum(imap.UID(uid)), &imap.FetchOptions{
			BodySection: []*imap.FetchItemBodySection{{Peek: true}},
		})
		defer cmd.Close()
		for msg := cmd.Next(); msg != nil; msg = cmd.Next() {
			for item := msg.Next(); item != nil; item = msg.Next() {
				section, ok := item.(imapclient.FetchItemDataBodySection)
				if !ok {
					continue
				}
				body, err := readBody(section.Literal)
				if err != nil {
					return err
				}
				bodies = append(bodies, body)
			}
		}
		// A literal cut off comes back as a whole one; only this tells.
		return cmd.Close()
	})
	return bodies, err
}

// readBody reads a literal, whose size the guard has seen, into as much memory
// as it takes: a mail is the greatest thing that is held. NIL is empty.
func readBody(literal imap.LiteralReader) ([]byte, error) {
	if literal == nil {
		return nil, nil
	}
	if literal.Size() > MaxMail {
		return nil, errBeyondBudget
	}
	body := make([]byte, literal.Size())
	_, err := io.ReadFull(literal, body)
	return body, err
}

// missing tells a mail that was deleted meanwhile from one that the server
// holds back.
func (s *session) missing(ctx context.Context, uid uint32) (raw []byte, problem string, err error) {
	mails, _, err := s.listSet(ctx, imap.UIDSetNum(imap.UID(uid)), 0)
	if err == nil && len(mails) > 0 {
		problem = problemNone
	}
	return nil, problem, err
}

// firstSince finds the lowest UID that arrived on the day of t or later, 0 if
// there is none.
func (s *session) firstSince(ctx context.Context, t time.Time) (uint32, error) {
	var first imap.UID
	err := s.exchange(ctx, "searching at", budgetSearch, func() error {
		found, err := s.client.UIDSearch(&imap.SearchCriteria{Since: t}, nil).Wait()
		if err != nil {
			return err
		}
		set, ok := found.All.(imap.UIDSet)
		if !ok && found.All != nil {
			return errors.New("the server answered with sequence numbers")
		}
		// The set is sorted. It is not unfolded: a range may span 4 billion.
		if len(set) > 0 {
			first = set[0].Start
		}
		return nil
	})
	return uint32(first), err
}
