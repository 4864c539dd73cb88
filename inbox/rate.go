package inbox

import (
	"slices"
	"time"
)

// maxVisits bounds how many times of one sender are kept (D118).
const maxVisits = 10_000

// rate counts a message of a sender, and tells whether it is one too many for
// the hour that ends now (EXT-6, D118); then it is not counted.
func (j *judge) rate(from string) (full bool, err error) {
	roster, err := j.roster()
	if err != nil {
		return false, err
	}
	limit := int64(j.in.set.HourlyLimit * goOnTimes)
	if roster != nil && roster.Limits.PerSenderPerHour != nil {
		limit = min(*roster.Limits.PerSenderPerHour, maxVisits)
	}
	var visits []int64
	if _, err := j.tx.Get(tableVisits, from, &visits); err != nil {
		return false, err
	}
	now := j.in.srv.Now()
	hourAgo := now.Add(-time.Hour).UnixMilli()
	visits = slices.DeleteFunc(visits, func(at int64) bool { return at <= hourAgo })
	if int64(len(visits)) >= limit {
		return true, nil
	}
	visits = append(visits, now.UnixMilli())
	if len(visits) == 1 {
		if err := j.tx.Put(tableDue, dueKey(now.Add(time.Hour).Unix()+1, "visits/"+from), struct{}{}); err != nil {
			return false, err
		}
	}
	return false, j.tx.Put(tableVisits, from, visits)
}

// forgetVisits drops the times of a sender that are more than an hour ago.
func (j *judge) forgetVisits(from string, now int64) error {
	var visits []int64
	known, err := j.tx.Get(tableVisits, from, &visits)
	if err != nil || !known {
		return err
	}
	if last := visits[len(visits)-1]; last > (now-3600)*1000 {
		return j.tx.Put(tableDue, dueKey(last/1000+3601, "visits/"+from), struct{}{})
	}
	return j.tx.Delete(tableVisits, from)
}
