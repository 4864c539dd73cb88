package config

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

const (
	examplePath = "../config.example.toml"
	docPath     = "../docs/configuration.md"
)

// intro stands above the reference in docs/configuration.md.
const intro = "# Configuration\n\n" +
	"The daemon reads one TOML file and refuses to start when anything in it is wrong: an unknown key, a wrong type,\n" +
	"a value out of range, a file that is missing or open to other users. `agentmaild config check` does the same and\n" +
	"names every mistake in a line of its own, with file, line, key and what to do.\n" +
	"`config.example.toml` shows every key in its place.\n\n" +
	"A `duration` is a string such as `\"30s\"` or `\"5m\"`. A `path` that is relative starts at the folder of the\n" +
	"configuration file. A `command` is a list of program and arguments, run without a shell; a program without a slash is\n" +
	"looked up in `PATH`. Lengths are counted in characters.\n\n" +
	"This page is made from the code: `go test ./config -update`.\n\n"

func TestReference(t *testing.T) {
	want := intro + Reference()
	if *update {
		if err := os.WriteFile(docPath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docPath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not up to date, run go test ./config -update:\n%s", docPath, diff)
	}
}

// allKeys lists the keys that are no tables, by path without entries.
func allKeys(table reflect.Type, at string) map[string]reflect.StructField {
	keys := map[string]reflect.StructField{}
	for _, key := range keysOf(table) {
		path := join(at, key.Tag.Get("toml"))
		inner := tableOf(key.Type)
		if inner == nil {
			keys[path] = key
			continue
		}
		for path, key := range allKeys(inner, path) {
			keys[path] = key
		}
	}
	return keys
}

// TestTags holds every key to a name, a meaning that fits into a table cell and
// a default that would pass its own checks.
func TestTags(t *testing.T) {
	for path, key := range allKeys(reflect.TypeFor[Config](), "") {
		doc := key.Tag.Get("doc")
		if !strings.HasSuffix(doc, ".") || strings.ContainsAny(doc, "|\n") {
			t.Errorf("%s: doc is %q", path, doc)
		}
		number := key.Type.Kind() == reflect.Int || key.Type == reflect.TypeFor[time.Duration]()
		if bounded := key.Tag.Get("min") != "" && key.Tag.Get("max") != ""; number != bounded {
			t.Errorf("%s: number is %t, bounded %t", path, number, bounded)
		}
		standard, optional := key.Tag.Lookup("default")
		if !optional {
			continue
		}
		d := decoder{dir: "/etc"}
		if wrong := d.scalar(reflect.New(key.Type).Elem(), key.Tag, literal(key.Type, standard)); wrong != "" {
			t.Errorf("%s: default %s", path, wrong)
		}
	}
}

var commented = regexp.MustCompile(`(?m)^# ((?:[a-z_]+ =|\[\[?[a-z.]+\]\]?).*)$`)

// TestExampleNamesEveryKey also holds that a commented key shows its default.
func TestExampleNamesEveryKey(t *testing.T) {
	example, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	keys := allKeys(reflect.TypeFor[Config](), "")
	shown := map[string]any{}
	flatten(t, commented.ReplaceAllString(string(example), "$1"), shown)
	live := map[string]any{}
	flatten(t, string(example), live)
	for path, key := range keys {
		value, ok := shown[path]
		if !ok {
			t.Errorf("%s is not in the example", path)
		}
		if _, ok := live[path]; ok {
			continue
		}
		if standard, optional := key.Tag.Lookup("default"); optional {
			if diff := cmp.Diff(literal(key.Type, standard), value); diff != "" {
				t.Errorf("%s: default in the example: %s", path, diff)
			}
		}
	}
	for path := range shown {
		if _, ok := keys[path]; !ok {
			t.Errorf("the example has %s, which is no key", path)
		}
	}
}

// flatten reads a document, which must name no key twice, into values by path.
func flatten(t *testing.T, document string, into map[string]any) {
	t.Helper()
	var values map[string]any
	if err := toml.Unmarshal([]byte(document), &values); err != nil {
		t.Fatal(err)
	}
	var walk func(at string, value any)
	walk = func(at string, value any) {
		if list, ok := value.([]any); ok && len(list) == 1 {
			if entry, ok := list[0].(map[string]any); ok {
				value = entry
			}
		}
		table, ok := value.(map[string]any)
		if !ok {
			into[at] = value
			return
		}
		for name, inner := range table {
			walk(join(at, name), inner)
		}
	}
	walk("", values)
}

func TestExampleLoads(t *testing.T) {
	example, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	c, err := load(t, folder(t), string(example))
	if err != nil {
		t.Fatal(err)
	}
	if c.StateDir != "/var/lib/agentmaild" || len(c.Inboxes) != 1 || c.Inboxes[0].DKIM != nil {
		t.Errorf("the example is read as %+v", c)
	}
	signing := regexp.MustCompile(`(?m)^# (\[inbox.dkim\]|domain =|selector =|key_file =)`).ReplaceAllString(string(example), "$1")
	dir := folder(t)
	c, err = load(t, dir, signing)
	if err != nil {
		t.Fatal(err)
	}
	if want := (&DKIM{Domain: "seller.example", Selector: "agent", KeyFile: filepath.Join(dir, "dkim.pem")}); !cmp.Equal(want, c.Inboxes[0].DKIM) {
		t.Errorf("with dkim: %+v", c.Inboxes[0].DKIM)
	}
}
