package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// editScalar changes one value of a YAML text in place, or adds its key. path leads to the mapping: keys and numbers of
// elements. keys are the key's names, the first one for a key that is not there yet. Forms that cannot be changed so
// (values over several lines, aliases) are an error. text is the value as it is written.
func editScalar(data []byte, path []any, keys []string, text string) ([]byte, error) {
	root, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	m := root
	for _, step := range path {
		if m, err = child(m, step); err != nil {
			return nil, err
		}
	}
	if m == nil || m.Kind != yaml.MappingNode || len(m.Content) == 0 {
		return nil, fmt.Errorf("%s cannot be changed in place: change the file by hand", keys[0])
	}
	for k := 0; k < len(m.Content); k += 2 {
		if slices.Contains(keys, m.Content[k].Value) {
			return replaceScalar(data, m.Content[k], m.Content[k+1], text)
		}
	}
	first := m.Content[0]
	at := offset(data, first.Line, first.Column)
	if m.Style&yaml.FlowStyle != 0 {
		return slices.Insert(slices.Clone(data), at, []byte(keys[0]+": "+text+", ")...), nil
	}
	line := keys[0] + ": " + text + "\n" + strings.Repeat(" ", first.Column-1)
	return slices.Insert(slices.Clone(data), at, []byte(line)...), nil
}

func child(n *yaml.Node, step any) (*yaml.Node, error) {
	switch s := step.(type) {
	case string:
		for k := 0; n.Kind == yaml.MappingNode && k < len(n.Content); k += 2 {
			if n.Content[k].Value == s {
				return n.Content[k+1], nil
			}
		}
	case int:
		if n.Kind == yaml.SequenceNode && s < len(n.Content) {
			return n.Content[s], nil
		}
	}
	return nil, fmt.Errorf("%v cannot be changed in place: change the file by hand", step)
}

// replaceScalar puts text in the place of a value of one line.
func replaceScalar(data []byte, key, v *yaml.Node, text string) ([]byte, error) {
	refused := fmt.Errorf("%s cannot be changed in place (line %d): change the file by hand", key.Value, key.Line)
	if v.Kind != yaml.ScalarNode {
		return nil, refused
	}
	if v.Value == "" && v.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 {
		// Nothing stands there: the value goes behind the colon.
		at := offset(data, key.Line, key.Column)
		colon := bytes.IndexByte(data[at:], ':')
		if colon < 0 {
			return nil, refused
		}
		return slices.Insert(slices.Clone(data), at+colon+1, []byte(" "+text)...), nil
	}
	at := offset(data, v.Line, v.Column)
	end := at
	switch {
	case v.Style&yaml.SingleQuotedStyle != 0:
		end += quotedEnd(data[at:], '\'', false)
	case v.Style&yaml.DoubleQuotedStyle != 0:
		end += quotedEnd(data[at:], '"', true)
	case bytes.HasPrefix(data[at:], []byte(v.Value)):
		end += len(v.Value)
	}
	if end == at || bytes.IndexByte(data[at:end], '\n') >= 0 {
		return nil, refused
	}
	return slices.Concat(data[:at], []byte(text), data[end:]), nil
}

// quotedEnd gives the length of the quoted value that text begins with; 0 if it does not end.
func quotedEnd(text []byte, quote byte, escapes bool) int {
	if len(text) == 0 || text[0] != quote {
		return 0
	}
	for k := 1; k < len(text); k++ {
		switch {
		case escapes && text[k] == '\\':
			k++
		case text[k] == quote && !escapes && k+1 < len(text) && text[k+1] == quote:
			k++
		case text[k] == quote:
			return k + 1
		}
	}
	return 0
}

// offset gives the place of a line and column, both from 1; the parser counts columns in characters.
func offset(data []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		next := bytes.IndexByte(data[at:], '\n')
		if next < 0 {
			return len(data)
		}
		at += next + 1
	}
	for k := range string(data[at:]) {
		if column--; column == 0 {
			return at + k
		}
	}
	return len(data)
}

// quoted writes a value so that no YAML parser and no replacement of variables takes it for anything but text or a number.
func quoted(value string) string {
	value = strings.ReplaceAll(value, "$", "$$")
	plain := value != ""
	for _, c := range value {
		plain = plain && (c >= '0' && c <= '9' || c >= 'a' && c <= 'z')
	}
	if plain && value != "null" && value != "true" && value != "false" && value != "on" && value != "off" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
