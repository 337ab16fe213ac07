package config

import "gopkg.in/yaml.v3"

// pair is a key of a mapping with its value.
type pair struct {
	key         string
	name, value *yaml.Node
}

// pairs gives the keys of a mapping in order, those taken over from others with << last; a key given twice is reported
// and the first one counts.
func (d *decoder) pairs(n *yaml.Node, path string) []pair {
	var pairs []pair
	var merged []*yaml.Node
	seen := map[string]bool{}
	for k := 0; k+1 < len(n.Content); k += 2 {
		name, value := n.Content[k], n.Content[k+1]
		switch {
		case name.Kind != yaml.ScalarNode || isNull(name) || !knownTag(name):
			d.faultAt(name, path, "a key must be a plain word")
		case name.ShortTag() == "!!merge":
			merged = append(merged, d.mergeSources(value, path)...)
		case seen[name.Value]:
			d.faultAt(name, join(path, name.Value), "is set twice")
		default:
			seen[name.Value] = true
			pairs = append(pairs, pair{name.Value, name, value})
		}
	}
	for _, source := range merged {
		for _, p := range d.pairs(source, path) {
			if !seen[p.key] {
				seen[p.key] = true
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// mergeSources gives the mappings that a merge key names: one, or a list of them.
func (d *decoder) mergeSources(value *yaml.Node, path string) []*yaml.Node {
	var sources []*yaml.Node
	named := []*yaml.Node{value}
	if value = resolved(value); value.Kind == yaml.SequenceNode {
		named = value.Content
	}
	for _, n := range named {
		if n = resolved(n); n.Kind != yaml.MappingNode {
			d.faultAt(n, join(path, "<<"), "must be a mapping or a list of mappings")
			continue
		}
		sources = append(sources, n)
	}
	return sources
}

func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// textOf is the text of a scalar among pairs, "" where there is none.
func textOf(pairs []pair, key string) string {
	for _, p := range pairs {
		if n := resolved(p.value); p.key == key && n.Kind == yaml.ScalarNode && !isNull(n) {
			text, _, _ := scalarText(n)
			return text
		}
	}
	return ""
}

// nearest gives the known key that a mistyped one was most likely meant to be, "" if none is near.
func nearest(key string, known []string) string {
	best, distance := "", max(2, len(key)/3)+1
	if len(key) > 64 {
		return ""
	}
	for _, k := range known {
		if d := editDistance(key, k); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// editDistance counts the bytes to insert, delete or replace to make b of a (Levenshtein's distance).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
