package session

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/session/state"
	"kingshard/router"
	"kingshard/router/plan"
)

// Indexes over all shards are tables of the proxy's own, which have an entry for each row of the table that they are about: the values of the index's
// columns, and the row's sharding key. Who changes rows changes their entries in the same transaction: the statement itself goes to the shards as every
// other does, and the entries follow it. What a unique index refuses is the entry. docs/design/indexes.md tells more.

// errKeeps says that a statement changes entries of indexes: only keepIndexes runs it.
var errKeeps = errors.New("the statement changes entries of indexes")

// keeping is a statement whose changes indexes follow.
type keeping struct {
	*composed
	plan *plan.Plan // of the text
	text string
	// indexes are those whose entries may change and that are to be kept.
	indexes []*router.Index
	// inOrder has rows inserted one by one, as one server does: that tells which of several faults is the first.
	inOrder bool
	// execution says that the client executes what it has prepared.
	execution bool
	// main is the answer that the client gets, and leaves what the session has of it.
	main   result
	leaves left
}

// keepIndexes runs a text that changes rows of a table with indexes over all shards. binary says that the client expects rows as those of an execution.
func (s composer) keepIndexes(text string, binary bool) (failed bool, err error) {
	text = strings.Clone(text)
	p, err := s.client.schema.Plans.build(text, false, s.client.state.DB(), s.client.mode())
	if err != nil {
		return true, planError(err)
	}
	if p == nil {
		return true, replanned()
	}
	if ch := p.Statement.Change; ch != nil && ch.Where.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify) {
		e := new(plan.Execution)
		e.Bind(p, nil)
		if _, err := e.Route(); plan.IsRefusal(err) {
			if ch.Limit == nil {
				return true, planError(err) // ahead of the rows that it would collect
			}
			if _, err := crossShard(&s.client, &s.client.task().query, p); err != nil {
				return true, err
			}
		}
	}
	defer partVariables(&s.client)()
	var k *keeping
	inOrder := false
	err = s.compose(func(c *composed) error {
		indexes, err := c.leases.kept(p)
		if err != nil {
			return err
		}
		k = &keeping{composed: c, plan: p, text: text, indexes: indexes, inOrder: inOrder, execution: binary}
		if err = k.change(); err == nil {
			err = k.inProtocol()
		}
		if err == nil {
			err = k.stillKept(p)
		}
		if err == nil {
			err = s.leases.stillHeard(p.Watches())
		}
		inOrder = inOrder || k.inOrder
		return err
	})
	if err != nil {
		return true, err
	}
	if len(k.indexes) > 0 {
		s.client.shared.Indexes.Counts.Changes.Add(1)
	}
	k.answer(&k.main, k.leaves)
	return false, nil
}

// kept are the indexes that a statement has to keep, in the order of the table's keys: not those that are still to be built, or were dropped.
func (ls *leases) kept(p *plan.Plan) (list []*router.Index, err error) {
	states := &ls.client.shared.Indexes
	for _, x := range p.Keeps() {
		kept, known := states.Kept(x)
		if !known {
			ctx, cancel := context.WithDeadline(context.Background(), ls.client.entry.Now().Add(ls.client.snap.Config.PoolWaitTimeout.Duration()))
			err := states.Ask(ctx, x.Table, ls.client.schema.Nodes)
			cancel()
			if err != nil {
				return nil, backendError(err)
			}
			kept, _ = states.Kept(x)
		}
		if kept {
			list = append(list, x)
		}
	}
	if err := ls.client.schema.Plans.inKeyOrder(list); err != nil {
		return nil, backendError(err)
	}
	return list, nil
}

// stillKept has the statement begin anew where it has not kept an index that is to be kept by now. The build of one waits for transactions that have
// begun before proxies knew of it, and this one has.
func (k *keeping) stillKept(p *plan.Plan) error {
	indexes, err := k.leases.kept(p)
	if err == nil && !slices.Equal(indexes, k.indexes) {
		return k.between()
	}
	return err
}

// partVariables gives variables the values that the parts of a statement need, until the function that it returns is called: servers are to send texts as
// the client writes them, so that they can be part of statements, and all rows.
func partVariables(c *client) (back func()) {
	return giveVariables(&c.state, map[string]string{"character_set_results": c.state.Value("character_set_client"), "sql_select_limit": "", "max_execution_time": ""})
}

// giveVariables gives variables values, as SQL text, or the servers' default for "", until the function that it returns is called.
func giveVariables(st *state.State, values map[string]string) (back func()) {
	had := map[string]string{}
	give := func(name, value string) {
		if value == "" {
			st.Unset(name)
		} else {
			st.Set(name, value)
		}
	}
	for name, value := range values {
		if now := st.Value(name); now != value {
			had[name] = now
			give(name, value)
		}
	}
	return func() {
		for name, value := range had {
			give(name, value)
		}
	}
}

// executedText writes the values of an execution into its text.
func executedText(c *client, m sqltext.Mode, text string, args []value.Value) (string, error) {
	if m != c.mode() {
		return "", preparedOtherwise()
	}
	numbers := make([]int, len(args))
	for k := range numbers {
		numbers[k] = k
	}
	text, err := plan.Bind(text, m, numbers, args)
	if err != nil {
		return "", planError(err)
	}
	return text, nil
}

// inProtocol has the answer's rows be those of an execution. Texts of FLOAT have not all of its digits.
func (k *keeping) inProtocol() error {
	k.main.binary = k.execution
	if k.execution && slices.ContainsFunc(k.main.columns, func(d mysql.ColumnDefinition41) bool { return d.Type == mysql.TypeFloat }) {
		return k.refused("RETURNING of a FLOAT by a prepared statement, of a change of")
	}
	return nil
}

func (k *keeping) change() error {
	switch k.plan.Statement.Kind {
	case sqlparse.InsertKind:
		return k.insert()
	case sqlparse.UpdateKind:
		return k.update()
	case sqlparse.DeleteKind:
		return k.delete()
	}
	return k.refused("LOAD DATA into")
}

// refused is the error of a statement that indexes cannot follow.
func (k *keeping) refused(what string) error {
	return newError(KSRefusedSharding, what+" the table "+k.plan.Target.Parsed.Name+", which has keys over all shards")
}

// carryOutMain runs a text that is the client's, or stands for it, and keeps what it leaves.
func (k *keeping) carryOutMain(text string) error {
	var err error
	k.main, err = k.run(text)
	k.leaves = k.left()
	return err
}

// between is the error of a statement that others came between whenever it was tried.
func (k *keeping) between() error {
	return anew{&mysql.SQLError{Code: erLockWaitTimeout, State: "HY000", Message: "Lock wait timeout exceeded; try restarting transaction"}}
}

// table is the indexed table.
func (k *keeping) table() *router.Table { return k.plan.Target.Table }

// quote writes a name.
func (k *keeping) quote(name string) string {
	text, _ := sqltext.QuoteIdent(name, k.client.mode())
	return text
}

// name writes the name of a table.
func (k *keeping) name(t *router.Table) string { return k.quote(t.DB) + "." + k.quote(t.Name) }

// names writes names of columns.
func (k *keeping) names(columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = k.quote(c)
	}
	return strings.Join(quoted, ", ")
}

// entry is what an index has of a row, as literals: the values of its columns, and the row's sharding key.
type entry struct{ values, key []string }

// nullLiteral is the literal of NULL.
const nullLiteral = "NULL"

// isKept reports whether the index has such entries: not of rows with a NULL.
func (e entry) isKept() bool { return !slices.Contains(e.values, nullLiteral) }

func (e entry) equal(o entry) bool {
	return slices.Equal(e.values, o.values) && slices.Equal(e.key, o.key)
}

// where writes the condition that columns have values.
func (k *keeping) where(columns, values []string) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = k.quote(c) + " = " + values[i]
	}
	return strings.Join(parts, " AND ")
}

// entriesMax is how many entries one statement inserts or deletes.
const entriesMax = 500

// add inserts entries.
func (k *keeping) add(x *router.Index, entries []entry) error {
	for part := range slices.Chunk(entries, entriesMax) {
		if err := k.addSome(x, "INSERT INTO ", part); err != nil {
			return err
		}
	}
	return nil
}

func (k *keeping) addSome(x *router.Index, insert string, entries []entry) error {
	columns := k.names(slices.Concat(x.Columns, x.Table.Keys))
	if !x.Unique {
		columns += ", " + k.quote(router.RowsColumn)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s (%s) VALUES ", insert, k.name(x.Lookup), columns)
	first := true
	for _, e := range entries {
		if !e.isKept() {
			continue
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		b.WriteString("(" + strings.Join(slices.Concat(e.values, e.key), ", "))
		if !x.Unique {
			b.WriteString(", 1")
		}
		b.WriteString(")")
	}
	if first {
		return nil
	}
	if !x.Unique {
		rows := k.quote(router.RowsColumn)
		b.WriteString(" ON DUPLICATE KEY UPDATE " + rows + " = " + rows + " + 1")
	}
	_, err := k.run(b.String())
	return k.ofTable(x, err)
}

// remove deletes entries: those of the rows themselves, as another row may have the entry of their value while an index is being built.
func (k *keeping) remove(x *router.Index, entries []entry) error {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return !e.isKept() })
	if !x.Unique {
		return k.uncount(x, entries)
	}
	own := slices.Concat(x.Columns, x.Table.Keys)
	if len(x.Columns) > 1 {
		for _, e := range entries {
			if _, err := k.run("DELETE FROM " + k.name(x.Lookup) + " WHERE " + k.where(own, slices.Concat(e.values, e.key))); err != nil {
				return k.ofTable(x, err)
			}
		}
		return nil
	}
	for part := range slices.Chunk(entries, entriesMax) {
		values, rows := make([]string, len(part)), make([]string, len(part))
		for i, e := range part {
			values[i], rows[i] = e.values[0], "("+strings.Join(slices.Concat(e.values, e.key), ", ")+")"
		}
		if _, err := k.run("DELETE FROM " + k.name(x.Lookup) + " WHERE " + k.quote(x.Columns[0]) + " IN (" + strings.Join(values, ", ") + ") AND (" + k.names(own) + ") IN (" + strings.Join(rows, ", ") + ")"); err != nil {
			return k.ofTable(x, err)
		}
	}
	return nil
}

// uncount takes rows off the entries of an index that is not unique.
func (k *keeping) uncount(x *router.Index, entries []entry) error {
	for len(entries) > 0 {
		e, n := entries[0], len(entries)
		entries = slices.DeleteFunc(entries, e.equal)
		n -= len(entries)
		rows := k.quote(router.RowsColumn)
		where := " WHERE " + k.where(slices.Concat(x.Columns, x.Table.Keys), slices.Concat(e.values, e.key))
		if _, err := k.run(fmt.Sprintf("UPDATE %s SET %s = %s - %d%s", k.name(x.Lookup), rows, rows, n, where)); err != nil {
			return k.ofTable(x, err)
		}
		if _, err := k.run(fmt.Sprintf("DELETE FROM %s%s AND %s <= 0", k.name(x.Lookup), where, rows)); err != nil {
			return k.ofTable(x, err)
		}
	}
	return nil
}

// ofTable makes an error about an index's own table one about the table that is indexed.
func (k *keeping) ofTable(x *router.Index, err error) error {
	var refused *mysql.SQLError
	if !errors.As(err, &refused) {
		return err
	}
	e := *refused
	switch e.Code {
	case mysql.ERDupEntry:
		e.Message = strings.Replace(e.Message, "'"+x.Lookup.Name+".", "'"+x.Table.Name+".", 1)
	case erNoSuchTable:
		return newError(KSRefusedSharding, "the index "+x.Name+" of "+x.Table.Name+" has no table that keeps it: KS INDEX BUILD "+x.Table.DB+"."+x.Table.Name+" makes it")
	}
	return &e
}

// literal writes the value of a column for a statement of this session.
func (k *keeping) literal(d *mysql.ColumnDefinition41, cell value.Cell) (string, error) {
	if cell == nil {
		return nullLiteral, nil
	}
	text := string(cell)
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeYear, mysql.TypeNewDecimal, mysql.TypeDecimal:
		return text, nil
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTime:
		return "'" + text + "'", nil
	}
	switch {
	case !isText(d) || d.Type == mysql.TypeJSON || d.Flags&(mysql.EnumFlag|mysql.SetFlag) != 0:
		return "", k.refused("a value of the column " + string(d.Name) + ", for which no literal stands, of")
	case d.Charset == binaryCollation:
		return "X'" + hex.EncodeToString(cell) + "'", nil
	case !k.readsUTF8() && strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || r == '?' }):
		return "", k.refused("texts beyond ASCII, while character_set_client is not utf8mb4, in keys of")
	}
	quoted, ok := sqltext.QuoteString(text, k.client.mode())
	if !ok {
		return "", k.refused("a text that the client's character set cannot write, of")
	}
	return quoted, nil
}

// readsUTF8 reports whether the client's texts are in UTF-8.
func (k *keeping) readsUTF8() bool {
	switch strings.ToLower(strings.Trim(k.client.state.Value("character_set_client"), "'")) {
	case "", "utf8mb4", "utf8mb3", "utf8":
		return true
	}
	return false
}
