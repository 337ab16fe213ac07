package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse checks that no file makes Parse panic, that a configuration comes back exactly when nothing but warnings do,
// and that such a one is valid and equal to itself.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.bad.yaml", "testdata/old/*.yaml", "../etc/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte(minimal))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, faults := Parse(data, "testdata", Options{})
		if (c == nil) != fatal(faults) {
			t.Fatalf("configuration %v, faults %v", c != nil, faults)
		}
		for _, fault := range faults {
			if fault.Text == "" || strings.ContainsAny(fault.Path, "\n\x1b") {
				t.Fatalf("%#v", fault)
			}
		}
		if _, faults := Parse(data, "testdata", Options{Lenient: true}); c != nil && fatal(faults) {
			t.Fatalf("lenient is stricter: %v", faults)
		}
		if c == nil {
			return
		}
		if again := c.Validate(); fatal(again) {
			t.Fatalf("a parsed configuration is not valid: %v", again)
		}
		if changes := Diff(c, c); len(changes) > 0 {
			t.Fatalf("%v", changes)
		}
		for _, n := range c.Nodes {
			if _, err := n.Replicas(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
