package session

import (
	"fmt"
	"slices"
	"strings"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/session/state"
	"kingshard/router/plan"
)

// picking is an UPDATE or DELETE by what rows of other shards hold: a query finds its rows, and locks them with what else is collected for it; then they are changed by their keys, in one transaction with that.
type picking struct {
	*restating
	plan   *plan.Plan
	o      *plan.Pick
	tables []pickedTable // of the targets
	main   result
}

// pickedTable has the rows of a table that a change changes.
type pickedTable struct {
	*plan.PickTarget
	groups []*pickedRows
	// values are those of each row, by its condition: the same for all rows of a join that have it.
	values map[string]string
}

// pickedRows are rows that get the same values.
type pickedRows struct {
	values []string // as literals, of the assignments that the query computes
	where  []string // a condition for each row
}

// pick runs such a change, and gives the client a warning, if there is one.
func (s composer) pick(p *plan.Plan, o *plan.Pick, warned *state.Warning) (failed bool, err error) {
	switch v := strings.ToLower(s.client.state.Value("sql_safe_updates")); v {
	case "", "0", "off", "default", "false":
	default:
		return true, newError(KSRefusedSharding, "sql_safe_updates is on, and the rows are changed by their keys: "+p.Reason)
	}
	if err := s.asOneServer(p); err != nil {
		return true, err
	}
	var k *picking
	leaves, none := left{}, false
	defer s.ofOneStatement()()
	err = s.compose(func(c *composed) error {
		k = &picking{restating: restate(c, p.Reason, o.Query), plan: p, o: o}
		if p.Statement.Kind == sqlparse.UpdateKind {
			k.main.ok.Info = fmt.Appendf(nil, infoForms[0], 0, 0, 0)
		}
		err := k.find()
		none = err == nil && k.foundNone()
		for i := range k.tables {
			for _, g := range k.tables[i].groups {
				if err == nil {
					err = k.change(&k.tables[i], g)
				}
			}
		}
		leaves = c.left()
		if err == nil {
			err = s.leases.stillHeard(p.Watches())
		}
		return err
	})
	if err != nil {
		return true, err
	}
	if none && s.seenImpossible(p, o) {
		k.main.ok.Info = nil
	}
	if warned != nil {
		k.main.warnings = append(k.main.warnings, *warned)
	}
	k.main.ok.Info = infoWarnings(k.main.ok.Info, uint16(min(len(k.main.warnings), 65535)))
	k.answer(&k.main, leaves)
	if p.Statement.Kind == sqlparse.UpdateKind && !s.client.mode().MariaDB {
		s.client.state.Found.FoundBy(k.main.ok.Info)
	}
	return false, nil
}

// foundNone reports whether there is no row to change.
func (k *picking) foundNone() bool {
	return !slices.ContainsFunc(k.tables, func(t pickedTable) bool { return len(t.groups) > 0 })
}

// seenImpossible reports whether MariaDB says nothing of an UPDATE that finds no row, instead of how many matched: of LIMIT 0, and where it sees that no row can meet the condition. Where that names other tables it is not asked: it has not
// all of their rows.
func (s composer) seenImpossible(p *plan.Plan, o *plan.Pick) (impossible bool) {
	if p.Statement.Kind != sqlparse.UpdateKind || !s.client.mode().MariaDB || o.None || len(p.Refs) > 1 {
		return o.None && s.client.mode().MariaDB
	}
	sample, lacks := p.Sample()
	if len(lacks) > 0 {
		return false
	}
	conn, err := s.leases.freshConn(s.client.schema.Nodes[sample.Node], nil)
	if err != nil {
		return false // the change is done, and this is but its text
	}
	if conn.Conn.Rows("EXPLAIN "+sample.Text, 10, func(row []string) { impossible = strings.HasPrefix(row[9], "Impossible WHERE") }) != nil {
		conn.Taint()
		return false
	}
	conn.Put()
	return impossible
}

// asOneServer returns the error that a server has for a statement whose tables it has all, as far as it is read: of columns that are not there, or of the table that is changed in a subquery.
func (s composer) asOneServer(p *plan.Plan) error {
	sample, _ := p.Sample()
	refused, err := refusedBy(&s.leases, s.client.schema.Nodes[sample.Node], sample.Text)
	if err != nil {
		return backendError(err)
	}
	if refused != nil && refused.Code != erNoSuchTable && refused.Code != mysql.ERBadDB {
		return named(refused, renames(p, sample.Shards))
	}
	return nil
}

// ofOneStatement has a transaction of the statement's own over several nodes be kept as far as one statement is, where the client's transactions are of one node; until the function that
// it returns is called.
func (s composer) ofOneStatement() (back func()) {
	had := s.client.transactionMode
	if s.client.state.Autocommit && !s.client.txn.InTransaction() && s.leases.branches().inForce() == config.TransactionSingle {
		s.client.transactionMode = choice(slices.Index(config.TransactionModes, config.TransactionBestEffort) + 1)
	}
	return func() { s.client.transactionMode = had }
}

// find finds the rows, those with the same values together, each once.
func (k *picking) find() error {
	r, err := k.run(k.o.Query + " FOR UPDATE")
	if err != nil {
		return err
	}
	if err := k.warned(); err != nil {
		return err
	}
	if err := k.oneInstant(&r); err != nil {
		return err
	}
	at := 0
	for i := range k.o.Targets {
		t := pickedTable{PickTarget: &k.o.Targets[i], values: map[string]string{}}
		by := map[string]*pickedRows{}
		width := len(t.Keys)
		for _, a := range t.Assignments {
			if a.Text == "" {
				width++
			}
		}
		for _, row := range r.rows {
			if row[at] == nil {
				continue // an outer join has no row of the table
			}
			if err := k.add(&t, by, r.columns[at:at+width], row[at:at+width]); err != nil {
				return err
			}
		}
		k.tables = append(k.tables, t)
		at += width
	}
	return nil
}

// add adds a row of a table, which another row of a join may have found, too.
func (k *picking) add(t *pickedTable, by map[string]*pickedRows, columns []mysql.ColumnDefinition41, row []value.Cell) error {
	parts := make([]string, len(t.Keys))
	for i, key := range t.Keys {
		text, err := k.append(nil, &columns[i], row[i], t.Definition(key))
		if err != nil {
			return err
		}
		name, _ := sqltext.QuoteIdent(key, k.plan.Mode) // the plan was made with it
		if parts[i] = name + " = " + string(text); row[i] == nil {
			parts[i] = name + " IS NULL"
		}
	}
	where := "(" + strings.Join(parts, " AND ") + ")"
	var values []string
	at := len(t.Keys)
	for _, a := range t.Assignments {
		if a.Text != "" {
			continue
		}
		text, err := k.append(nil, &columns[at], row[at], t.Definition(a.Column))
		if err != nil {
			return err
		}
		values = append(values, string(text))
		at++
	}
	key := strings.Join(values, ",")
	if had, seen := t.values[where]; seen {
		if had != key {
			return k.refused("a row of " + t.Parsed.Name + " that several rows match, which give it different values: which is the first a server decides")
		}
		return nil
	}
	t.values[where] = key
	if by[key] == nil {
		by[key] = &pickedRows{values: values}
		t.groups = append(t.groups, by[key])
	}
	by[key].where = append(by[key].where, where)
	return nil
}

// warned returns the error that a server has for a change under a strict sql_mode where the query was warned: MySQL as in refusedChoice, MariaDB of an UPDATE alone.
func (k *picking) warned() error {
	if k.client.state.Diagnostics.WarningCount == 0 || !k.client.state.Strict || k.o.Ignore || k.client.mode().MariaDB && k.plan.Statement.Kind != sqlparse.UpdateKind {
		return nil
	}
	shown, err := k.run("SHOW WARNINGS")
	for _, row := range shown.rows {
		if refused := strictError(warningOf(row)); refused != nil {
			return refused
		}
	}
	return err
}

// change changes rows of a table that get the same values.
func (k *picking) change(t *pickedTable, g *pickedRows) error {
	head := "DELETE "
	if k.plan.Statement.Kind == sqlparse.UpdateKind {
		head = "UPDATE "
	}
	if k.o.Ignore {
		head += "IGNORE "
	}
	if k.plan.Statement.Kind == sqlparse.UpdateKind {
		values := g.values
		var list []string
		for _, a := range t.Assignments {
			text := a.Text
			if text == "" {
				text, values = values[0], values[1:]
			}
			column, _ := sqltext.QuoteIdent(a.Column, k.plan.Mode)
			list = append(list, column+" = "+text)
		}
		head += t.Name + " SET " + strings.Join(list, ", ")
	} else {
		head += "FROM " + t.Name
	}
	for part := range slices.Chunk(g.where, chosenBatch) {
		run := k.run
		if t.Follows() {
			run = k.runKeeping
		}
		r, err := run(head + " WHERE " + strings.Join(part, " OR ") + " " + t.OrderBy)
		if err != nil {
			return err
		}
		main := &k.main.ok
		main.AffectedRows += r.ok.AffectedRows
		main.Info = []byte(addInfo(string(main.Info), string(r.ok.Info)))
		k.main.warnings = append(k.main.warnings, r.warnings...)
	}
	return nil
}
