package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Reference is the list of all keys in Markdown: for each table of the file
// its keys with type, default and meaning.
func Reference() string {
	var b strings.Builder
	reference(&b, reflect.TypeFor[Config](), "", "At the top of the file, above every table.")
	return b.String()
}

func reference(b *strings.Builder, table reflect.Type, name, doc string) {
	if name != "" {
		fmt.Fprintf(b, "\n## %s\n\n", name)
	}
	fmt.Fprintf(b, "%s\n\n| key | type | default | meaning |\n|---|---|---|---|\n", doc)
	var tables []reflect.StructField
	for _, key := range keysOf(table) {
		if elem := tableOf(key.Type); elem != nil {
			tables = append(tables, key)
			continue
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", key.Tag.Get("toml"), typeName(key), defaultText(key), key.Tag.Get("doc"))
	}
	for _, key := range tables {
		inner := join(strings.Trim(name, "[]"), key.Tag.Get("toml"))
		heading := "[" + inner + "]"
		if isTables(key.Type) {
			heading = "[" + heading + "]"
		}
		reference(b, tableOf(key.Type), heading, key.Tag.Get("doc"))
	}
}

// tableOf is the struct behind a key that is a table, else nil.
func tableOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

func typeName(key reflect.StructField) string {
	least, most := key.Tag.Get("min"), key.Tag.Get("max")
	switch {
	case key.Tag.Get("oneof") != "":
		return "`" + strings.ReplaceAll(key.Tag.Get("oneof"), " ", "`, `") + "`"
	case key.Tag.Get("kind") != "":
		return key.Tag.Get("kind")
	case key.Type == reflect.TypeFor[time.Duration]():
		return fmt.Sprintf("duration, %s to %s", least, most)
	case key.Type.Kind() == reflect.Int:
		return fmt.Sprintf("number, %s to %s", least, most)
	case key.Type.Kind() == reflect.Bool:
		return "`true`, `false`"
	case key.Type.Kind() == reflect.Slice:
		return "list of strings"
	}
	return "string"
}

func defaultText(key reflect.StructField) string {
	text, optional := key.Tag.Lookup("default")
	if !optional {
		return "must be set"
	}
	if _, isString := literal(key.Type, text).(string); isString {
		text = fmt.Sprintf("%q", text)
	}
	return "`" + strings.ReplaceAll(text, "'", `"`) + "`"
}
