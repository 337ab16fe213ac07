package config

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// pinTypes are the types of rules that can have keys placed by hand.
var pinTypes = []string{"hash", "mod", "crc32", "murmur3", "slots", "range"}

// Pins are nodes by the keys that are placed there by hand.
type Pins map[string]string

// MarshalText gives the pins as they stand in the file, in the order of the keys.
func (p Pins) MarshalText() ([]byte, error) { return mappingText(p), nil }

// mappingText gives a mapping as it stands in the file, in the order of the keys.
func mappingText(m map[string]string) []byte {
	var b strings.Builder
	for k, key := range sortedKeys(m) {
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s", key, m[key])
	}
	return []byte(b.String())
}

// checkPins checks the keys that are placed by hand. What a fold makes of them is the rule's to check.
func (s *Shard) checkPins(r *report, path string) {
	at := path + ".pin"
	switch {
	case len(s.Pin) == 0 || !slices.Contains(shardTypes, s.Type):
		return
	case !slices.Contains(pinTypes, s.Type):
		r.fault(at, "is for type %s only", strings.Join(pinTypes, ", "))
		return
	case len(s.Key) > 1:
		r.fault(at, "is for a key of one column only")
		return
	}
	nodes := s.nodesWithTables()
	numbers := map[string]string{}
	for _, key := range sortedKeys(s.Pin) {
		at := join(at, key)
		if node := s.Pin[key]; !slices.Contains(nodes, node) {
			r.fault(at, "node %q has none of the sub-tables", node)
		}
		n, whole := new(big.Int).SetString(key, 10)
		whole = whole && key[0] != '+' && n.BitLen() <= 64
		if whole {
			if other, dup := numbers[n.String()]; dup {
				r.fault(at, "is the same number as %s", other)
			}
			numbers[n.String()] = key
		}
		switch end := int64(s.TableRowLimit) * int64(s.subTables()); {
		case !whole && (s.Type == "mod" || s.Type == "range"):
			r.fault(at, "must be a whole number for type %s", s.Type)
		case s.Type == "range" && s.TableRowLimit > 0 && (n.Sign() < 0 || n.Cmp(big.NewInt(end)) >= 0):
			r.fault(at, "must be 0 to %d, the ranges of the table", end-1)
		}
	}
}

// nodesWithTables are the nodes that have sub-tables.
func (s *Shard) nodesWithTables() (nodes []string) {
	for k, node := range s.Nodes {
		if k >= len(s.Locations) || s.Locations[k] > 0 {
			nodes = append(nodes, node)
		}
	}
	for _, t := range s.Tables {
		nodes = append(nodes, t.Node)
	}
	return nodes
}
