package config

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxDepth is how deep lines are remembered: two levels below the deepest key.
const maxDepth = 7

// lines tells in which line a key or table first stands, by its path.
type lines map[string]int

// of is the line of a path; of what is not in the file, that of the nearest
// table above it; 1 for the file as a whole.
func (l lines) of(path string) int {
	for ; path != ""; path = parent(path) {
		if line, ok := l[path]; ok {
			return line
		}
	}
	return 1
}

// lineReader walks through a document that is known to be valid TOML.
type lineReader struct {
	parser  unstable.Parser
	found   lines
	entries map[string]int // [[tables]] seen so far, by path
	ends    []int          // offsets of the line ends
}

func readLines(document []byte) lines {
	r := &lineReader{found: lines{}, entries: map[string]int{}}
	for i, c := range document {
		if c == '\n' {
			r.ends = append(r.ends, i)
		}
	}
	table := ""
	r.parser.Reset(document)
	for r.parser.NextExpression() {
		switch node := r.parser.Expression(); node.Kind {
		case unstable.Table:
			table = r.path("", node, false)
		case unstable.ArrayTable:
			table = r.path("", node, true)
		case unstable.KeyValue:
			r.keyValue(table, node)
		}
	}
	return r.found
}

// keyValue notes a key, and those inside its value if it is an inline table.
func (r *lineReader) keyValue(table string, node *unstable.Node) {
	path := r.path(table, node, false)
	if node.Value().Kind != unstable.InlineTable {
		return
	}
	for inner := node.Value().Children(); inner.Next(); {
		r.keyValue(path, inner.Node())
	}
}

// path is the path of a node's key below a table; newEntry says that the key
// begins another entry of an array. Each part is noted where it first stands.
func (r *lineReader) path(table string, node *unstable.Node, newEntry bool) string {
	path := table
	for key, depth := node.Key(), 0; key.Next() && depth < maxDepth; depth++ {
		path = join(path, string(key.Node().Data))
		line := 1 + sort.SearchInts(r.ends, int(key.Node().Raw.Offset))
		r.note(path, line)
		if newEntry && key.IsLast() {
			r.entries[path]++
		}
		if n := r.entries[path]; n > 0 {
			path = entry(path, n-1)
			r.note(path, line)
		}
	}
	return path
}

func (r *lineReader) note(path string, line int) {
	if _, seen := r.found[path]; !seen {
		r.found[path] = line
	}
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// join is the path of a key in a table; a key that TOML wants quoted is quoted.
func join(table, key string) string {
	if !bareKey.MatchString(key) {
		key = strconv.Quote(key)
	}
	if table == "" {
		return key
	}
	return table + "." + key
}

// entry is the path of the entry of an array.
func entry(array string, i int) string { return fmt.Sprintf("%s[%d]", array, i) }

// parent is the path of the array or table around a key; empty at the top.
func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}
