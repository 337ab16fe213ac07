package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
	"kingshard/router/plan"
)

// changing is an UPDATE or DELETE whose rows indexes follow.
type changing struct {
	*keeping
	clauses sqlparse.ChangeClauses
	// beside says that rows elsewhere decide which rows change: the change sees those of another moment than a SELECT in the same transaction.
	beside bool
	// columns are those that are read of the rows ahead of the change: of indexes and the sharding key, and the primary key's where the
	// statement has a LIMIT or a subquery.
	columns []string
	primary []string
	rows    [][]string // the values of columns in the rows that change, as literals
}

// changing finds out what is read of the rows. identified says that each is to be found again.
func (k *keeping) changing(identified bool) (*changing, error) {
	ch := &changing{keeping: k}
	var ok bool
	text := k.text
	if k.plan.Statement.Change.Multi && k.plan.Statement.Kind == sqlparse.DeleteKind {
		text = sqlparse.SingleDelete(text, k.client.mode())
	}
	if ch.clauses, ok = sqlparse.FindChangeClauses(text, k.client.mode()); !ok {
		return nil, k.refused("this form of UPDATE or DELETE of")
	}
	if ch.clauses.Ignore && k.plan.Statement.Kind == sqlparse.UpdateKind {
		return nil, k.refused("UPDATE IGNORE of")
	}
	add := func(names []string) {
		for _, name := range names {
			if !slices.ContainsFunc(ch.columns, func(c string) bool { return router.SameColumn(c, name) }) {
				ch.columns = append(ch.columns, name)
			}
		}
	}
	add(k.table().Keys)
	for _, x := range k.indexes {
		add(x.Columns)
	}
	ch.beside = k.plan.Statement.Change.Where != nil && k.plan.Statement.Change.Where.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify)
	if identified || ch.beside || !ch.clauses.Limit.Empty() {
		if ch.primary = k.plan.Target.PrimaryKey(); ch.primary == nil {
			return nil, k.refused("LIMIT, a subquery, or a value that is computed, in a change, without a primary key that literals stand for, of")
		}
		add(ch.primary)
	}
	return ch, nil
}

// read reads and locks the rows that are to change.
func (ch *changing) read() error {
	c := &ch.clauses
	text := "SELECT " + ch.names(ch.columns) + " FROM " + ch.text[c.Table.Pos:c.Table.End]
	for _, span := range []sqlparse.Span{c.Where, c.OrderBy, c.Limit} {
		if !span.Empty() {
			text += " " + ch.text[span.Pos:span.End]
		}
	}
	r, err := ch.run(text + " FOR UPDATE")
	if err != nil {
		return err
	}
	ch.rows, err = ch.literals(&r)
	return err
}

// literals writes the rows of a result.
func (k *keeping) literals(r *result) (rows [][]string, err error) {
	for _, row := range r.rows {
		values := make([]string, len(row))
		for i, cell := range row {
			if values[i], err = k.literal(&r.columns[i], cell); err != nil {
				return nil, err
			}
		}
		rows = append(rows, values)
	}
	return rows, nil
}

// compute has a server compute expressions of a row that was read.
func (ch *changing) compute(row, exprs []string) ([]string, error) {
	c := &ch.clauses
	found := slices.Concat(ch.table().Keys, ch.primary)
	r, err := ch.run("SELECT " + strings.Join(exprs, ", ") + " FROM " + ch.text[c.Table.Pos:c.Table.End] + " WHERE " + ch.where(found, ch.of(row, found)) + " FOR UPDATE")
	if err != nil {
		return nil, err
	}
	rows, err := ch.literals(&r)
	if err == nil && len(rows) != 1 {
		err = ch.refused("a row that is not found by its primary key, of")
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// carryOut runs the change itself: of no other rows than those that were read where it has a LIMIT, or where rows elsewhere decide.
func (ch *changing) carryOut() error {
	c := &ch.clauses
	limited := !c.Limit.Empty()
	text := ch.text
	if len(ch.rows) > 0 && (limited || ch.beside) {
		begin, end := len(text), 0
		for _, span := range []sqlparse.Span{c.Where, c.OrderBy, c.Limit} {
			if !span.Empty() {
				begin, end = min(begin, span.Pos), max(end, span.End)
			}
		}
		rows := make([]string, len(ch.rows))
		for i := range ch.rows {
			rows[i] = "(" + strings.Join(ch.of(ch.rows[i], ch.primary), ", ") + ")"
		}
		where := " WHERE (" + ch.names(ch.primary) + ") IN (" + strings.Join(rows, ", ") + ")"
		if ch.beside {
			where += " AND (" + text[c.Where.Pos+len("WHERE"):c.Where.End] + ")"
		}
		text = text[:begin] + where + " " + text[c.OrderBy.Pos:c.OrderBy.End] + text[end:]
	}
	if err := ch.carryOutMain(text); err != nil {
		return err
	}
	if (!limited || ch.beside || len(ch.rows) == 0) && ch.found() != uint64(len(ch.rows)) {
		return ch.between() // rows came that nobody has locked, as below REPEATABLE READ, or went by rows elsewhere
	}
	return nil
}

// found is how many rows the change found.
func (ch *changing) found() (rows uint64) {
	if ch.plan.Statement.Kind == sqlparse.DeleteKind {
		return ch.main.ok.AffectedRows + uint64(len(ch.main.rows)) // of RETURNING
	}
	_, _ = fmt.Sscanf(string(ch.main.ok.Info), "Rows matched: %d", &rows)
	return rows
}

// of takes the values of columns from a row.
func (ch *changing) of(row, columns []string) (values []string) {
	for _, name := range columns {
		at := slices.IndexFunc(ch.columns, func(c string) bool { return router.SameColumn(c, name) })
		values = append(values, row[at])
	}
	return values
}

func (ch *changing) entry(x *router.Index, row []string) entry {
	return entry{ch.of(row, x.Columns), ch.of(row, x.Table.Keys)}
}

// delete runs a DELETE.
func (k *keeping) delete() error {
	ch, err := k.changing(false)
	if err != nil {
		return err
	}
	if err := ch.read(); err != nil {
		return err
	}
	if err := ch.carryOut(); err != nil {
		return err
	}
	for _, x := range k.indexes {
		var entries []entry
		for _, row := range ch.rows {
			entries = append(entries, ch.entry(x, row))
		}
		if err := k.remove(x, entries); err != nil {
			return err
		}
	}
	return nil
}

// update runs an UPDATE.
func (k *keeping) update() error {
	if err := k.computeSet(); err != nil {
		return err
	}
	set, err := k.assigned()
	if err != nil {
		return err
	}
	ch, err := k.changing(slices.ContainsFunc(set, func(a assigned) bool { return !a.literal || a.unknown != "" }))
	if err != nil {
		return err
	}
	again, err := ch.readsAgain(set)
	if err != nil {
		return err
	}
	if err := ch.read(); err != nil {
		return err
	}
	after := make([][]string, len(ch.rows))
	for i, row := range ch.rows {
		if again {
			break
		}
		if after[i], err = ch.assign(row, set); err != nil {
			return err
		}
	}
	if err := ch.carryOut(); err != nil {
		return err
	}
	if again {
		if after, err = ch.readAgain(); err != nil {
			return err
		}
	}
	for i, row := range ch.rows {
		for _, x := range k.indexes {
			if err := ch.replaceEntry(x, ch.entry(x, row), ch.entry(x, after[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// assign returns what the values of a row are behind the statement.
func (ch *changing) assign(row []string, set []assigned) ([]string, error) {
	after := slices.Clone(row)
	for _, a := range set {
		value := []string{a.expr}
		if !a.literal {
			var err error
			if value, err = ch.compute(row, value); err != nil {
				return nil, err
			}
		}
		if value[0] == nullLiteral {
			value[0] = ch.plan.Target.ImplicitDefault(a.column)
		}
		if c := slices.IndexFunc(ch.columns, func(c string) bool { return router.SameColumn(c, a.column) }); c >= 0 {
			after[c] = value[0]
		}
	}
	return after, nil
}

// readsAgain reports whether the rows are read behind the change, as some of their values are known by then only. Rows are found again by keys that stay.
func (ch *changing) readsAgain(set []assigned) (bool, error) {
	for _, a := range set {
		if a.unknown == "" {
			continue
		}
		for _, o := range ch.plan.Statement.Change.Set {
			if slices.ContainsFunc(slices.Concat(ch.table().Keys, ch.primary), func(key string) bool { return router.SameColumn(key, o.Column) }) {
				return false, ch.refused(a.unknown + ", for the column " + a.column + ", and a new value of the key column " + o.Column + ", of")
			}
		}
		return true, nil
	}
	return false, nil
}

// readAgain reads the rows as they are behind the change, in the order in which they were found.
func (ch *changing) readAgain() ([][]string, error) {
	keys := slices.Concat(ch.table().Keys, ch.primary)
	found := map[string][]string{}
	for part := range slices.Chunk(ch.rows, chosenBatch) {
		conditions := make([]string, len(part))
		for i, row := range part {
			conditions[i] = "(" + ch.where(keys, ch.of(row, keys)) + ")"
		}
		r, err := ch.run("SELECT " + ch.names(ch.columns) + " FROM " + ch.text[ch.clauses.Table.Pos:ch.clauses.Table.End] + " WHERE " + strings.Join(conditions, " OR ") + " FOR UPDATE")
		if err != nil {
			return nil, err
		}
		rows, err := ch.literals(&r)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			found[ch.where(keys, ch.of(row, keys))] = row
		}
	}
	after := make([][]string, len(ch.rows))
	for i, row := range ch.rows {
		if after[i] = found[ch.where(keys, ch.of(row, keys))]; after[i] == nil {
			return nil, ch.refused("a row that is not found by its primary key, of")
		}
	}
	return after, nil
}

// replaceEntry makes an entry another one.
func (k *keeping) replaceEntry(x *router.Index, before, after entry) error {
	if before.equal(after) {
		return nil
	}
	if err := k.remove(x, []entry{before}); err != nil {
		return err
	}
	return k.add(x, []entry{after})
}

// assigned is what an UPDATE gives a column.
type assigned struct {
	column, expr string
	literal      bool
	// unknown says why the value is not known ahead of the change; "" where it is.
	unknown string
}

// computeSet has a server compute what an UPDATE gives columns of indexes and sharding keys by the clock, which would be another time when the rows change.
func (k *keeping) computeSet() error {
	set := k.plan.Statement.Change.Set
	clauses, ok := sqlparse.FindChangeClauses(k.text, k.client.mode())
	if !ok || len(clauses.Values) != len(set) {
		return k.refused("this form of UPDATE of")
	}
	var exprs []string
	var spans []sqlparse.Span
	for i, a := range set {
		if k.concerns(a.Column) && plan.HasClock(a.Expr) && plan.IsStable(a.Expr) && !a.Expr.Has(sqlparse.Column, sqlparse.Variable, sqlparse.Default, sqlparse.Values) {
			spans = append(spans, clauses.Values[i])
			exprs = append(exprs, k.text[clauses.Values[i].Pos:clauses.Values[i].End])
		}
	}
	return k.putIn(exprs, spans)
}

// assigned are the assignments of the UPDATE to columns of indexes and the sharding key.
func (k *keeping) assigned() (list []assigned, err error) {
	set := k.plan.Statement.Change.Set
	clauses, ok := sqlparse.FindChangeClauses(k.text, k.client.mode())
	if !ok || len(clauses.Values) != len(set) {
		return nil, k.refused("this form of UPDATE of")
	}
	for i, a := range set {
		if !k.concerns(a.Column) {
			continue
		}
		literal := plan.IsLiteral(a.Expr)
		unknown, earlier := "", set[:i]
		switch {
		case a.Expr.Op == sqlparse.Default:
			unknown = "DEFAULT"
		case !plan.IsStable(a.Expr), a.Expr.Has(sqlparse.Variable), plan.HasClock(a.Expr):
			unknown = "a value that is not the same whenever it is computed"
		case !a.Expr.All(func(e *sqlparse.Expr) bool {
			return e.Op != sqlparse.Column || !slices.ContainsFunc(earlier, func(o sqlparse.Assignment) bool { return router.SameColumn(o.Column, e.Name) })
		}):
			unknown = "a value computed of a column that the statement has changed"
		}
		expr := k.text[clauses.Values[i].Pos:clauses.Values[i].End]
		if literal && a.Expr.Op == sqlparse.Const && a.Expr.Value.IsNull() {
			expr = nullLiteral
		}
		list = append(list, assigned{a.Column, expr, literal, unknown})
	}
	return list, nil
}

// isDuplicate reports whether an error says that a unique key has a value already.
func isDuplicate(err error) bool {
	var refused *mysql.SQLError
	return errors.As(err, &refused) && refused.Code == mysql.ERDupEntry
}
