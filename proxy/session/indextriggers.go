package session

import (
	"errors"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/plan"
)

// tableOnNode names the sub-tables of a table on a node.
type tableOnNode struct {
	table *router.Table
	node  string
}

// setsKeys is the trigger of a table that gives columns of its indexes other values, "" where there is none, as it was at a time.
type setsKeys struct {
	trigger string
	at      time.Time
}

// unfollowed refuses to insert or update rows of tables with indexes whose BEFORE triggers give a column of those, or of the sharding key, another value:
// entries are made of what the statement says. A node that cannot be asked changes no rows either.
func (p *Plans) unfollowed(made *plan.Plan) error {
	switch made.Statement.Kind {
	case sqlparse.InsertKind, sqlparse.UpdateKind, sqlparse.LoadData:
	default:
		return nil
	}
	refs := made.Changed()
	if refs == nil {
		refs = made.Refs
	}
	for _, r := range refs {
		if r.Table == nil || len(r.Table.Indexes) == 0 {
			continue
		}
		for _, node := range r.Table.Nodes {
			if trigger := p.settingTrigger(tableOnNode{r.Table, node}); trigger != "" {
				return plan.Refuse("the trigger %s of the table %s gives a column of its keys over shards another value than the statement: have the application give it", trigger, r.Parsed.Name)
			}
		}
	}
	return nil
}

// settingTrigger asks for a trigger that sets columns of indexes, once a minute.
func (p *Plans) settingTrigger(of tableOnNode) string {
	known, asked := p.triggers.Load(of)
	if asked && time.Since(known.(setsKeys).at) < catalogAge {
		return known.(setsKeys).trigger
	}
	found := setsKeys{at: time.Now()}
	err := p.onOwn(of.node, func(c *backend.Conn) error {
		var shards []string
		for _, s := range of.table.Shards {
			if s.Node == of.node {
				shards = append(shards, "(EVENT_OBJECT_SCHEMA = "+hexText(s.DB)+" AND EVENT_OBJECT_TABLE = "+hexText(s.Table)+")")
			}
		}
		return c.Rows("SELECT TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE ACTION_TIMING = 'BEFORE' AND EVENT_MANIPULATION <> 'DELETE' AND ("+
			strings.Join(shards, " OR ")+")"+noLimit, 2, func(row []string) {
			if found.trigger == "" && setsAny(row[1], slices.Concat(append(columnsOfIndexes(of.table.Indexes), of.table.Keys)...)) {
				found.trigger = row[0]
			}
		})
	})
	if err != nil {
		return ""
	}
	if found.trigger != "" && (!asked || known.(setsKeys).trigger == "") {
		p.forget() // plans of statements that go to the shards as they are
	}
	p.triggers.Store(of, found)
	return found.trigger
}

// errNotAsked is of a node that is down or not in the configuration.
var errNotAsked = errors.New("the node is not asked")

// onOwn asks a node's primary, if that may answer, by the account that sees triggers.
func (p *Plans) onOwn(node string, ask func(c *backend.Conn) error) error {
	n := p.nodes[node]
	if n == nil || n.Primary.State() == backend.Down {
		return errNotAsked
	}
	deadline := time.Now().Add(catalogTimeout)
	if n.Primary.HasOwnAccount() {
		c, err := n.Primary.OwnUntil(deadline)
		if err != nil {
			return err
		}
		defer c.Close()
		if err := c.Net.SetDeadline(deadline); err != nil {
			return err
		}
		return ask(c)
	}
	conn, err := n.Primary.Get(backend.Intern("", 0, nil), deadline, nil)
	if err != nil {
		return err
	}
	if err = ask(conn.Conn); err == nil || isSQLError(err) {
		conn.Put()
	} else {
		conn.Taint()
	}
	return err
}

// setsAny reports whether the text of a trigger may give one of the columns of NEW a value: by SET, :=, or as an argument of CALL.
func setsAny(text string, columns []string) bool {
	var words []string
	l := sqltext.NewLexer(text, sqltext.Mode{})
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		words = append(words, strings.ToLower(strings.Trim(text[t.Pos:t.End], "`\"")))
	}
	at := func(k int) string {
		if k < 0 || k >= len(words) {
			return ""
		}
		return words[k]
	}
	calls := slices.Contains(words, "call")
	for k, word := range words {
		if word != "new" || at(k+1) != "." || !slices.ContainsFunc(columns, func(c string) bool { return router.SameColumn(c, at(k+2)) }) {
			continue
		}
		if calls || l.Doubt() || at(k-1) == "set" || at(k+3) == ":=" || at(k-1) == "," && at(k+3) == "=" {
			return true
		}
	}
	return false
}
