package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// decoder fills the structs from a YAML tree. It exists because a fault needs its path and line, and all faults are
// wanted: yaml.v3 gives lines only, and neither defaults nor several names for a key.
type decoder struct {
	report
	lenient bool
	lines   map[string]int  // path -> line, of what the file holds
	failed  map[string]bool // paths whose value could not be decoded
}

func newDecoder(opts Options) *decoder {
	return &decoder{lenient: opts.Lenient, lines: map[string]int{}, failed: map[string]bool{}}
}

// emptier is a list element that is dropped when the file leaves it empty.
type emptier interface{ empty() bool }

func (d *decoder) document(root *yaml.Node, c *Config) {
	if root == nil {
		return
	}
	d.value(root, "", reflect.ValueOf(c).Elem())
}

// fail reports that the value at path could not be decoded.
func (d *decoder) fail(n *yaml.Node, path, format string, args ...any) {
	d.failed[path] = true
	d.faultAt(n, path, format, args...)
}

func (d *decoder) faultAt(n *yaml.Node, path, format string, args ...any) {
	d.faults = append(d.faults, Fault{Path: path, Line: n.Line, Text: fmt.Sprintf(format, args...)})
}

// value decodes n into v; an empty value leaves v, which holds the default.
func (d *decoder) value(n *yaml.Node, path string, v reflect.Value) {
	d.lines[path] = n.Line
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if !knownTag(n) {
		d.fail(n, path, "YAML tags are not supported: quote a value that begins with !")
		return
	}
	if isNull(n) {
		if _, secret := v.Interface().(Secret); secret && n.Anchor != "" {
			d.fail(n, path, "is empty but for a YAML anchor: quote a value that begins with &")
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Index]() && n.Kind != yaml.MappingNode {
			d.index(n, path, v)
			return
		}
		d.structure(n, path, v)
	case reflect.Slice:
		d.list(n, path, v)
	case reflect.Map:
		d.texts(n, path, v)
	default:
		d.scalar(n, path, v)
	}
}

func knownTag(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!map", "!!seq", "!!merge":
		return true
	}
	return false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func (d *decoder) structure(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "must be a mapping of keys to values")
		return
	}
	pairs := d.pairs(n, path)
	if s, ok := v.Addr().Interface().(defaulter); ok {
		s.setDefaults(func(key string) string { return textOf(pairs, key) })
	}
	fields, names := keys(v.Type())
	seen := map[int]string{}
	for _, p := range pairs {
		k, known := fields[p.key]
		switch {
		case !known:
			d.unknown(p, path, names)
		case seen[k] != "":
			d.faultAt(p.name, join(path, p.key), "is another name of %s, which is set too: remove one", seen[k])
		default:
			seen[k] = p.key
			canonical := v.Type().Field(k).Tag.Get("yaml")
			d.value(p.value, join(path, canonical), v.Field(k))
		}
	}
}

// keys gives the fields of a struct by key, other names of keys included, and all keys in order.
func keys(t reflect.Type) (fields map[string]int, names []string) {
	fields = map[string]int{}
	for k := range t.NumField() {
		for _, tag := range []string{"yaml", "alias"} {
			if name := t.Field(k).Tag.Get(tag); name != "" {
				fields[name] = k
				names = append(names, name)
			}
		}
	}
	return fields, names
}

func (d *decoder) unknown(p pair, path string, names []string) {
	f := Fault{Path: join(path, p.key), Line: p.name.Line, Text: "unknown key", Warning: d.lenient}
	if strings.Contains(p.key, ":") {
		f.Text += "; is a blank missing after the colon?"
	} else if near := nearest(p.key, names); near != "" {
		f.Text += "; did you mean " + near + "?"
	}
	d.faults = append(d.faults, f)
}

func (d *decoder) list(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind == yaml.ScalarNode && v.Type() == reflect.TypeFor[Columns]() {
		d.column(n, path, v)
		return
	}
	if n.Kind == yaml.ScalarNode && v.Type() == reflect.TypeFor[[]Index]() {
		element := reflect.New(v.Type().Elem()).Elem()
		d.value(n, path+"[0]", element)
		v.Set(reflect.Append(v, element))
		return
	}
	if n.Kind != yaml.SequenceNode {
		d.fail(n, path, "must be a list")
		return
	}
	for _, item := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, v.Len())
		element := reflect.New(v.Type().Elem())
		dropped, droppable := element.Interface().(emptier)
		if isNull(item) && !droppable {
			d.fail(item, at, "is empty: fill it in or remove it")
		}
		d.value(item, at, element.Elem())
		if droppable && dropped.empty() {
			continue
		}
		v.Set(reflect.Append(v, element.Elem()))
	}
}

// index decodes an index of which the file has the columns only, or only what is to become of others.
func (d *decoder) index(n *yaml.Node, path string, v reflect.Value) {
	var columns Columns
	d.value(n, path, reflect.ValueOf(&columns).Elem())
	x := v.Addr().Interface().(*Index)
	if n.Kind == yaml.ScalarNode && len(columns) == 1 && (columns[0] == othersLocal || columns[0] == othersGlobal) {
		x.Others = columns[0]
		return
	}
	x.Columns = columns
}

// column decodes the one column that is written without a list.
func (d *decoder) column(n *yaml.Node, path string, v reflect.Value) {
	var name string
	d.scalar(n, path, reflect.ValueOf(&name).Elem())
	if name != "" {
		v.Set(reflect.ValueOf(Columns{name}))
	}
}

// texts decodes a mapping whose keys are the file's own.
func (d *decoder) texts(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "must be a mapping of names to texts")
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, p := range d.pairs(n, path) {
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(p.value, join(path, p.key), value)
		v.SetMapIndex(reflect.ValueOf(p.key), value)
	}
}

func (d *decoder) scalar(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		d.fail(n, path, "must be a single value")
		return
	}
	text, fromEnv, err := scalarText(n)
	if err != nil {
		d.fail(n, path, "%s", err)
		return
	}
	if err := setScalar(v, text); err != nil {
		shown := fmt.Sprintf(", not %.40q", text)
		if fromEnv {
			shown = "; its value comes from the environment"
		}
		d.fail(n, path, "%s%s", err, shown)
	}
}

// scalarText is a scalar as it was written, environment variables replaced unless it is a number or the like.
func scalarText(n *yaml.Node) (text string, fromEnv bool, err error) {
	if n.ShortTag() != "!!str" {
		return n.Value, false, nil
	}
	return expandEnv(n.Value)
}

func setScalar(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return fmt.Errorf("must be a whole number")
		}
		v.SetInt(n)
	case reflect.Bool:
		word := strings.ToLower(text)
		on := slices.Contains([]string{"true", "yes", "on"}, word)
		if !on && !slices.Contains([]string{"false", "no", "off"}, word) {
			return fmt.Errorf("must be true or false")
		}
		v.SetBool(on)
	}
	return nil
}

// placed gives faults of decoded values their lines: that of the key or, where the file does not hold it, of what it is
// missing from. Faults of values that could not be decoded are left out, as they would only repeat that.
func (d *decoder) placed(faults []Fault) []Fault {
	faults = slices.DeleteFunc(faults, func(f Fault) bool {
		for path := f.Path; path != ""; path = parent(path) {
			if d.failed[path] {
				return true
			}
		}
		return d.failed[""]
	})
	for k := range faults {
		for path := faults[k].Path; path != ""; path = parent(path) {
			if line, ok := d.lines[path]; ok {
				faults[k].Line = line
				break
			}
		}
	}
	return faults
}

// join appends a key to a path. What follows a colon in a key is a value that lacks the blank before it, perhaps a secret.
func join(path, key string) string {
	key, _, _ = strings.Cut(key, ":")
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) || len(key) > 64 {
		key = fmt.Sprintf("%.64q", key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func parent(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }
