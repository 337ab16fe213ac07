package config

import (
	"reflect"
	"slices"
)

// Setting is one key of a configuration with its value.
type Setting struct {
	// Path of the key; elements of lists go by name, as in nodes[node1].master.
	Path string
	// Value as it would stand in the file, "***" for secrets.
	Value string
	// Reloadable is false for what cannot change while the proxy runs.
	Reloadable bool
	// Settable is true for what can be set by itself while the proxy runs, see Set.
	Settable bool
}

// Settings gives every key of the configuration, in the order of the fields.
func (c *Config) Settings() []Setting {
	places := c.places()
	settings := make([]Setting, len(places))
	for k, p := range places {
		settings[k] = p.Setting
	}
	return settings
}

// place is where a setting is: in the structs, and in the file.
type place struct {
	Setting
	value reflect.Value // can be set
	// in leads to the mapping of the file, by keys and numbers of elements; names are those of the key there.
	in    []any
	names []string
}

// places are those of all settings, in the order of the fields.
func (c *Config) places() []place {
	var l placeLister
	l.structure("", nil, reflect.ValueOf(c).Elem(), true)
	return l.places
}

type placeLister struct{ places []place }

func (l *placeLister) structure(path string, in []any, v reflect.Value, reloadable bool) {
	for k := range v.NumField() {
		field := v.Type().Field(k)
		key, tag := field.Tag.Get("yaml"), field.Tag.Get("reload")
		f, at := v.Field(k), join(path, key)
		reloadable := reloadable && tag != "no"
		switch {
		case f.Kind() == reflect.Struct:
			l.structure(at, append(slices.Clip(in), key), f, reloadable)
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct && f.Type().Elem() != reflect.TypeFor[PhysicalTable]():
			for n := range f.Len() {
				l.structure(at+"["+nameOf(f.Index(n))+"]", append(slices.Clip(in), key, n), f.Index(n), reloadable)
			}
		default:
			p := place{Setting: Setting{Path: at, Value: show(f), Reloadable: reloadable, Settable: tag == "set"}, value: f, in: in, names: []string{key}}
			if alias := field.Tag.Get("alias"); alias != "" {
				p.names = append(p.names, alias)
			}
			l.places = append(l.places, p)
		}
	}
}

// saved tells whether the setting may have changed since the file was read: by Set, or as the instances of a node.
func (p *place) saved() bool {
	return p.Settable || len(p.in) == 2 && p.in[0] == "nodes" && (p.names[0] == "master" || p.names[0] == "slave")
}

// written is the value as it is written into the file.
func (p *place) written() string {
	if p.value.Kind() == reflect.String {
		return quoted(p.Value)
	}
	return p.Value // a number, a size, a time or a truth
}
