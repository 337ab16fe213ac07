package session

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/plan"
)

// inserting is an INSERT or REPLACE whose rows indexes follow.
type inserting struct {
	*keeping
	columns []string
	cells   [][]sqlparse.Span // of each row
	head    string            // what is ahead of the rows, and behind them; "" where the text has one row
	tail    string
	rows    []sqlparse.RowSpan
	// ids are those that the rows got which left theirs to the table: those from the next one on are not given out yet.
	ids  rowIDs
	next uint64
	// returned are the rows of RETURNING where they are changed one by one.
	returned rowsReturned
}

// insert runs an INSERT or REPLACE.
func (k *keeping) insert() error {
	if k.plan.Statement.Query != nil {
		return k.refused("INSERT ... SELECT into")
	}
	if err := k.compute(); err != nil {
		return err
	}
	in, err := k.rows()
	if err != nil {
		return err
	}
	insert := k.plan.Statement.Insert
	if insert.Ignore || len(insert.OnUpdate) > 0 || sqltext.Classify(k.text, k.client.mode()).Class == sqltext.Replace {
		return in.replace()
	}
	if k.inOrder {
		return in.oneByOne()
	}
	err = in.insertRows(k.text, 0, len(in.cells))
	if len(in.cells) > 1 && isDuplicate(err) {
		in.inOrder = true // which row it is that one server would have told of
		return anew{err}
	}
	return err
}

// rows finds the rows of the text.
func (k *keeping) rows() (*inserting, error) {
	in := &inserting{keeping: k}
	var err error
	if in.columns, err = k.plan.InsertColumns(); err != nil {
		return nil, planError(err)
	}
	m := k.client.mode()
	if k.plan.Statement.Insert.SetForm {
		in.cells = [][]sqlparse.Span{sqlparse.AssignmentSpans(k.text, m, false)}
	} else {
		in.rows, _ = sqlparse.ValuesRows(k.text, m)
		for _, row := range in.rows {
			in.cells = append(in.cells, row.Cells)
		}
	}
	if len(in.cells) != len(k.plan.Statement.Insert.Rows) || slices.ContainsFunc(in.cells, func(row []sqlparse.Span) bool { return len(row) != len(in.columns) }) {
		return nil, k.refused("this form of INSERT into")
	}
	if err := in.idsKnown(); err != nil {
		return nil, err
	}
	if n := len(in.rows); n > 0 {
		in.head, in.tail = k.text[:in.rows[0].Pos], k.text[in.rows[n-1].End:]
	}
	return in, nil
}

// idsKnown refuses rows whose ids entries have and a server makes, as that of a table with one shard does.
func (in *inserting) idsKnown() error {
	column := in.plan.Target.Numbers()
	if column == "" || len(in.table().Shards) > 1 || !in.concerns(column) {
		return nil
	}
	at := slices.IndexFunc(in.columns, func(c string) bool { return router.SameColumn(c, column) })
	for _, row := range in.plan.Statement.Insert.Rows {
		if at < 0 || plan.LeavesID(row[at], zeroStays(&in.client)) {
			return in.refused("a row that leaves its id to a server, into")
		}
	}
	return nil
}

// one is the text that inserts one of the rows.
func (in *inserting) one(row int) string {
	if in.rows == nil {
		return in.text
	}
	return in.head + in.text[in.rows[row].Pos:in.rows[row].End] + in.tail
}

// insertRows inserts the rows from one to another by a text, and their entries.
func (in *inserting) insertRows(text string, from, to int) error {
	if err := in.carryOutMain(text); err != nil {
		if to == from+1 {
			err = in.ofFirstKey(err, from)
		}
		return err
	}
	in.ids, in.next = in.main.ids, in.main.ids.first
	all, err := in.entries(from, to)
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

// ofFirstKey returns the error of a row that was refused with err: of several keys in which a row collides one server names the first, and the row's shard knows of
// its own rows only.
func (in *inserting) ofFirstKey(err error, row int) error {
	var refused *mysql.SQLError
	if !errors.As(err, &refused) || refused.Code != mysql.ERDupEntry {
		return err
	}
	key := strings.ToLower(strings.TrimSuffix(refused.Message[strings.LastIndex(refused.Message, " '")+2:], "'"))
	at := slices.IndexFunc(in.indexes, func(x *router.Index) bool {
		name := strings.ToLower(x.Name)
		return x.Unique && (key == name || strings.HasSuffix(key, "."+name)) // MySQL says the table's name, too
	})
	if at <= 0 {
		return err
	}
	all, unknown := in.entries(row, row+1)
	if unknown != nil {
		return err // the row was to get an id
	}
	for i, x := range in.indexes[:at] {
		if !x.Unique {
			continue
		}
		if first := in.add(x, all[i]); first != nil {
			return first
		}
	}
	return err
}

// entries are those of rows in each of the indexes.
func (in *inserting) entries(from, to int) (all [][]entry, err error) {
	all = make([][]entry, len(in.indexes))
	for row := from; row < to; row++ {
		id := in.id(row)
		for i, x := range in.indexes {
			e, err := in.entry(x, row, id)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], e)
		}
	}
	return all, nil
}

// entry makes what an index has of a row. id is the one that was made for the row, "" if none was.
func (in *inserting) entry(x *router.Index, row int, id string) (e entry, err error) {
	for _, c := range x.Columns {
		v, err := in.value(c, row, id)
		if err != nil {
			return e, err
		}
		e.values = append(e.values, v)
	}
	for _, c := range x.Table.Keys {
		v, err := in.value(c, row, id)
		if err != nil {
			return e, err
		}
		e.key = append(e.key, v)
	}
	return e, nil
}

// id returns the id that was made for a row, and passes on to the next one's.
func (in *inserting) id(row int) string {
	column := in.plan.Target.Numbers()
	if column == "" || in.ids.first == 0 {
		return ""
	}
	at := slices.IndexFunc(in.columns, func(c string) bool { return router.SameColumn(c, column) })
	if at >= 0 && !plan.LeavesID(in.plan.Statement.Insert.Rows[row][at], zeroStays(&in.client)) {
		return ""
	}
	id := in.next
	in.next += in.ids.spacing.Increment
	return strconv.FormatUint(id, 10)
}

// value writes what a row gives a column as a literal.
func (in *inserting) value(column string, row int, id string) (string, error) {
	if id != "" && router.SameColumn(column, in.plan.Target.Numbers()) {
		return id, nil
	}
	at := slices.IndexFunc(in.columns, func(c string) bool { return router.SameColumn(c, column) })
	if at < 0 {
		return in.defaultOf(column)
	}
	span := in.cells[row][at]
	switch e := in.plan.Statement.Insert.Rows[row][at]; {
	case e.Op == sqlparse.Default && e.Name != "":
		return "", in.refused("DEFAULT() for the column " + column + ", into")
	case e.Op == sqlparse.Default:
		return in.defaultOf(column)
	case e.Op == sqlparse.Const && e.Value.IsNull():
		return in.plan.Target.ImplicitDefault(column), nil
	}
	return in.text[span.Pos:span.End], nil
}

// defaultOf returns the value of a column that a row leaves to its table.
func (in *inserting) defaultOf(column string) (string, error) {
	null, err := in.client.schema.Plans.defaultIsNull(in.table(), column)
	if err != nil {
		return "", backendError(err)
	}
	if !null {
		return "", in.refused("a row that leaves the column " + column + " to a default other than NULL, into")
	}
	return in.plan.Target.ImplicitDefault(column), nil
}

// compute has a server compute what the text gives for columns of indexes and sharding keys, where that is no literal, and puts the values into the text.
func (k *keeping) compute() error {
	in, err := k.rows()
	if err != nil {
		return err
	}
	var exprs []string
	var spans []sqlparse.Span
	for row, cells := range in.cells {
		for at, c := range in.columns {
			e := k.plan.Statement.Insert.Rows[row][at]
			if !k.concerns(c) || plan.IsLiteral(e) || e.Op == sqlparse.Default {
				continue
			}
			if e.Has(sqlparse.Column, sqlparse.Values) {
				return k.refused("a value that is computed of columns, into")
			}
			spans = append(spans, cells[at])
			exprs = append(exprs, k.text[cells[at].Pos:cells[at].End])
		}
	}
	return k.putIn(exprs, spans)
}

// putIn has a server compute expressions, and puts the values into the text in their places.
func (k *keeping) putIn(exprs []string, spans []sqlparse.Span) error {
	if len(exprs) == 0 {
		return nil
	}
	r, err := k.run("SELECT " + strings.Join(exprs, ", ") + " LIMIT 1")
	if err != nil {
		return err
	}
	var b strings.Builder
	at := 0
	for i, span := range spans {
		text, err := k.literal(&r.columns[i], r.rows[0][i])
		if err != nil {
			return err
		}
		b.WriteString(k.text[at:span.Pos] + text)
		at = span.End
	}
	k.text = b.String() + k.text[at:]
	k.plan, err = k.client.schema.Plans.build(k.text, false, k.client.state.DB(), k.client.mode())
	if err != nil {
		return planError(err)
	}
	return nil
}

// concerns reports whether a column is of an index, or of the sharding key.
func (k *keeping) concerns(column string) bool {
	t := k.table()
	return slices.ContainsFunc(t.Keys, func(key string) bool { return router.SameColumn(key, column) }) ||
		slices.ContainsFunc(k.indexes, func(x *router.Index) bool { return x.Has(column) })
}

// oneByOne inserts rows in their order, so that the error is that of the first one at fault.
func (in *inserting) oneByOne() error {
	var sum mysql.OKPacket
	leaves := left{}
	for row := range in.cells {
		if err := in.insertRows(in.one(row), row, row+1); err != nil {
			return err
		}
		in.sum(&sum, row, &leaves)
	}
	in.main.ok, in.main.rows, in.leaves = sum, in.returned.rows, leaves
	return nil
}

// sum adds what a row's statement did to that of all.
func (in *inserting) sum(sum *mysql.OKPacket, row int, leaves *left) {
	ok := &in.main.ok
	sum.AffectedRows += ok.AffectedRows
	in.returned.rows = append(in.returned.rows, in.main.rows...)
	if sum.LastInsertID == 0 {
		sum.LastInsertID, *leaves = ok.LastInsertID, in.leaves
	}
	if len(in.cells) > 1 {
		sum.Info = []byte("Records: " + strconv.Itoa(row+1) + "  Duplicates: 0  Warnings: 0")
	}
}
