package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/agentmaild/agentmaild/envelope/intent"
)

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
