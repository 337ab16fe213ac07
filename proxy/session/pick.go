package session

import (
	"fmt"
	"slices"
	"strings"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/session/state"
	"kingshard/router/plan"
)

// picking is an UPDATE or DELETE by what rows of other shards hold: a query finds its rows, and locks them with what else is collected for it; then they are changed by their keys, in one transaction with that.
type picking struct {
	*restating
	plan *plan.Plan
	o    *plan.Pick
	main result
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
	leaves := left{}
	defer s.ofOneStatement()()
	err = s.compose(func(c *composed) error {
		k = &picking{restating: restate(c, p.Reason, o.Query), plan: p, o: o}
		if p.Statement.Kind == sqlparse.UpdateKind {
			k.main.ok.Info = fmt.Appendf(nil, infoForms[0], 0, 0, 0)
		}
		groups, err := k.find()
		for _, g := range groups {
			if err == nil {
				err = k.change(g)
			}
		}
		leaves = c.left()
		return err
	})
	if err != nil {
		return true, err
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

// asOneServer returns the error that a server has for a statement whose tables it has all, as far as it is read: of columns that are not there, or of the table that is changed in a subquery.
func (s composer) asOneServer(p *plan.Plan) error {
	sample := p.Sample()
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
func (k *picking) find() (groups []*pickedRows, err error) {
	r, err := k.run(k.o.Query + " FOR UPDATE")
	if err != nil {
		return nil, err
	}
	if err := k.warned(&r); err != nil {
		return nil, err
	}
	if err := k.oneInstant(&r); err != nil {
		return nil, err
	}
	names := make([]string, len(k.o.Keys))
	for i, key := range k.o.Keys {
		names[i], _ = sqltext.QuoteIdent(key, k.plan.Mode) // the plan was made with it
	}
	by, seen := map[string]*pickedRows{}, map[string]bool{}
	for _, row := range r.rows {
		var parts, values []string
		for i, name := range names {
			text, err := k.append(nil, &r.columns[i], row[i], k.plan.TargetColumn(k.o.Keys[i]))
			if err != nil {
				return nil, err
			}
			if row[i] == nil {
				parts = append(parts, name+" IS NULL")
			} else {
				parts = append(parts, name+" = "+string(text))
			}
		}
		where := "(" + strings.Join(parts, " AND ") + ")"
		if seen[where] {
			continue // which another row of a join has found, too: the first one gives the values
		}
		seen[where] = true
		at := len(names)
		for _, a := range k.o.Assignments {
			if a.Text != "" {
				continue
			}
			text, err := k.append(nil, &r.columns[at], row[at], k.plan.TargetColumn(a.Column))
			if err != nil {
				return nil, err
			}
			values = append(values, string(text))
			at++
		}
		key := strings.Join(values, ",")
		if by[key] == nil {
			by[key] = &pickedRows{values: values}
			groups = append(groups, by[key])
		}
		by[key].where = append(by[key].where, where)
	}
	return groups, nil
}

// warned returns the error that a server has for a change under a strict sql_mode where the query was warned: MySQL as in refusedChoice, MariaDB of a division by zero in what is assigned.
func (k *picking) warned(r *result) error {
	maria := k.client.mode().MariaDB
	computes := len(r.columns) > len(k.o.Keys)
	if k.client.state.Diagnostics.WarningCount == 0 || !k.client.state.Strict || maria && !computes || k.o.Ignore {
		return nil
	}
	shown, err := k.run("SHOW WARNINGS")
	for _, row := range shown.rows {
		w := warningOf(row)
		if refused := strictError(w); refused != nil && (!maria || w.Code == erDivisionByZero) {
			return refused
		}
	}
	return err
}

// erDivisionByZero is a division by zero. MySQL manual: "Server Error Message Reference".
const erDivisionByZero = 1365

// change changes rows that get the same values.
func (k *picking) change(g *pickedRows) error {
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
		for _, a := range k.o.Assignments {
			text := a.Text
			if text == "" {
				text, values = values[0], values[1:]
			}
			column, _ := sqltext.QuoteIdent(a.Column, k.plan.Mode)
			list = append(list, column+" = "+text)
		}
		head += k.o.Table + " SET " + strings.Join(list, ", ")
	} else {
		head += "FROM " + k.o.Table
	}
	for part := range slices.Chunk(g.where, chosenBatch) {
		r, err := k.run(head + " WHERE " + strings.Join(part, " OR ") + " " + k.o.OrderBy)
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
