package mailbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/emersion/go-imap/v2"
)

var budgetAppend = budget{maxIMAPLine, maxIMAPLine, 1 << 20, 10 * time.Minute}

// AppendSent puts a copy of a sent mail into a folder of the account, marked
// as read, over a connection of its own. For servers that keep no copy
// themselves; called twice, it makes two. A nil dial means net.Dialer.
func AppendSent(ctx context.Context, a Account, folder string, raw []byte, dial DialFunc) error {
	if len(raw) == 0 || len(raw) > MaxMail {
		return fmt.Errorf("copying to folder %q: the mail is empty or larger than %d bytes", folder, MaxMail)
	}
	s, err := newSession(ctx, a, dial)
	if err != nil {
		return err
	}
	err = s.exchange(ctx, fmt.Sprintf("copying to folder %q at", folder), budgetAppend, func() error {
		cmd := s.client.Append(folder, int64(len(raw)), &imap.AppendOptions{Flags: []imap.Flag{imap.FlagSeen}})
		_, err := cmd.Write(raw)
		err = errors.Join(err, cmd.Close())
		_, answer := cmd.Wait()
		return errors.Join(answer, err)
	})
	if err != nil {
		s.close()
		return err
	}
	s.logOut(ctx)
	return nil
}
