package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/session/state"
	"kingshard/router"
)

// REPLACE, INSERT IGNORE and ON DUPLICATE KEY UPDATE go row by row, as on one server: what a row does depends on the rows that are there, wherever they are, and
// so on what the rows ahead of it did.

// rowsOutcome is what the rows of such a statement did so far.
type rowsOutcome struct {
	affected, duplicates uint64
	copied               int // rows that are new
	warnings             []state.Warning
	id                   uint64 // that is told: the first that was made, else that of the last row
	made                 bool
	leaves               left
}

// replace runs a statement that may change or leave out rows that are there.
func (in *inserting) replace() error {
	insert := in.plan.Statement.Insert
	if in.plan.Statement.Returning {
		in.cutReturning()
	}
	row := in.replaceRow
	switch {
	case insert.Ignore && len(insert.OnUpdate) > 0:
		return in.refused("INSERT IGNORE with ON DUPLICATE KEY UPDATE of")
	case insert.Ignore && sqltext.Classify(in.text, in.client.mode()).Class == sqltext.Replace:
		return in.refused("REPLACE IGNORE of") // no server has it
	case insert.Ignore:
		row = in.ignoreRow
	case len(insert.OnUpdate) > 0:
		row = in.updateRow
	}
	if !insert.Ignore && !in.keyInPrimary() {
		return in.refused("REPLACE or ON DUPLICATE KEY UPDATE, where the primary key has not the sharding key in it, of")
	}
	o := rowsOutcome{leaves: in.left(), warnings: in.deprecated()}
	for k := range in.cells {
		if err := row(k, &o); err != nil {
			return err
		}
	}
	ok := &in.main.ok
	*ok = mysql.OKPacket{AffectedRows: o.affected, LastInsertID: o.id}
	if n := len(in.cells); n > 1 {
		if insert.Ignore {
			o.duplicates = uint64(n - o.copied)
		}
		ok.Info = fmt.Appendf(nil, infoForms[1], n, o.duplicates, len(o.warnings))
	}
	in.main.warnings, in.leaves = o.warnings, o.leaves
	return in.returnAll()
}

// deprecated are the warnings that MySQL has of VALUES() in the text, one for each; of what is prepared it has them then. MySQL manual: "INSERT ... ON DUPLICATE KEY UPDATE Statement".
func (in *inserting) deprecated() (list []state.Warning) {
	const since = 80020
	if info := in.client.schema.Default.Info(); info == nil || in.execution || info.MariaDB || info.Number < since {
		return nil
	}
	for _, a := range in.plan.Statement.Insert.OnUpdate {
		a.Expr.Walk(func(e *sqlparse.Expr) bool {
			if e.Op == sqlparse.Values {
				list = append(list, state.Warning{Level: "Warning", Code: state.ERDeprecated, Message: "'VALUES function' is deprecated and will be removed in a future release. " +
					"Please use an alias (INSERT INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE clause with alias.col instead"})
			}
			return true
		})
	}
	return list
}

// keyInPrimary reports whether rows with equal primary keys are on one shard.
func (in *inserting) keyInPrimary() bool {
	primary := in.plan.Target.PrimaryKey()
	return !slices.ContainsFunc(in.table().Keys, func(key string) bool {
		return !slices.ContainsFunc(primary, func(c string) bool { return router.SameColumn(c, key) })
	})
}

// carryOutRow runs the statement for one row.
func (in *inserting) carryOutRow(row int, o *rowsOutcome) error {
	if err := in.carryOutMain(in.one(row)); err != nil {
		return err
	}
	in.ids, in.next = in.main.ids, in.main.ids.first
	d := state.Diagnostics{Warnings: o.warnings}
	for _, w := range in.main.warnings {
		if w.Code == state.ERDeprecated || w.Code == erNoDefaultForField && row > 0 && in.leavesOut(row) {
			continue // of the text, not of the row
		}
		if message, found := strings.CutSuffix(w.Message, atRow+"1"); found {
			w.Message = message + atRow + strconv.Itoa(row+1)
		}
		d.Warnings = append(d.Warnings, w)
	}
	if in.leavesOut(row) {
		d.DropRepeated(len(o.warnings), in.client.mode().MariaDB)
	}
	o.warnings = d.Warnings
	return nil
}

// erNoDefaultForField is the code of a column without a value and without a default. MySQL manual: "Server Error Message Reference".
const erNoDefaultForField = 1364

// leavesOut reports whether the columns to which a row gives nothing are those that all rows leave out: none is DEFAULT in it.
func (in *inserting) leavesOut(row int) bool {
	return !slices.ContainsFunc(in.plan.Statement.Insert.Rows[row], func(e *sqlparse.Expr) bool { return e.Op == sqlparse.Default })
}

// tell notes the id of a row that is new or changed.
func (in *inserting) tell(o *rowsOutcome) {
	if o.made {
		return
	}
	if in.ids.first != 0 {
		o.made, o.leaves = true, in.leaves
	}
	o.id = in.main.ok.LastInsertID
}

// addEntries adds those of a row to all indexes.
func (in *inserting) addEntries(row int) error {
	all, err := in.entries(row, row+1)
	if err != nil {
		return err
	}
	for i, x := range in.indexes {
		if err := in.add(x, all[i]); err != nil {
			return err
		}
	}
	return nil
}

// unlessRaced has the statement begin anew where a value is there by now that was not when it looked.
func unlessRaced(err error) error {
	if isDuplicate(err) {
		return anew{err}
	}
	return err
}

// rowSavepoint is where a row of INSERT IGNORE goes back to.
const rowSavepoint = "ks_row"

// ignoreRow inserts a row, or leaves it out with a warning.
func (in *inserting) ignoreRow(row int, o *rowsOutcome) error {
	if _, err := in.run("SAVEPOINT " + rowSavepoint); err != nil {
		return err
	}
	if err := in.carryOutRow(row, o); err != nil {
		return err
	}
	if n := len(o.warnings); in.main.ok.AffectedRows == 0 && n > 0 && o.warnings[n-1].Code == mysql.ERDupEntry {
		w := &o.warnings[n-1]
		err := in.ofFirstKey(&mysql.SQLError{Code: w.Code, Message: w.Message}, row)
		if !isDuplicate(err) {
			return err
		}
		w.Message = err.(*mysql.SQLError).Message
		if _, err := in.run("ROLLBACK TO SAVEPOINT " + rowSavepoint); err != nil {
			return err
		}
	} else if in.main.ok.AffectedRows > 0 {
		err := in.addEntries(row)
		switch {
		case isDuplicate(err):
			o.warnings = append(o.warnings, state.Warning{Level: "Warning", Code: mysql.ERDupEntry, Message: err.(*mysql.SQLError).Message})
			if _, err := in.run("ROLLBACK TO SAVEPOINT " + rowSavepoint); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			o.affected++
			o.copied++
			in.tell(o)
			if err := in.returnNew(row); err != nil {
				return err
			}
		}
	}
	_, err := in.run("RELEASE SAVEPOINT " + rowSavepoint)
	return err
}

// before reads and locks the row that has the primary key of one that is to be inserted: the values of the columns of indexes and of the sharding key.
func (in *inserting) before(row int) (ch *changing, err error) {
	ch = &changing{keeping: in.keeping, primary: in.plan.Target.PrimaryKey()}
	for _, list := range append([][]string{in.table().Keys}, columnsOfIndexes(in.indexes)...) {
		for _, c := range list {
			if !slices.ContainsFunc(ch.columns, func(o string) bool { return router.SameColumn(o, c) }) {
				ch.columns = append(ch.columns, c)
			}
		}
	}
	values := make([]string, len(ch.primary))
	for i, c := range ch.primary {
		if in.getsID(c, row) {
			return ch, nil // it gets an id that no row has
		}
		if values[i], err = in.value(c, row, ""); err != nil {
			return nil, err
		}
	}
	return ch, in.readRow(ch, values)
}

// readRow reads and locks the row with a primary key.
func (in *inserting) readRow(ch *changing, primary []string) error {
	r, err := in.run("SELECT " + in.names(ch.columns) + " FROM " + in.name(in.table()) + " WHERE " + in.where(ch.primary, primary) + " FOR UPDATE")
	if err != nil {
		return err
	}
	ch.rows, err = in.literals(&r)
	return err
}

func columnsOfIndexes(indexes []*router.Index) (lists [][]string) {
	for _, x := range indexes {
		lists = append(lists, x.Columns)
	}
	return lists
}

// getsID reports whether a row leaves a column to the table's ids.
func (in *inserting) getsID(column string, row int) bool {
	if !router.SameColumn(column, in.plan.Target.Numbers()) {
		return false
	}
	in.ids, in.next = rowIDs{first: 1}, 1
	defer func() { in.ids = rowIDs{} }()
	return in.id(row) != ""
}

// holder returns the sharding key of the row that has a row's values in a unique index, which it locks; nil if there is none.
func (in *inserting) holder(x *router.Index, e entry) ([]string, error) {
	if !x.Unique || !e.isKept() {
		return nil, nil
	}
	r, err := in.run("SELECT " + in.names(x.Table.Keys) + " FROM " + in.name(x.Lookup) + " WHERE " + in.where(x.Columns, e.values) + " FOR UPDATE")
	if err != nil {
		return nil, in.ofTable(x, err)
	}
	rows, err := in.literals(&r)
	if len(rows) == 0 || err != nil {
		return nil, err
	}
	return rows[0], nil
}

// other runs another change of the table, which indexes follow, too.
func (in *inserting) other(text string) (*keeping, error) {
	p, err := in.client.schema.Plans.build(text, false, in.client.state.DB(), in.client.mode())
	if err != nil {
		return nil, planError(err)
	}
	k := &keeping{composed: in.composed, plan: p, text: text, indexes: in.indexes}
	return k, k.change()
}

// replaceRow deletes the rows that are in the way of a row, and inserts it.
func (in *inserting) replaceRow(row int, o *rowsOutcome) error {
	deleted := uint64(0)
	for _, x := range in.indexes {
		e, err := in.entry(x, row, "")
		if err != nil {
			return err
		}
		key, err := in.holder(x, e)
		if err != nil {
			return err
		}
		if key == nil {
			continue
		}
		if same, err := in.isSame(row, x, e); same || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		k, err := in.other("DELETE FROM " + in.name(in.table()) + " WHERE " + in.where(slices.Concat(x.Columns, x.Table.Keys), slices.Concat(e.values, key)))
		if err != nil {
			return err
		}
		deleted += k.main.ok.AffectedRows
	}
	ch, err := in.before(row)
	if err != nil {
		return err
	}
	if err := in.carryOutRow(row, o); err != nil {
		return err
	}
	if in.main.ok.AffectedRows > uint64(1+len(ch.rows)) {
		return anew{in.refused("a row that is in the way by a key that is no index over all shards, of REPLACE into")}
	}
	for _, x := range in.indexes {
		for _, old := range ch.rows {
			if err := in.remove(x, []entry{ch.entry(x, old)}); err != nil {
				return err
			}
		}
	}
	if err := unlessRaced(in.addEntries(row)); err != nil {
		return err
	}
	o.affected += deleted + in.main.ok.AffectedRows
	o.duplicates += deleted + in.main.ok.AffectedRows - 1
	in.tell(o)
	return in.returnNew(row)
}

// isSame reports whether the row that has the values of an index is the one that has the primary key of a row that is to be inserted.
func (in *inserting) isSame(row int, x *router.Index, e entry) (bool, error) {
	primary := in.plan.Target.PrimaryKey()
	values := make([]string, len(primary))
	for i, c := range primary {
		if in.getsID(c, row) {
			return false, nil
		}
		var err error
		if values[i], err = in.value(c, row, ""); err != nil {
			return false, err
		}
	}
	r, err := in.run("SELECT 1 FROM " + in.name(in.table()) + " WHERE " + in.where(slices.Concat(primary, x.Columns), slices.Concat(values, e.values)) + " FOR UPDATE")
	return len(r.rows) == 1, err
}

// updateRow inserts a row, or changes the one that is in its way.
func (in *inserting) updateRow(row int, o *rowsOutcome) error {
	ch, err := in.before(row)
	if err != nil {
		return err
	}
	if len(ch.rows) == 0 {
		for _, x := range in.indexes {
			e, err := in.entry(x, row, "")
			if err != nil {
				return err
			}
			key, err := in.holder(x, e)
			if err != nil {
				return err
			}
			if key != nil {
				return in.updateHolder(x, e, key, row, o)
			}
		}
	}
	if err := in.carryOutRow(row, o); err != nil {
		return err
	}
	ok := &in.main.ok
	o.affected += ok.AffectedRows
	if len(ch.rows) == 0 {
		if ok.AffectedRows != 1 {
			return anew{in.refused("a row that is in the way by a key that is no index over all shards, of ON DUPLICATE KEY UPDATE of")}
		}
		o.copied++
		in.tell(o)
		if err := unlessRaced(in.addEntries(row)); err != nil {
			return err
		}
		return in.returnNew(row)
	}
	if ok.AffectedRows > 0 {
		o.duplicates++
		in.tell(o)
	}
	return in.followUpdate(ch, row)
}

// followUpdate has the entries of a row follow what ON DUPLICATE KEY UPDATE made of it.
func (in *inserting) followUpdate(ch *changing, row int) error {
	before := ch.rows[0]
	var primary []string
	for _, c := range ch.primary {
		v, err := in.value(c, row, "")
		if err != nil {
			return err
		}
		primary = append(primary, v)
	}
	if err := in.readRow(ch, primary); err != nil {
		return err
	}
	if len(ch.rows) != 1 {
		return in.refused("a new primary key in ON DUPLICATE KEY UPDATE of")
	}
	for _, x := range in.indexes {
		if err := in.replaceEntry(x, ch.entry(x, before), ch.entry(x, ch.rows[0])); err != nil {
			return err
		}
	}
	return in.returnRow(primary)
}

// updateHolder changes the row that is in the way of a row by an index over all shards.
func (in *inserting) updateHolder(x *router.Index, e entry, key []string, row int, o *rowsOutcome) error {
	set, err := in.assignments(row)
	if err != nil {
		return err
	}
	where := " WHERE " + in.where(slices.Concat(x.Columns, x.Table.Keys), slices.Concat(e.values, key))
	number, primary := in.plan.Target.Numbers(), in.plan.Target.PrimaryKey()
	columns := slices.Clone(primary)
	if number != "" {
		columns = append(columns, number)
	}
	r, err := in.run("SELECT " + in.names(columns) + " FROM " + in.name(in.table()) + where + " FOR UPDATE")
	if err != nil {
		return err
	}
	rows, err := in.literals(&r)
	if err != nil {
		return err
	}
	var id uint64
	if number != "" && len(rows) == 1 {
		id, _ = strconv.ParseUint(rows[0][len(primary)], 10, 64)
	}
	k, err := in.other("UPDATE " + in.name(in.table()) + " SET " + set + where)
	if err != nil {
		return err
	}
	var matched, changed, warned int
	_, _ = fmt.Sscanf(string(k.main.ok.Info), infoForms[0], &matched, &changed, &warned)
	o.warnings = append(o.warnings, k.main.warnings...)
	switch {
	case matched == 0 || len(rows) != 1:
		return in.refused("an entry of the index " + x.Name + " without its row (KS INDEX VERIFY), in a change of")
	case changed > 0:
		o.affected += 2
		o.duplicates++
	case in.client.conn.Capabilities.Has(mysql.ClientFoundRows):
		o.affected++
		o.duplicates++
	}
	if changed > 0 && !o.made {
		o.id = id
	}
	return in.returnRow(rows[0][:len(primary)])
}

// assignments writes those behind ON DUPLICATE KEY UPDATE with the values of a row in place of VALUES() and of what AS calls them.
func (in *inserting) assignments(row int) (string, error) {
	m := in.client.mode()
	spans := sqlparse.AssignmentSpans(in.text, m, true)
	set := in.plan.Statement.Insert.OnUpdate
	if len(spans) != len(set) || len(spans) == 0 {
		return "", in.refused("this form of ON DUPLICATE KEY UPDATE of")
	}
	called, err := in.newRow()
	if err != nil {
		return "", err
	}
	parts := make([]string, len(set))
	for i, a := range set {
		text, err := in.withValues(in.text[spans[i].Pos:spans[i].End], called, row)
		if err != nil {
			return "", err
		}
		if a.Expr.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify) {
			return "", in.refused("a subquery in ON DUPLICATE KEY UPDATE of")
		}
		parts[i] = in.quote(a.Column) + " = " + text
	}
	return strings.Join(parts, ", "), nil
}
