package router

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// nameMax is the length of a database's or table's name. MySQL manual: "Identifier Length Limits".
const nameMax = 64

// claims are the physical tables of a schema that rules have.
type claims struct {
	opts Options
	by   map[Shard]claim // with the server in the place of the node
}

// claim is a shard with its table.
type claim struct {
	shard Shard
	table *Table
}

// add notes the shards of a table. Each is a table of its own, under a name that servers take.
func (c claims) add(t *Table) error {
	for _, shard := range t.Shards {
		for _, name := range []string{shard.DB, shard.Table} {
			if err := checkName(name); err != nil {
				return fmt.Errorf("%v: %w", shard, err)
			}
		}
		place := c.place(shard)
		other, taken := c.by[place]
		if !taken {
			c.by[place] = claim{shard, t}
			continue
		}
		switch {
		case other.shard == shard && other.table == t:
			return fmt.Errorf("%v is two of its shards", shard)
		case other.shard == shard:
			return fmt.Errorf("%v is already a shard of table %s.%s", shard, other.table.DB, other.table.Name)
		case other.shard.Node != shard.Node:
			return fmt.Errorf("%v is the same table as %v, a shard of table %s.%s: both nodes are one server", shard, other.shard, other.table.DB, other.table.Name)
		}
		return fmt.Errorf("%v is the same table as %v, a shard of table %s.%s, where case does not count", shard, other.shard, other.table.DB, other.table.Name)
	}
	return nil
}

// place is what two shards have in common that are one table.
func (c claims) place(s Shard) Shard {
	if server, known := c.opts.Servers[s.Node]; known {
		s.Node = server
	} else {
		s.Node = "node " + s.Node
	}
	if c.opts.LowerCase {
		s.DB, s.Table = strings.ToLower(s.DB), strings.ToLower(s.Table)
	}
	return s
}

// checkName tells why servers take no name. MySQL manual: "Schema Object Names".
func checkName(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return fmt.Errorf("a name must not be empty")
	case n > nameMax:
		return fmt.Errorf("the name %q has %d characters: servers take %d", name, n, nameMax)
	case strings.HasSuffix(name, " ") || strings.ContainsRune(name, 0) || !utf8.ValidString(name):
		return fmt.Errorf("servers take no name like %q", name)
	}
	return nil
}
