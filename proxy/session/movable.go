package session

import (
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
	"kingshard/router"
)

// movedColumn is a column of rows that move: its name, and the expression that gives its value exactly.
type movedColumn struct{ name, value string }

// movable refuses rows that cannot go from shard to shard as if they only changed: whose DELETE and INSERT something else would see. It returns
// the columns to write, which are all but those that the server computes. Servers are asked only where rows are to move.
func (m *moving) movable() (columns []movedColumn, err error) {
	shards := map[string][]router.Shard{} // by node
	add := func(s router.Shard) {
		if !contains(shards[s.Node], s) {
			shards[s.Node] = append(shards[s.Node], s)
		}
	}
	for _, s := range m.strays {
		add(m.plan.Target.Table.Shards[s.from])
		add(m.plan.Target.Table.Shards[s.to])
	}
	for k := range m.c.loans {
		l := &m.c.loans[k]
		if len(shards[l.Node]) == 0 {
			continue
		}
		if err := m.onOwn(l, func(c *backend.Conn) error {
			if err := m.unseen(c, l.Node, shards[l.Node]); err != nil || columns != nil {
				return err
			}
			columns, err = m.columnsOf(c, shards[l.Node][0])
			return err
		}); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// onOwn asks a node about its tables: by the account that sees triggers, where there is another one for what the proxy does of its own.
func (m *moving) onOwn(l *txn.Lease, ask func(c *backend.Conn) error) error {
	if !l.Instance.HasOwnAccount() {
		return ask(l.Conn)
	}
	c, err := l.Instance.OwnUntil(time.Now().Add(catalogTimeout))
	if err != nil {
		return backendError(err)
	}
	defer c.Close()
	if err := c.Net.SetDeadline(time.Now().Add(catalogTimeout)); err != nil {
		return backendError(err)
	}
	if err := ask(c); err != nil && !isSQLError(err) {
		return backendError(err)
	} else if err != nil {
		return err
	}
	return nil
}

// unseen refuses to move rows where a trigger would see them deleted and inserted, or a foreign key would not find them, or they the rows that
// they refer to.
func (m *moving) unseen(c *backend.Conn, node string, shards []router.Shard) error {
	var any []string
	of := func(schema, table string) string {
		any = any[:0]
		for _, s := range shards {
			any = append(any, "("+schema+" = "+hexText(s.DB)+" AND "+table+" = "+hexText(s.Table)+")")
		}
		return "(" + strings.Join(any, " OR ") + ")"
	}
	name := m.plan.Target.Parsed.Name
	refused := ""
	err := c.Rows("SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_MANIPULATION IN ('INSERT', 'DELETE') AND "+
		of("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE")+noLimit, 1, func(row []string) {
		refused = "the trigger " + row[0] + " would see them deleted and inserted"
	})
	if err != nil {
		return err
	}
	routes := m.changes.client.schema.Plans.router()
	err = c.Rows("SELECT TABLE_SCHEMA, TABLE_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL AND ("+
		of("TABLE_SCHEMA", "TABLE_NAME")+" OR "+of("REFERENCED_TABLE_SCHEMA", "REFERENCED_TABLE_NAME")+")"+noLimit, 4, func(row []string) {
		own := false
		for _, s := range shards {
			own = own || strings.EqualFold(s.DB, row[0]) && strings.EqualFold(s.Table, row[1])
			if strings.EqualFold(s.DB, row[2]) && strings.EqualFold(s.Table, row[3]) {
				refused = "a foreign key of " + m.logical(routes, node, row[0], row[1]) + " refers to it"
				return
			}
		}
		if t := routes.Table(row[2], row[3]); own && (t == nil || t.Kind != router.Reference) {
			refused = "it has a foreign key to " + m.logical(routes, node, row[2], row[3]) + ", whose rows do not move along"
		}
	})
	if err == nil && refused != "" {
		err = newError(KSRefusedSharding, "the statement gives rows of "+name+" a sharding key of other shards, and they cannot move there: "+refused)
	}
	return err
}

// logical is the name that clients know for a physical table.
func (m *moving) logical(routes *router.Router, node, db, table string) string {
	if _, t, ok := routes.Named(node, db, table); ok {
		return t.Name
	}
	return table
}

// columnsOf gives the columns of rows that are moved, invisible ones too.
func (m *moving) columnsOf(c *backend.Conn, s router.Shard) (columns []movedColumn, err error) {
	unnamed := false
	err = c.Rows("SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+hexText(s.DB)+" AND TABLE_NAME = "+hexText(s.Table)+
		" AND COALESCE(GENERATION_EXPRESSION, '') = '' ORDER BY ORDINAL_POSITION"+noLimit, 2, func(row []string) {
		name, ok := sqltext.QuoteIdent(row[0], m.plan.Mode)
		if !ok || !sqltext.IsASCII(row[0]) && m.plan.Mode.Charset != sqltext.ASCIISafe {
			unnamed = true
		}
		column := movedColumn{name, name}
		if strings.EqualFold(row[1], "float") {
			column.value = "(" + name + ")+0e0" // text shows six digits only
		}
		columns = append(columns, column)
	})
	if err == nil && unnamed {
		err = newError(KSRefusedSharding, "rows of "+m.plan.Target.Parsed.Name+" are to move, and names of columns cannot be written in the client's character set: use utf8mb4")
	}
	return columns, err
}
