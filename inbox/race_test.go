//go:build race

package inbox

// raced tells that the race detector is at work, which costs ten times the
// time; the rehearsals are for the run without it.
const raced = true
