package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// decoder moves the values of a document into the structs, as their tags say.
// The library would do that too, but stops at the first wrong type.
type decoder struct {
	*mistakes
	dir   string   // relative paths start here
	files []string // that the document names
}

// keysOf lists the keys of a table in order, with those of structs without tag.
func keysOf(table reflect.Type) (keys []reflect.StructField) {
	for i := range table.NumField() {
		field := table.Field(i)
		if field.Tag != "" {
			keys = append(keys, field)
			continue
		}
		if !field.IsExported() {
			continue
		}
		for _, inner := range keysOf(field.Type) {
			inner.Index = append([]int{i}, inner.Index...)
			keys = append(keys, inner)
		}
	}
	return keys
}

func (d *decoder) table(into reflect.Value, from map[string]any, at string) {
	var known []string
	for _, key := range keysOf(into.Type()) {
		name := key.Tag.Get("toml")
		known = append(known, name)
		d.key(into.FieldByIndex(key.Index), key.Tag, from[name], join(at, name))
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if !slices.Contains(known, name) {
			// The value is not shown: it may be a password.
			d.add(join(at, name), "unknown key%s", suggestion(name, known))
		}
	}
}

// key sets one field from its value, or from its default when raw is nil.
func (d *decoder) key(into reflect.Value, tag reflect.StructTag, raw any, at string) {
	standard, optional := tag.Lookup("default")
	switch {
	case raw == nil && !optional:
		d.add(at, "must be set: %s", mend(into.Type(), tag, at))
		return
	case raw == nil && (into.Kind() == reflect.Pointer || isTables(into.Type())):
		return
	case raw == nil:
		raw = literal(into.Type(), standard)
	}
	switch {
	case into.Kind() == reflect.Struct:
		d.subTable(into, raw, at)
	case into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.subTable(into.Elem(), raw, at)
	case isTables(into.Type()):
		d.tables(into, raw, at)
	default:
		if wrong := d.scalar(into, tag, raw); wrong != "" {
			d.add(at, "%s", wrong)
		} else if into.IsZero() && !optional {
			d.add(at, "must not be empty: %s", tag.Get("doc"))
		}
	}
}

// mend says how to set a key: what a table is called, or what a value means.
func mend(t reflect.Type, tag reflect.StructTag, at string) string {
	name := index.ReplaceAllString(at, "")
	switch {
	case t.Kind() == reflect.Struct:
		return "write [" + name + "]"
	case isTables(t):
		return "write [[" + name + "]]"
	}
	return tag.Get("doc")
}

func isTables(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
}

func (d *decoder) subTable(into reflect.Value, raw any, at string) {
	values, ok := raw.(map[string]any)
	if !ok {
		d.add(at, "must be a table%s: %s", found(raw), mend(into.Type(), "", at))
		return
	}
	d.table(into, values, at)
}

func (d *decoder) tables(into reflect.Value, raw any, at string) {
	list, ok := raw.([]any)
	if !ok || len(list) == 0 {
		d.add(at, "must be one or more tables%s: %s", found(raw), mend(into.Type(), "", at))
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(list), len(list)))
	for i, raw := range list {
		d.subTable(into.Index(i), raw, entry(at, i))
	}
}

// scalar sets a value that is no table and says what is wrong with it, if so.
func (d *decoder) scalar(into reflect.Value, tag reflect.StructTag, raw any) string {
	switch into := into.Addr().Interface().(type) {
	case *bool:
		return set(into, raw, "true or false")
	case *string:
		return d.text(into, tag, raw)
	case *int:
		return integer(into, tag, raw)
	case *time.Duration:
		return duration(into, tag, raw)
	case *[]string:
		return d.list(into, tag, raw)
	}
	return fmt.Sprintf("has a type that is not read: %s", into.Type())
}

func set[T any](into *T, raw any, what string) string {
	value, ok := raw.(T)
	if !ok {
		return "must be " + what + found(raw)
	}
	*into = value
	return ""
}

func (d *decoder) text(into *string, tag reflect.StructTag, raw any) string {
	if wrong := set(into, raw, "a string in quotes"); wrong != "" {
		return wrong
	}
	if allowed := strings.Fields(tag.Get("oneof")); len(allowed) > 0 && !slices.Contains(allowed, *into) {
		return fmt.Sprintf("must be one of %s, is %q", strings.Join(allowed, ", "), *into)
	}
	if tag.Get("kind") == "path" && *into != "" {
		*into = d.absolute(*into)
		d.files = append(d.files, *into)
	}
	return ""
}

func (d *decoder) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(d.dir, path)
}

func integer(into *int, tag reflect.StructTag, raw any) string {
	var n int64
	if wrong := set(&n, raw, "a whole number without quotes"); wrong != "" {
		return wrong
	}
	least, _ := strconv.ParseInt(tag.Get("min"), 10, 64)
	most, _ := strconv.ParseInt(tag.Get("max"), 10, 64)
	if n < least || n > most {
		return fmt.Sprintf("must be %d to %d, is %d", least, most, n)
	}
	*into = int(n)
	return ""
}

func duration(into *time.Duration, tag reflect.StructTag, raw any) string {
	var s string
	if wrong := set(&s, raw, `a duration in quotes, as "30s" or "5m"`); wrong != "" {
		return wrong
	}
	value, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Sprintf(`must be a duration, as "30s" or "5m", is %q`, s)
	}
	least, _ := time.ParseDuration(tag.Get("min"))
	most, _ := time.ParseDuration(tag.Get("max"))
	if value < least || value > most {
		return fmt.Sprintf("must be %s to %s, is %q", tag.Get("min"), tag.Get("max"), s)
	}
	*into = value
	return ""
}

func (d *decoder) list(into *[]string, tag reflect.StructTag, raw any) string {
	const what = `a list of strings, as ["a", "b"]`
	var values []any
	if wrong := set(&values, raw, what); wrong != "" {
		return wrong
	}
	list := make([]string, len(values))
	for i, value := range values {
		if wrong := set(&list[i], value, what); wrong != "" {
			return wrong + " among them"
		}
	}
	// A bare name is looked up in PATH, as a shell does it.
	if tag.Get("kind") == "command" && len(list) > 0 && strings.Contains(list[0], "/") {
		list[0] = d.absolute(list[0])
	}
	*into = list
	return ""
}

// literal is the value of a default tag.
func literal(t reflect.Type, text string) any {
	if t.Kind() == reflect.String || t == reflect.TypeFor[time.Duration]() {
		return text
	}
	var document map[string]any
	if err := toml.Unmarshal([]byte("value = "+text), &document); err != nil {
		return err // found in the tests: no field takes an error
	}
	return document["value"]
}

// found says which type a value has, never which value: it may be a password
// in the wrong place.
func found(raw any) string {
	switch raw.(type) {
	case string:
		return ", is a string"
	case int64:
		return ", is a whole number"
	case float64:
		return ", is a fraction"
	case bool:
		return ", is true or false"
	case []any:
		return ", is a list"
	case map[string]any:
		return ", is a table"
	}
	return ", is a date or time"
}
