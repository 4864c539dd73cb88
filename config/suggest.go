package config

import "strings"

// suggestion offers the key that was probably meant, if one is near enough.
func suggestion(name string, known []string) string {
	best, least := "", 3
	for _, key := range known {
		distance := distance(name, key)
		if strings.HasPrefix(key, name+"_") { // "password" for "password_file"
			distance = 2
		}
		if distance < least {
			best, least = key, distance
		}
	}
	if best == "" {
		return ": it is not read in this table: remove it, or put it above the first table if it belongs to none"
	}
	return " (did you mean " + best + "?)"
}

// distance counts the letters to insert, delete or change between two keys
// (Levenshtein). The cost is bounded by the length of the known key b.
func distance(a, b string) int {
	if len(a) > 2*len(b) {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
