package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router"
)

// The catalog is what the servers say of a schema's tables: the answers to SHOW TABLES and its like, and the tables of
// information_schema. A client sees those of the default node, and beside them each table that has a rule once, under its logical
// name, whichever nodes it is on. They are copied into temporary tables of the default node, which then answers.

// catalogQuery is a statement about the catalog.
type catalogQuery struct {
	text string
	mode sqltext.Mode
	db   string // the one that names without a database are in, or that SHOW is about
	// show is the statement if it is a SHOW; st is it if it is a query, with the tables that are to be copied.
	show   *sqlparse.Show
	st     *sqlparse.Statement
	tables []*sqlparse.Table
}

// catalogOf reads a statement; nil for one that is not about the catalog. The error refuses it.
func (ro *routing) catalogOf(text string, class sqltext.Class, mode sqltext.Mode, db string) (*catalogQuery, error) {
	c := &catalogQuery{text: text, mode: mode, db: db}
	switch class {
	case sqltext.Show:
		sh, ok := sqlparse.ParseShow(text, mode)
		if !ok || sh.OneTable() {
			return nil, nil
		}
		if sh.DB != "" {
			c.db = sh.DB
		}
		if c.db == "" || builtinDB(c.db) {
			return nil, nil // the server's own answer
		}
		c.show = &sh
		return c, nil
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete, sqltext.DDL, sqltext.CreateTemporary:
	default:
		return nil, nil
	}
	within := strings.EqualFold(db, informationSchema)
	if !within && !sqltext.Mentions(text, informationSchema) {
		return nil, nil
	}
	plans := ro.client.schema.Plans
	st, err := sqlparse.Parse(text, mode, func(name string) bool { return informationTables[strings.ToLower(name)] != nil || plans.watched(name) })
	if err != nil {
		return nil, nil // the server's own answer, physical names and all
	}
	ruled, own := "", ""
	for _, t := range st.Tables {
		in := t.DB
		if in == "" {
			if in = db; st.CTENames[strings.ToLower(t.Name)] {
				continue
			}
		}
		switch {
		case strings.EqualFold(in, informationSchema):
			if informationTables[strings.ToLower(t.Name)] != nil && !t.At.Empty() {
				c.tables = append(c.tables, t)
			}
			if !alikeTables[strings.ToLower(t.Name)] {
				own = t.Name
			}
		case plans.router().Table(in, t.Name) != nil:
			ruled = t.Name
		}
	}
	switch {
	case ruled != "" && own != "":
		return nil, newError(KSRefusedSharding, "information_schema."+own+", which is another on each node, and the table "+ruled+", which has a rule, in one statement: use one each")
	case len(c.tables) == 0:
		return nil, nil
	case st.Kind != sqlparse.SelectKind:
		return nil, newError(KSRefusedSharding, "information_schema."+own+", which has other names for tables with a rule on each node, in a statement that changes rows: run the query by itself and send its values")
	}
	c.st = st
	return c, nil
}

// builtinDB tells whether a database is the server's own.
func builtinDB(db string) bool {
	switch strings.ToLower(db) {
	case informationSchema, "performance_schema", "mysql", "sys":
		return true
	}
	return false
}

// catalog answers a statement about the catalog. ex has the values of an execution of a prepared one; nil for a text.
func (qs *queries) catalog(q *query, c *catalogQuery, ex *boundExecution) (failed bool, err error) {
	if !qs.client.mode().MariaDB {
		defer qs.client.txn.NextUsedUp(qs.client.state.Autocommit) // its catalog is in tables of InnoDB
	}
	return qs.shards.onShards(q, true, func() (bool, error) { return qs.catalogOnce(q, c, ex) })
}

// catalogOnce answers a query of the catalog by one try.
func (qs *queries) catalogOnce(q *query, c *catalogQuery, ex *boundExecution) (failed bool, err error) {
	if !qs.client.txn.InTransaction() && qs.client.state.Autocommit {
		next := qs.client.txn.Next
		qs.client.txn.Next = txn.Characteristics{} // the copies are not the client's
		defer func() { qs.client.txn.Next = next }()
	}
	f := finishing{s: qs, q: q, ex: ex, node: qs.client.schema.Default.Name}
	i := copying{s: qs, f: &f, c: c}
	if f.loans, err = qs.shards.borrow(i.nodes(), true); err != nil {
		return true, err
	}
	if qs.client.txn.InTransaction() || !qs.client.state.Autocommit {
		// As in finishRoute: the client's transaction has no part in the temporary tables, and may be one that only reads.
		p, err := qs.leases.freshConn(qs.client.schema.Default, f.loans)
		if err != nil {
			return true, qs.leases.notBorrowed(f.loans, err)
		}
		f.loans, f.aside = append(f.loans, txn.Lease{Pooled: p, Node: scratchLoan}), true
	}
	if !qs.shards.publish(f.loans) {
		qs.leases.giveBack(f.loans)
		return true, interrupted()
	}
	f.last = txn.Find(f.loans, f.node)
	if f.aside {
		f.last = txn.Find(f.loans, scratchLoan)
	}
	f.prepare = i.prepare
	return f.run()
}

// copying makes the copies of one statement about the catalog, and the statement on them.
type copying struct {
	s    *queries
	f    *finishing
	c    *catalogQuery
	made int
}

// nodes lists those that the statement is about: the default one, those of tables that have no part there, and all that have a part of one
// where sizes are asked for.
func (i *copying) nodes() []*backend.Node {
	all := i.sized()
	nodes := []*backend.Node{i.s.client.schema.Default}
	for _, t := range i.s.client.schema.Plans.router().Tables() {
		if t.Keeps != nil || !all && slices.Contains(t.Nodes, i.s.client.schema.Default.Name) || i.c.show != nil && t.DB != i.c.db {
			continue
		}
		for _, name := range t.Nodes {
			if n := i.s.client.schema.Nodes[name]; n != nil && !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
	}
	return nodes
}

// sized tells whether the statement asks how large tables are.
func (i *copying) sized() bool {
	if i.c.show != nil {
		return i.c.show.What == sqlparse.ShowTableStatus
	}
	if !slices.ContainsFunc(i.c.tables, func(t *sqlparse.Table) bool { return strings.EqualFold(t.Name, "tables") }) {
		return false
	}
	names, every := i.c.st.Columns()
	return every || names["auto_increment"] > 0 || slices.ContainsFunc(summed, func(column string) bool { return names[strings.ToLower(column)] > 0 })
}

// prepare makes the copies and the text of the statement on them.
func (i *copying) prepare() error {
	if i.c.show != nil {
		return i.prepareShow()
	}
	if err := i.describe(len(i.c.st.Params)); err != nil {
		return err
	}
	var text strings.Builder
	at := 0
	type place struct {
		at   sqlparse.Span
		text string
	}
	var places []place
	for _, t := range i.c.tables {
		table, err := i.fill(strings.ToLower(t.Name), "")
		if err != nil {
			return err
		}
		name := ""
		if t.Alias == "" {
			var ok bool
			if name, ok = sqltext.QuoteIdent(t.Name, i.c.mode); !ok {
				return unreadableName()
			}
			table += " AS " + name
		}
		places = append(places, place{t.At, table})
		for _, at := range t.Qualifiers {
			if name != "" {
				places = append(places, place{at, name})
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.at.Pos - b.at.Pos })
	for _, p := range places {
		text.WriteString(i.c.text[at:p.at.Pos] + p.text)
		at = p.at.End
	}
	text.WriteString(i.c.text[at:])
	i.f.text = text.String()
	i.f.args = upTo(len(i.c.st.Params))
	return nil
}

// describe finds the columns of the result, which are those of the default node's own answer. Errors are in its words for the client's own
// text.
func (i *copying) describe(params int) (err error) {
	if !i.f.q.info.ReadOnly() {
		i.f.definitions, err = i.f.last.Conn.Describe(i.c.text) // what it does is done once
		return err
	}
	if err := i.s.shards.sendTo(i.f.last, i.c.text, upTo(params), i.f.ex); err != nil {
		return err
	}
	i.f.definitions, err = i.f.last.Conn.ReadDefinitions()
	i.f.last.Ended(err)
	i.f.asDefined = i.f.ex == nil || i.limitZero()
	return err
}

// limitZero reports whether the statement wants no rows, only their columns.
func (i *copying) limitZero() bool {
	if i.c.st == nil || i.c.st.Query == nil || i.c.st.Query.Limit == nil {
		return false
	}
	count := i.c.st.Query.Limit.Count
	return count != nil && count.Op == sqlparse.Const && count.Value.String() == "0"
}

// upTo lists the numbers below n.
func upTo(n int) []int {
	numbers := make([]int, n)
	for k := range numbers {
		numbers[k] = k
	}
	return numbers
}

// prepareShow makes the scratch table of a SHOW: its columns are those of the default node's answer.
func (i *copying) prepareShow() error {
	c := i.c
	params := 0
	if i.f.ex != nil {
		params = i.f.ex.st.params
	}
	err := i.describe(params)
	if err != nil {
		return err
	}
	var table, db, name string
	switch c.show.What {
	case sqlparse.ShowOpenTables:
		db, name = "`Database`", "`Table`"
		table, err = i.fillOpen()
	case sqlparse.ShowTriggers:
		db, name = "EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"
		table, err = i.fill("triggers", c.db)
	default:
		db, name = "TABLE_SCHEMA", "TABLE_NAME"
		table, err = i.fill("tables", c.db)
	}
	if err != nil {
		return err
	}
	var columns, shown []string
	for k, d := range i.f.definitions {
		column := d.Name
		if known, ok := shownAs[c.show.What][d.Name]; ok {
			column = known
		} else if k == 0 && c.show.What == sqlparse.ShowTables {
			column = name
		}
		column, ok := sqltext.QuoteIdent(column, i.c.mode)
		if !ok {
			return unreadableName()
		}
		if d.Type == mysql.TypeLongLong && d.Flags&mysql.UnsignedFlag != 0 {
			column = "CAST(" + column + " AS UNSIGNED)"
		} else if d.Type == mysql.TypeLongLong {
			column = "CAST(" + column + " AS SIGNED)"
		}
		alias, ok := i.alias(k, d.Name)
		if !ok {
			return unreadableName()
		}
		columns, shown = append(columns, column+" AS "+alias), append(shown, alias)
	}
	rows := " FROM " + table + " WHERE " + db + " = " + i.s.client.textIn("character_set_client", c.db)
	if c.show.Like != "" {
		rows += " AND " + i.compared(name) + " LIKE " + c.show.Like
	}
	order := []string{name}
	if c.show.What == sqlparse.ShowTriggers {
		order = append(order, triggerOrder[:]...)
	}
	if !c.show.Where.Empty() {
		// The condition speaks of the columns as they are shown, so it is about a table that has them.
		for k, by := range order {
			order[k] = "ks_o" + strconv.Itoa(k)
			columns = append(columns, by+" AS "+order[k])
		}
		rows = " FROM (SELECT " + strings.Join(columns, ", ") + rows + ") AS ks_shown WHERE " + c.text[c.show.Where.Pos:c.show.Where.End]
		columns = shown
	}
	i.f.text = "SELECT " + strings.Join(columns, ", ") + rows + " ORDER BY " + strings.Join(order, ", ")
	i.f.args = upTo(params)
	return nil
}

// compared is a name as SHOW compares it: MariaDB goes by letters' case where it does with tables, though information_schema does not.
func (i *copying) compared(name string) string {
	if info := i.s.client.schema.Default.Info(); i.c.mode.MariaDB && info != nil && !info.LowerCaseTables {
		return "CONVERT(" + name + " USING utf8mb4) COLLATE utf8mb4_bin"
	}
	return name
}

// triggerOrder lists triggers of a table as servers do.
var triggerOrder = [...]string{"FIELD(ACTION_TIMING, 'BEFORE', 'AFTER')", "FIELD(EVENT_MANIPULATION, 'INSERT', 'UPDATE', 'DELETE')", "ACTION_ORDER"}

// shownAs gives the columns of information_schema that SHOW gives other names.
var shownAs = map[sqlparse.ShowWhat]map[string]string{
	sqlparse.ShowTableStatus: {"Name": "TABLE_NAME", "Rows": "TABLE_ROWS", "Collation": "TABLE_COLLATION", "Comment": "TABLE_COMMENT"},
	sqlparse.ShowTriggers: {"Trigger": "TRIGGER_NAME", "Event": "EVENT_MANIPULATION", "Table": "EVENT_OBJECT_TABLE", "Statement": "ACTION_STATEMENT",
		"Timing": "ACTION_TIMING", "collation_connection": "COLLATION_CONNECTION", "Database Collation": "DATABASE_COLLATION"},
}

// alias names a column of SHOW in the statement on the copy. The client hears the name by the definitions in any case: it may have the
// client's pattern in it, in the character set of results, and is written only where a condition may speak of it.
func (i *copying) alias(k int, name string) (text string, ok bool) {
	if i.c.show.Where.Empty() {
		return "ks_c" + strconv.Itoa(k), true
	}
	return sqltext.QuoteIdent(name, i.c.mode)
}

// unreadableName refuses a statement about the catalog with a name that is not of the client's character set.
func unreadableName() *mysql.SQLError {
	return newError(KSRefusedSharding, "a name in the statement is not of the client's character set: use utf8mb4")
}

// scratch makes room for a copy, a temporary table, and gives its name.
func (i *copying) scratch() (table string, err error) {
	name := fmt.Sprintf("ks_information_%d", i.made)
	i.made++
	home, ok := sqltext.QuoteIdent(i.home(), i.s.client.mode())
	if !ok {
		return "", unreadableName()
	}
	table = home + "." + name
	return table, i.s.client.observed.Run(i.f.last.Pooled, i.s.client.state.DB(), "DROP TEMPORARY TABLE IF EXISTS "+table)
}

// home is a database of the default node.
func (i *copying) home() string {
	if db := i.s.client.state.DB(); db != "" && !builtinDB(db) {
		return db
	}
	tables := i.s.client.schema.Plans.router().Tables()
	for _, t := range tables {
		for _, shard := range t.Shards {
			if shard.Node == i.s.client.schema.Default.Name {
				return shard.DB
			}
		}
	}
	return tables[0].DB
}

// fillOpen makes the copy of what is open on the nodes.
func (i *copying) fillOpen() (table string, err error) {
	if table, err = i.scratch(); err != nil {
		return "", err
	}
	if err := i.s.client.observed.Run(i.f.last.Pooled, i.s.client.state.DB(), "CREATE TEMPORARY TABLE "+table+" (`Database` VARCHAR(64) CHARACTER SET utf8mb4, `Table` VARCHAR(64) CHARACTER SET utf8mb4, "+
		"In_use BIGINT, Name_locked BIGINT, PRIMARY KEY (`Database`, `Table`))"); err != nil {
		return "", err
	}
	i.f.made = append(i.f.made, table)
	names := map[router.Shard]router.Shard{}
	for _, t := range i.s.client.schema.Plans.router().Tables() {
		for _, shard := range t.Shards {
			if names[shard] = (router.Shard{DB: t.DB, Table: t.Name}); t.Keeps != nil {
				names[shard] = router.Shard{} // of no database: no client is to see it
			}
		}
	}
	for k := range i.f.loans {
		l := &i.f.loans[k]
		var rows []string
		err := l.Conn.RawRows("SHOW OPEN TABLES", func(_ []mysql.ColumnDefinition41, cells []value.Cell) {
			at, ruled := names[router.Shard{Node: l.Node, DB: string(cells[0]), Table: string(cells[1])}]
			if !ruled {
				if l.Node != i.f.node {
					return
				}
				at = router.Shard{DB: string(cells[0]), Table: string(cells[1])}
			}
			if at.DB == i.c.db {
				in := func(name string) string {
					if ruled {
						return state.Quote(name)
					}
					return i.s.client.textIn("character_set_results", name)
				}
				rows = append(rows, fmt.Sprintf("(%s, %s, %s, %s)", in(at.DB), in(at.Table), cells[2], cells[3]))
			}
		})
		if err != nil {
			return "", err
		}
		if len(rows) == 0 {
			continue
		}
		if err := i.s.client.observed.Run(i.f.last.Pooled, i.s.client.state.DB(), "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", ")+
			" ON DUPLICATE KEY UPDATE In_use = In_use + VALUES(In_use), Name_locked = Name_locked + VALUES(Name_locked)"); err != nil {
			return "", err
		}
	}
	return table, nil
}

// textIn writes a text in the character set that a variable of the session names as a string that means the same in any.
func (c *client) textIn(variable, text string) string {
	charset := strings.Trim(c.state.Value(variable), "'")
	if state.PlainText(text) || charset == "" || charset == "NULL" || charset == "utf8" || charset == "utf8mb3" {
		return state.Quote(text)
	}
	return textLiteral([]byte(text), charset)
}
