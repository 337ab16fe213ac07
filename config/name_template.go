package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// NameTemplate makes the names of sub-tables or their databases.
type NameTemplate struct{ parts []namePart }

// namePart is text, or what stands in braces.
type namePart struct {
	text   string
	source string // db, table, index, or "" for text
	digits int    // of the index, at least
}

// Names are what a name is made of.
type Names struct {
	DB, Table string
	Index     int
}

// ParseNameTemplate reads text with {db}, {table}, {index} and {index:0n}, n from 1 to 9.
func ParseNameTemplate(text string) (NameTemplate, error) {
	var t NameTemplate
	for rest := text; rest != ""; {
		plain, braced, found := strings.Cut(rest, "{")
		if strings.ContainsAny(plain, "}") {
			return NameTemplate{}, fmt.Errorf("has a } without a { before it: %q", text)
		}
		if plain != "" {
			t.parts = append(t.parts, namePart{text: plain})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(braced, "}")
		part, known := parseNamePart(name)
		if !closed || !known {
			return NameTemplate{}, fmt.Errorf("may have {db}, {table}, {index} and {index:04} in braces and nothing else: %q", text)
		}
		t.parts = append(t.parts, part)
		rest = after
	}
	if len(t.parts) == 0 {
		return NameTemplate{}, fmt.Errorf("must not be empty")
	}
	return t, nil
}

func parseNamePart(name string) (namePart, bool) {
	if digits, ok := strings.CutPrefix(name, "index:0"); ok {
		n, err := strconv.Atoi(digits)
		return namePart{source: "index", digits: n}, err == nil && len(digits) == 1 && n > 0
	}
	return namePart{source: name}, slices.Contains([]string{"db", "table", "index"}, name)
}

// Name makes a name.
func (t NameTemplate) Name(n Names) string {
	var b strings.Builder
	for _, p := range t.parts {
		switch p.source {
		case "db":
			b.WriteString(n.DB)
		case "table":
			b.WriteString(n.Table)
		case "index":
			fmt.Fprintf(&b, "%0*d", p.digits, n.Index)
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// indexed tells that the names differ by index.
func (t NameTemplate) indexed() bool {
	return slices.ContainsFunc(t.parts, func(p namePart) bool { return p.source == "index" })
}
