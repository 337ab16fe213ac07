package plan

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"kingshard/router"
	"kingshard/router/rule"
)

// fact is one row of the tables of what the predecessor did with a statement.
type fact struct {
	sql string
	// tables are the numbers of the sub-tables, "5 6" or "0..11" ("-" where no row can match); nodes are those of the
	// rule, by index. A statement that is refused has "refused: " and a part of the message; "forwarded" is one that no
	// rule concerns.
	tables, nodes string
	// was is the predecessor's outcome where it was another one, and why says why.
	was, why string
}

// TestPredecessorsFacts plans every statement of the predecessor's tables, without knowing the columns' types, as it did.
func TestPredecessorsFacts(t *testing.T) {
	r := testRouter(t)
	for _, f := range append(upstreamFacts, extendedFacts...) {
		if (f.was == "") != (f.why == "") || f.was == f.tables {
			t.Errorf("%s: another outcome without a reason", f.sql)
		}
		tables, nodes, err := outcome(f.sql, r, untyped)
		if err != nil {
			t.Errorf("%s: %v", f.sql, err)
			continue
		}
		if want, refused := strings.CutPrefix(f.tables, "refused: "); refused && strings.HasPrefix(tables, "refused: ") {
			if !strings.Contains(tables, want) {
				t.Errorf("%s:\n got %s\nwant %s", f.sql, tables, f.tables)
			}
			continue
		}
		if tables != f.tables || nodes != f.nodes {
			t.Errorf("%s:\n got %s on %s\nwant %s on %s", f.sql, tables, nodes, f.tables, f.nodes)
		}
	}
}

// outcome plans and routes a statement as fact writes it, and checks that what is sent agrees with it.
func outcome(sql string, r *router.Router, c Catalog) (tables, nodes string, err error) {
	p, err := build(sql, r, c)
	switch {
	case IsRefusal(err):
		return "refused: " + err.Error(), "", nil
	case err != nil:
		return "refused: " + err.Error(), "", nil
	case p == nil:
		return "forwarded", "0", nil
	}
	if _, transfers := p.Operator.(*Transfer); transfers {
		return p.Operator.Name(), "", nil
	}
	ref := p.first()
	set, err := p.factSet(ref)
	if err != nil {
		return "refused: " + err.Error(), "", nil
	}
	if err := p.sendsTo(ref, set); err != nil {
		return "", "", err
	}
	table := ref.Table
	for k, node := range table.Nodes {
		for _, at := range set {
			if table.Shards[at].Node == node {
				nodes += strconv.Itoa(k) + " "
				break
			}
		}
	}
	return numbers(table, set), strings.TrimSpace(nodes), nil
}

// first is the sharded table that a fact is about.
func (p *Plan) first() *Ref {
	if p.Target != nil {
		return p.Target
	}
	for _, ref := range p.Refs {
		if ref.Table.Kind == router.Sharded {
			return ref
		}
	}
	return p.Refs[0]
}

// factSet gives the positions of a table that a statement without parameters concerns.
func (p *Plan) factSet(ref *Ref) (rule.Set, error) {
	if _, ok := p.Operator.(*Insert); ok {
		positions, err := p.InsertShards(nil)
		return rule.NewSet(positions...), err
	}
	return ref.Shards(nil), nil
}

// sendsTo checks that a route sends something to the physical tables of a set and to no other, unless it refuses to send
// anything. The route of an empty set asks one shard for nothing.
func (p *Plan) sendsTo(ref *Ref, set rule.Set) error {
	route, err := p.Route(nil)
	if err != nil {
		if len(set) == 1 && len(p.Refs) == 1 || !IsRefusal(err) {
			return fmt.Errorf("route: %w", err)
		}
		return nil
	}
	queries := route.Queries
	if route.One != nil {
		queries = []Query{*route.One}
	}
	if route.Finishing != nil {
		for _, s := range route.Finishing.Scratch {
			queries = append(queries, s.Queries...)
		}
	}
	sent := map[int]bool{}
	for _, q := range queries {
		for _, shard := range q.Shards {
			for at, own := range ref.Table.Shards {
				if own == shard {
					sent[at] = true
				}
			}
			if shard.Node != q.Node {
				return fmt.Errorf("%v is asked of %s", shard, q.Node)
			}
			if !strings.Contains(q.Text, "`"+shard.Table+"`") {
				return fmt.Errorf("%v is not in %s", shard, q.Text)
			}
		}
	}
	if len(set) == 0 {
		if len(sent) != 1 {
			return fmt.Errorf("an empty set goes to %d shards", len(sent))
		}
		return nil
	}
	for _, at := range set {
		if !sent[at] {
			return fmt.Errorf("nothing is sent to position %d of %v", at, set)
		}
	}
	if len(sent) != len(set) {
		return fmt.Errorf("%d shards for %v", len(sent), set)
	}
	return nil
}

// numbers writes the numbers of sub-tables as fact does: runs of three and more have their ends only.
func numbers(t *router.Table, set rule.Set) string {
	if len(set) == 0 {
		return "-"
	}
	var parts []string
	for k := 0; k < len(set); {
		end := k
		for end+1 < len(set) && set[end+1] == set[end]+1 {
			end++
		}
		first, last := t.Rule.Number(set[k]), t.Rule.Number(set[end])
		if end-k >= 2 {
			parts = append(parts, fmt.Sprintf("%d..%d", first, last))
			k = end + 1
			continue
		}
		parts = append(parts, strconv.Itoa(first))
		k++
	}
	return strings.Join(parts, " ")
}
