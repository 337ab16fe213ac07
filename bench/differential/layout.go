package differential

import (
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// Layout is where the subject's tables lie: Locations[k] sub-tables of each hashed or ranged table on Nodes[k], two nodes
// in all. Without Locations the one node has all tables under their own names.
//
// It is worked out here from the documentation, not by the router: a placement that both have is right.
type Layout struct {
	Nodes     []string // addresses, host:port; their names in Rules are n1, n2 and so on
	Locations []int
}

// place is a physical table.
type place struct {
	node int
	name string
}

// rangeKeys is how many keys, from 0, the sub-tables of a ranged table hold together.
const rangeKeys = 240

// months are those of the monthly table's rows; every layout spreads the same ones.
var months = []int{202401, 202402, 202403, 202404}

func (l Layout) plain() bool { return len(l.Locations) == 0 }

func (l Layout) shards() int {
	n := 0
	for _, k := range l.Locations {
		n += k
	}
	return n
}

// rangeLimit is the number of keys in one sub-table of a ranged table.
func (l Layout) rangeLimit() int { return (rangeKeys + l.shards() - 1) / l.shards() }

// monthsFirst is how many of the months are on the first node; the rest are on the second.
func (l Layout) monthsFirst() int { return 1 + l.shards()%len(months[1:]) }

// places are the physical tables of t: in the order of their indexes, or one on each node for a reference table.
func (l Layout) places(t *table) []place {
	if l.plain() {
		return []place{{0, t.name}}
	}
	var list []place
	switch t.kind {
	case reference:
		for k := range l.Nodes {
			list = append(list, place{k, t.name})
		}
	case single:
		list = []place{{len(l.Nodes) - 1, t.name}}
	case unplaced:
		list = []place{{0, t.name}}
	case monthly:
		for k, month := range months {
			node := 0
			if k >= l.monthsFirst() {
				node = 1
			}
			list = append(list, place{node, fmt.Sprintf("%s_%d", t.name, month)})
		}
	default:
		for node, n := range l.Locations {
			for range n {
				list = append(list, place{node, fmt.Sprintf("%s_%04d", t.name, len(list))})
			}
		}
	}
	return list
}

// index is the index in places of the table that holds the rows with this key, as text; -1 is every table.
func (l Layout) index(t *table, key string) (int, error) {
	if l.plain() || t.kind == single || t.kind == unplaced {
		return 0, nil
	}
	switch t.kind {
	case reference:
		return -1, nil
	case monthly:
		var year, month int
		if _, err := fmt.Sscanf(key, "%d-%d", &year, &month); err != nil {
			return 0, fmt.Errorf("date %q: %w", key, err)
		}
		for k, m := range months {
			if m == year*100+month {
				return k, nil
			}
		}
		return 0, fmt.Errorf("no sub-table for %q", key)
	case exactText:
		return l.checksumOf(key), nil
	case foldedText:
		return l.checksumOf(strings.ToLower(strings.TrimRight(key, " "))), nil
	}
	var id int64
	if _, err := fmt.Sscan(key, &id); err != nil {
		return 0, fmt.Errorf("key %q: %w", key, err)
	}
	if t.kind == hashed {
		return int(uint64(id) % uint64(l.shards())), nil
	}
	if k := int(id) / l.rangeLimit(); id >= 0 && k < l.shards() {
		return k, nil
	}
	return 0, fmt.Errorf("no sub-table for %d", id)
}

// checksumOf is the index of a text's sub-table by crc32, to which digits are the number that they spell.
func (l Layout) checksumOf(key string) int {
	if n, err := strconv.ParseInt(key, 10, 64); err == nil {
		key = strconv.FormatInt(n, 10)
	}
	return int(crc32.ChecksumIEEE([]byte(key)) % uint32(l.shards()))
}

// rules are the entries of shard in ks.yaml for the database, each line indented by two spaces.
func (l Layout) rules(db string) string {
	if l.plain() {
		return ""
	}
	var names, locations []string
	for k, n := range l.Locations {
		names = append(names, fmt.Sprintf("n%d", k+1))
		locations = append(locations, fmt.Sprint(n))
	}
	nodes := "nodes: [" + strings.Join(names, ", ") + "]"
	spread := fmt.Sprintf("%s, locations: [%s]", nodes, strings.Join(locations, ", "))
	first := l.monthsFirst()
	var b strings.Builder
	for _, t := range tables {
		if t.kind == unplaced {
			continue
		}
		rule := map[tableKind]string{
			hashed:    "type: hash, " + spread,
			ranged:    fmt.Sprintf("type: range, table_row_limit: %d, %s", l.rangeLimit(), spread),
			monthly:   fmt.Sprintf("type: date_month, %s, date_range: [%d-%d, %d-%d]", nodes, months[0], months[first-1], months[first], months[len(months)-1]),
			reference: "type: reference, " + nodes,
			single:    "type: single, nodes: [" + names[len(names)-1] + "]",

			exactText: "type: crc32, " + spread, foldedText: "type: crc32, strings: ascii_ci, " + spread,
		}[t.kind]
		key := ""
		if t.kind != reference && t.kind != single {
			key = "key: " + t.shardKey + ", "
		}
		fmt.Fprintf(&b, "  - {db: %s, table: %s, %s%s%s}\n", db, t.name, key, rule, t.keyRules())
	}
	return b.String()
}
