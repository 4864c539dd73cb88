package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
)

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// The forms of ids, and of keys of what waits: an id, the number of an event
// or a letter, or a quote with the number of a reply to it. What has another
// form is refused before a daemon is asked.
var (
	idForm    = regexp.MustCompile(`^` + uuid + `$`)
	keyForm   = regexp.MustCompile(`^([a-z]+-)?(` + uuid + `(/[0-9a-f]{1,16})?|[0-9a-f]{16}|U[A-Z2-7]{55})$`)
	replyForm = regexp.MustCompile(`^reply-` + uuid + `/[0-9a-f]{1,16}$`)
)

// parseID takes the id of a message or a thread.
func parseID(typed string) (string, error) {
	if !idForm.MatchString(typed) {
		return "", errors.New("it is no id: that is a UUID in lower case, as `agentmaild threads list` shows")
	}
	return typed, nil
}

// text takes any text.
func text(typed string) (string, error) { return typed, nil }

// parseValid takes whole seconds up to inbox.MaxValid (D71).
func parseValid(typed string) (time.Duration, error) {
	valid, err := time.ParseDuration(typed)
	if err != nil || valid < time.Second || valid > inbox.MaxValid || valid%time.Second != 0 {
		return 0, fmt.Errorf("it must be from 1s to %dh (366 days) in whole seconds, as in 48h", inbox.MaxValid/time.Hour)
	}
	return valid, nil
}

// parseSlotNumber takes the number of a slot; whether there is one the daemon
// knows.
func parseSlotNumber(typed string) (int, error) {
	n, err := strconv.ParseUint(typed, 10, 16)
	if err != nil {
		return 0, errors.New("it is not the number of a slot, which are counted from 0")
	}
	return int(n), nil
}

var errItem = errors.New("it is not of the form QUANTITY UNIT DESCRIPTION [@ UNIT-PRICE]")

// parseItem reads "200 piece Ceramic mug, white @ 2.50 EUR".
func parseItem(text string) (intent.Item, error) {
	var item intent.Item
	body, price, priced := cutLast(text, " @ ")
	if priced {
		money, err := intent.ParseMoney(price)
		if err != nil {
			return item, err
		}
		item.UnitPrice = &money
	}
	quantity, rest, ok := strings.Cut(strings.TrimSpace(body), " ")
	unit, description, ok2 := strings.Cut(strings.TrimSpace(rest), " ")
	if !ok || !ok2 {
		return item, errItem
	}
	var err error
	// ParseFloat takes NaN, Inf and hexadecimal too.
	if item.Quantity, err = strconv.ParseFloat(quantity, 64); err != nil || strings.Trim(quantity, "0123456789.") != "" {
		return item, errItem
	}
	if unit != "-" {
		item.Unit = unit
	}
	item.Description = strings.TrimSpace(description)
	return item, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// parseSlot reads "START END ZONE".
func parseSlot(text string) (intent.Slot, error) {
	words := strings.Fields(text)
	if len(words) != 3 {
		return intent.Slot{}, errors.New("it is not of the form START END ZONE")
	}
	return intent.Slot{Start: words[0], End: words[1], TimeZone: words[2]}, nil
}
