package config

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// checkPermissions warns where every user of the host can read the configuration's file and its text holds secrets, or can read a
// private key that it names.
func (c *Config) checkPermissions(path string, text []byte) []Fault {
	var r report
	if readableByAll(path) {
		root, _ := parseYAML(text) // it was parsed before
		if line, key := writtenSecret(root, secretKeys(typeOfConfig, map[string]bool{})); line > 0 {
			r.warn("", "every user of this host can read %s, which holds secrets: take that right away (chmod o-r), or write ${NAME} for what an environment variable has", path)
			r.faults[0].Path, r.faults[0].Line = key, line
		}
	}
	for k := range c.Nodes {
		r.checkKeyFile(fmt.Sprintf("nodes[%d].tls.key", k), c.Nodes[k].TLS.Key)
	}
	r.checkKeyFile("tls.key", c.TLS.Key)
	r.checkKeyFile("web_tls_key", c.WebTLSKey)
	r.checkKeyFile("auth_rsa_key", c.AuthRSAKey)
	return r.faults
}

func (r *report) checkKeyFile(path, file string) {
	if file != "" && readableByAll(file) {
		r.warn(path, "every user of this host can read the private key %s: take that right away (chmod o-r)", file)
	}
}

// readableByAll tells whether users of this host who are neither the owner nor of the group may read a file.
func readableByAll(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().Perm()&0o004 != 0
}

var typeOfConfig = reflect.TypeFor[Config]()

// secretKeys collects the keys whose values are secrets, of a struct and all that it holds.
func secretKeys(t reflect.Type, keys map[string]bool) map[string]bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer:
		return secretKeys(t.Elem(), keys)
	case reflect.Struct:
		for k := range t.NumField() {
			f := t.Field(k)
			if f.Type == reflect.TypeFor[Secret]() || f.Type == reflect.TypeFor[Verifiers]() {
				name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
				keys[name] = true
			} else if f.IsExported() {
				secretKeys(f.Type, keys)
			}
		}
	}
	return keys
}

// writtenSecret finds the first of the keys that a document gives a value of its own, which is not that of an environment variable.
func writtenSecret(n *yaml.Node, keys map[string]bool) (line int, key string) {
	if n == nil {
		return 0, ""
	}
	for k, child := range n.Content {
		if n.Kind == yaml.MappingNode && k%2 == 1 && keys[n.Content[k-1].Value] && hasValue(child) {
			return child.Line, n.Content[k-1].Value
		}
		if line, key = writtenSecret(child, keys); line > 0 {
			return line, key
		}
	}
	return 0, ""
}

// hasValue tells whether a value is written down: some text in it that is not empty and names no environment variable.
func hasValue(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return n.Value != "" && n.Tag != "!!null" && !strings.Contains(n.Value, "${")
	}
	for k, child := range n.Content {
		if (n.Kind != yaml.MappingNode || k%2 == 1) && hasValue(child) {
			return true
		}
	}
	return false
}
