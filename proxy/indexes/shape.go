package indexes

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/plan"
	"kingshard/router/rule"
)

// shape is how rows of a table, indexed or keeping an index, are read in batches.
type shape struct {
	order []string // the columns of the key by which they are read
	// columns and keys are those of the index and those of the sharding key.
	columns, keys []string
	definitions   []mysql.ColumnDefinition41 // of order, columns and keys, in turn, and of what follows
	more          []string
	placed        []rule.Column // of columns
	owners        []rule.Column // of keys
}

// line is a row that was read, each value as SQL has it.
type line struct {
	order, columns, keys []string
	null                 bool // one of columns is NULL
	more                 []string
	place, owner         []value.Value // columns and keys, for rules
}

// unordered are types that a batch cannot be continued by: their order is another one than that of what is shown of them.
var unordered = []string{"float", "double", "enum", "set", "bit", "json"}

// shapeOf finds how the rows of a sub-table are read.
func shapeOf(c *link, x *router.Index, s router.Shard, d *Described, more ...string) (*shape, error) {
	f := &shape{columns: x.Columns, keys: x.Table.Keys, more: more}
	for _, u := range d.Uniques {
		if u.Name == "PRIMARY" && !u.Partial {
			f.order = u.Columns
		}
	}
	if x.Lookup.Name != "" && f.order == nil && slices.Contains(x.Lookup.Shards, s) {
		f.order = x.Columns
	}
	if f.order == nil {
		return nil, fmt.Errorf("%s has no primary key, by which its rows could be read in batches", s)
	}
	for _, name := range f.order {
		if column := d.Column(name); column == nil || slices.Contains(unordered, column.Kind) {
			return nil, fmt.Errorf("%s has a primary key of %s, by which its rows cannot be read in batches", s, name)
		}
	}
	// Results in the columns' own character sets tell the columns' own collations.
	err := c.run("SET character_set_results = NULL")
	if err == nil {
		f.definitions, err = c.Columns(f.selects(s) + " LIMIT 0")
	}
	if err != nil {
		return nil, err
	}
	column := func(name string) rule.Column {
		one := plan.KeyColumn(f.definitions, name, sqltext.Mode{})
		one.Zone = time.UTC
		return one
	}
	for _, name := range f.columns {
		f.placed = append(f.placed, column(name))
	}
	for _, name := range f.keys {
		f.owners = append(f.owners, column(name))
	}
	return f, c.run("SET NAMES utf8mb4")
}

func (f *shape) selects(s router.Shard) string {
	return "SELECT " + list(slices.Concat(f.order, f.columns, f.keys, f.more)) + " FROM " + quoted(s)
}

// list writes names of columns.
func list(names []string) string {
	all := make([]string, len(names))
	for k, name := range names {
		all[k] = quote(name)
	}
	return strings.Join(all, ", ")
}

// read reads the rows behind one, as its order has it, n at most.
func (f *shape) read(c *link, s router.Shard, after []string, n int) (lines []line, err error) {
	text := f.selects(s)
	if len(after) == len(f.order) {
		text += " WHERE " + behind(f.order, after)
	}
	text += " ORDER BY " + list(f.order) + " LIMIT " + strconv.Itoa(n)
	_ = c.Net.SetDeadline(time.Now().Add(answerMax))
	err = c.RawRows(text, func(_ []mysql.ColumnDefinition41, cells []value.Cell) { lines = append(lines, f.line(cells)) })
	return lines, err
}

// behind is the condition of the rows behind one, by a key.
func behind(order, after []string) string {
	var any []string
	same := ""
	for k, name := range order {
		any = append(any, "("+same+quote(name)+" > "+after[k]+")")
		same += quote(name) + " = " + after[k] + " AND "
	}
	return quote(order[0]) + " >= " + after[0] + " AND (" + strings.Join(any, " OR ") + ")"
}

func (f *shape) line(cells []value.Cell) (l line) {
	at := 0
	take := func(n int) (texts []string) {
		for range n {
			texts = append(texts, literalOf(cells[at], &f.definitions[at]))
			at++
		}
		return texts
	}
	l.order = take(len(f.order))
	for k := range f.columns {
		l.null = l.null || cells[at+k] == nil
		l.place = append(l.place, stored(cells[at+k], f.placed[k].Class))
	}
	l.columns = take(len(f.columns))
	for k := range f.keys {
		l.owner = append(l.owner, stored(cells[at+k], f.owners[k].Class))
	}
	l.keys = take(len(f.keys))
	l.more = take(len(f.more))
	return l
}

// literalOf writes a value that was read so that it means the same in any SQL mode. MySQL manual: "Character String Literal Character Set and Collation".
func literalOf(cell value.Cell, d *mysql.ColumnDefinition41) string {
	switch {
	case cell == nil:
		return "NULL"
	case len(cell) == 0:
		return "''"
	}
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeNewDecimal, mysql.TypeYear, mysql.TypeFloat, mysql.TypeDouble:
		return string(cell)
	case mysql.TypeDate, mysql.TypeNewDate, mysql.TypeDatetime, mysql.TypeTimestamp, mysql.TypeTime:
		return "'" + string(cell) + "'"
	}
	if d.Charset == binaryCharset {
		return "X'" + hex.EncodeToString(cell) + "'"
	}
	return "_utf8mb4 X'" + hex.EncodeToString(cell) + "'"
}

// binaryCharset is the collation of what is no text.
const binaryCharset = 63

// stored is a value that was read as a statement would have it for a rule.
func stored(cell value.Cell, c rule.Class) value.Value {
	if cell == nil {
		return value.Value{}
	}
	text := string(cell)
	switch c {
	case rule.Integer, rule.Unsigned, rule.Year:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value.NewInt(n)
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return value.NewUint(n)
		}
	case rule.Decimal:
		return value.NewDecimal(text)
	case rule.Bytes:
		return value.NewBytes(text)
	}
	return value.NewString(text)
}

// equal is the condition that columns have values.
func equal(names, values []string) string {
	var all []string
	for k, name := range names {
		all = append(all, quote(name)+" = "+values[k])
	}
	return strings.Join(all, " AND ")
}

// shown writes values for people.
func shown(names, values []string) string {
	var all []string
	for k, name := range names {
		all = append(all, name+" = "+readable(values[k]))
	}
	return strings.Join(all, ", ")
}

// readable is a value without what has it mean the same everywhere.
func readable(literal string) string {
	if digits, is := strings.CutPrefix(literal, "_utf8mb4 X'"); is {
		if text, err := hex.DecodeString(strings.TrimSuffix(digits, "'")); err == nil {
			return strconv.Quote(string(text))
		}
	}
	return literal
}

// placeOf finds the sub-table that has a row's entry.
func (f *shape) placeOf(x *router.Index, l *line) (router.Shard, error) {
	at, err := x.Lookup.Place(l.place, f.placed)
	if err != nil {
		return router.Shard{}, fmt.Errorf("%s cannot be placed: %w", shown(f.columns, l.columns), err)
	}
	return x.Lookup.Shards[at], nil
}

// ownerOf finds the sub-table that has the rows of an entry.
func (f *shape) ownerOf(x *router.Index, l *line) (router.Shard, error) {
	at, err := x.Table.Place(l.owner, f.owners)
	if errors.Is(err, rule.ErrNoShard) || err != nil {
		return router.Shard{}, err
	}
	return x.Table.Shards[at], nil
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// where reads the rows that meet a condition.
func (f *shape) where(c *link, s router.Shard, condition string) (lines []line, err error) {
	_ = c.Net.SetDeadline(time.Now().Add(answerMax))
	err = c.RawRows(f.selects(s)+" WHERE "+condition, func(_ []mysql.ColumnDefinition41, cells []value.Cell) { lines = append(lines, f.line(cells)) })
	return lines, err
}

// entryOf writes the values of a key as servers have them in error 1062.
func entryOf(literals []string) string {
	var all []string
	for _, one := range literals {
		if digits, is := strings.CutPrefix(one, "_utf8mb4 X'"); is {
			if text, err := hex.DecodeString(strings.TrimSuffix(digits, "'")); err == nil {
				one = string(text)
			}
		}
		all = append(all, strings.Trim(one, "'"))
	}
	return strings.Join(all, "-")
}
