package config

import "reflect"

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
	var l settingLister
	l.structure("", reflect.ValueOf(*c), true)
	return l.settings
}

type settingLister struct {
	settings []Setting
	values   []reflect.Value // of the settings
}

func (l *settingLister) structure(path string, v reflect.Value, reloadable bool) {
	for k := range v.NumField() {
		field := v.Type().Field(k)
		tag := field.Tag.Get("reload")
		l.value(join(path, field.Tag.Get("yaml")), v.Field(k), reloadable && tag != "no", tag == "set")
	}
}

func (l *settingLister) value(path string, v reflect.Value, reloadable, settable bool) {
	switch {
	case v.Kind() == reflect.Struct:
		l.structure(path, v, reloadable)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct && v.Type().Elem() != reflect.TypeFor[PhysicalTable]():
		for k := range v.Len() {
			l.structure(path+"["+nameOf(v.Index(k))+"]", v.Index(k), reloadable)
		}
	default:
		l.settings = append(l.settings, Setting{Path: path, Value: show(v), Reloadable: reloadable, Settable: settable})
		l.values = append(l.values, v)
	}
}
