package config

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Change is one difference between two configurations.
type Change struct {
	// Path of the key; elements of lists go by name, as in nodes[node1].master.
	Path string
	// Old and New values, "***" for secrets; an element that only one side has is "present" there and "absent" in the other.
	Old, New string
	// Reloadable is false for what cannot change while the proxy runs.
	Reloadable bool
}

const (
	present = "present"
	absent  = "absent"
)

// Diff gives what changes from old to new, both without fault, in the order of the fields. The order of users, nodes,
// schemas and sharding rules does not matter; that of query rules does, and that of a sharding rule's own tables.
func Diff(old, new *Config) []Change {
	var d differ
	d.structure("", reflect.ValueOf(*old), reflect.ValueOf(*new), true)
	return d.changes
}

type differ struct{ changes []Change }

func (d *differ) structure(path string, old, new reflect.Value, reloadable bool) {
	for k := range old.NumField() {
		field := old.Type().Field(k)
		at := join(path, field.Tag.Get("yaml"))
		d.value(at, old.Field(k), new.Field(k), reloadable && field.Tag.Get("reload") != "no")
	}
}

func (d *differ) value(path string, old, new reflect.Value, reloadable bool) {
	switch {
	case old.Kind() == reflect.Struct:
		d.structure(path, old, new, reloadable)
	case old.Kind() == reflect.Slice && old.Type().Elem().Kind() == reflect.Struct && old.Type().Elem() != reflect.TypeFor[PhysicalTable]():
		d.list(path, old, new, reloadable)
	case !same(old, new):
		d.changes = append(d.changes, Change{Path: path, Old: show(old), New: show(new), Reloadable: reloadable})
	}
}

// same compares; an empty list is the same as none.
func same(old, new reflect.Value) bool {
	if k := old.Kind(); (k == reflect.Slice || k == reflect.Map) && old.Len() == 0 && new.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(old.Interface(), new.Interface())
}

// show gives a value as it would stand in the file; Secret and Verifiers mask themselves.
func show(v reflect.Value) string {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, _ := m.MarshalText()
		return string(text)
	}
	if p, ok := v.Interface().(PhysicalTable); ok {
		return p.String()
	}
	if v.Kind() == reflect.Slice {
		words := make([]string, v.Len())
		for k := range words {
			words[k] = show(v.Index(k))
			if v.Type().Elem().Kind() == reflect.Slice {
				words[k] = "[" + words[k] + "]"
			}
		}
		return strings.Join(words, ", ")
	}
	return fmt.Sprint(v.Interface())
}

// list compares elements by name: those of old in their order, then what is only in new.
func (d *differ) list(path string, old, new reflect.Value, reloadable bool) {
	if before, after := ruleOrder(old, new), ruleOrder(new, old); !slices.Equal(before, after) {
		d.changes = append(d.changes, Change{Path: path, Old: strings.Join(before, ", "), New: strings.Join(after, ", "), Reloadable: reloadable})
	}
	left := map[string]reflect.Value{}
	for k := range new.Len() {
		left[nameOf(new.Index(k))] = new.Index(k)
	}
	for k := range old.Len() {
		name := nameOf(old.Index(k))
		at := path + "[" + name + "]"
		if match, ok := left[name]; ok {
			delete(left, name)
			d.structure(at, old.Index(k), match, reloadable)
		} else {
			d.changes = append(d.changes, Change{Path: at, Old: present, New: absent, Reloadable: reloadable})
		}
	}
	for k := range new.Len() {
		name := nameOf(new.Index(k))
		if _, only := left[name]; only {
			d.changes = append(d.changes, Change{Path: path + "[" + name + "]", Old: absent, New: present, Reloadable: reloadable})
		}
	}
}

// ruleOrder gives the names of query rules that the other configuration has too, in their order; nil for lists of anything else.
func ruleOrder(list, other reflect.Value) (names []string) {
	rules, ok := list.Interface().([]QueryRule)
	if !ok {
		return nil
	}
	for _, r := range rules {
		if slices.ContainsFunc(other.Interface().([]QueryRule), func(o QueryRule) bool { return o.Name == r.Name }) {
			names = append(names, r.Name)
		}
	}
	return names
}

// nameOf is what tells an element of a list from its neighbours.
func nameOf(element reflect.Value) string {
	switch e := element.Interface().(type) {
	case User:
		return e.User
	case Node:
		return e.Name
	case WebToken:
		return e.Name
	case Schema:
		return e.User
	case QueryRule:
		return e.Name
	case Index:
		if e.Others != "" {
			return "others: " + e.Others // which no column is called that the file may have
		}
		return e.IndexName()
	case Shard:
		return e.DB + "." + e.Table
	}
	return ""
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
