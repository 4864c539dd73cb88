//go:build !race

package inbox

const raced = false
