package monitor

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// page is one answer in the text format of Prometheus, version 0.0.4: the
// lines of each family. Ours are few and read when they are asked for, so that
// the client library would add eight modules and a seventh to the program for
// what is written here.
type page map[string][]string

// set adds a number with its labels, as name and value in turn.
func (p page) set(name string, value float64, labels ...string) {
	var b strings.Builder
	b.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		fmt.Fprintf(&b, `%s="%s"`, labels[i], escape.Replace(labels[i+1]))
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	p[name] = append(p[name], b.String()+" "+strconv.FormatFloat(value, 'f', -1, 64)+"\n")
}

// escape makes a text the value of a label.
var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// write writes the families that have numbers.
func (p page) write(w io.Writer) {
	for _, f := range families {
		if len(p[f.name]) > 0 {
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s", f.name, f.help, f.name, f.kind, strings.Join(p[f.name], ""))
		}
	}
}
