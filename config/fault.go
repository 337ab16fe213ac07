package config

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing wrong with a configuration.
type Fault struct {
	Path    string // of the key, as in nodes[1].master; "" for the file as a whole
	Line    int    // in the file, from 1; 0 when unknown
	Text    string // what is wrong and what to do about it; never a secret
	Warning bool   // the configuration can be used all the same
}

// String gives "line 12: nodes[1].master: text", with "warning: " before it where it is one.
func (f Fault) String() string {
	var b strings.Builder
	if f.Warning {
		b.WriteString("warning: ")
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", f.Line)
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Text)
	return b.String()
}

// fatal tells whether any of the faults is more than a warning.
func fatal(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return !f.Warning })
}

// report collects faults.
type report struct {
	faults []Fault
}

func (r *report) fault(path, format string, args ...any) {
	r.faults = append(r.faults, Fault{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (r *report) warn(path, format string, args ...any) {
	r.faults = append(r.faults, Fault{Path: path, Text: fmt.Sprintf(format, args...), Warning: true})
}

// between reports a number outside lo..hi.
func (r *report) between(path string, n, lo, hi int) {
	if n < lo || n > hi {
		r.fault(path, "must be %d to %d, not %d", lo, hi, n)
	}
}

// oneOf reports a word that is not among the allowed ones.
func (r *report) oneOf(path, word string, allowed ...string) {
	if !slices.Contains(allowed, word) {
		r.fault(path, "must be one of %s, not %q", strings.Join(allowed, ", "), word)
	}
}
