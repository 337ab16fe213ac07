package differential

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// copying is how tables are copied to ask the oracle for another plan.
type copying struct {
	indexed func(*table) bool // which copies have their table's indexes; nil is none
	limited bool              // whether those without have at most limit rows
	limit   int
	order   func(*table) string // ORDER BY for the rows of those without, which they are read in; nil is that of the table
	inner   bool                // whether subqueries read tables of one row, without indexes, in place of them
	met     bool                // whether IS NULL of a column is TRUE in the statement, as a condition is that shards have met
	only    func(*table) string // condition for the rows of those without, or nil
	// compared are names of columns that those without have an index of each: the subject's collected tables have some of columns that the statement compares.
	compared map[string]bool
	// named are names of columns, of which those without have no others, as the subject's collected tables; nil is all.
	named map[string]bool
}

// compares find columns that are compared for equality: ahead of an operator and behind it, in USING, and of subqueries.
var compares = []*regexp.Regexp{
	regexp.MustCompile(`(\w+) *(?:=|<=>|(?i:(?:NOT )?IN) \()`), regexp.MustCompile(`(?:=|<=>) *(?:\w+\.)*(\w+)`), regexp.MustCompile(`(?i)\bUSING \((\w+)\)`),
	regexp.MustCompile(`(?i)\(SELECT (?:\w+\.)*(\w+) FROM`),
}

// comparedRows find rows of several columns that are.
var comparedRows = regexp.MustCompile(`\(((?:\w+\.)*\w+(?:, (?:\w+\.)*\w+)+)\) *(?:=|<=>|(?i:(?:NOT )?IN) \()`)

// comparedIn are the names of the columns that a statement may compare for equality, and some more.
func comparedIn(sql string) map[string]bool {
	names := map[string]bool{}
	for _, found := range comparedRows.FindAllStringSubmatch(sql, -1) {
		for column := range strings.SplitSeq(found[1], ", ") {
			names[column[strings.LastIndexByte(column, '.')+1:]] = true
		}
	}
	for _, c := range compares {
		for _, found := range c.FindAllStringSubmatch(sql, -1) {
			names[found[1]] = true
		}
	}
	return names
}

// names find the words of a statement.
var names = regexp.MustCompile(`\w+`)

// allColumns find what asks for all columns of a table.
var allColumns = regexp.MustCompile(`(?i)(?:SELECT (?:DISTINCT |ALL )?|, |\.)\*|\bNATURAL\b`)

// namedIn are the names of the columns that a statement may name, and other words; nil where it asks for all.
func namedIn(sql string) map[string]bool {
	if allColumns.MatchString(sql) {
		return nil
	}
	named := map[string]bool{}
	for _, word := range names.FindAllString(sql, -1) {
		named[word] = true
	}
	return named
}

// columnsOf writes the columns of a copy that has no indexes of its table.
func (c *copying) columnsOf(t *table) string {
	var list []string
	for _, column := range t.columns {
		if c.named[column.name] {
			list = append(list, column.name)
		}
	}
	if c.named == nil || len(list) == 0 {
		return "*"
	}
	return strings.Join(list, ", ")
}

// indexesOf writes the indexes of a copy that has no others, "" for none.
func (c *copying) indexesOf(t *table) string {
	var list []string
	for _, column := range t.columns {
		if c.compared[column.name] && (c.named == nil || c.named[column.name]) && (column.indexable || slices.Contains(t.keys, column)) {
			list = append(list, "KEY ("+column.name+")")
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// innerTable is the table of a subquery. Its alias is the grammar's, of no other table.
var innerTable = regexp.MustCompile(`\bFROM ((?:\w+\.)?\w+) AS (x\d+)\b`)

// columnIsNull finds a condition that is never met for a column that is NOT NULL, and ends a server's search for a plan.
var columnIsNull = regexp.MustCompile(`\b(?:\w+\.)*\w+ IS NULL\b`)

// spread tells the tables that the subject collects rows of.
func spread(t *table) bool { return t.kind != reference && !t.counts() }

// whole tells the others, of which it has one that has all rows and its indexes.
func whole(t *table) bool { return !spread(t) }

// collectedPlans are what the oracle says over copies of which those of sharded tables have no indexes, or those of collected ones, with their rows in the
// orders in which the nodes may send theirs: a sum of numbers with fractions has other last digits in another order.
func (w *worker) collectedPlans(st *statement) (list []otherPlan, err error) {
	compared := comparedIn(w.oracle.render(st).sql)
	for _, c := range []copying{
		{indexed: whole},
		{indexed: whole, order: w.database.Layout.byShard},
		{indexed: whole, order: w.database.Layout.byLastNode},
		{indexed: whole, compared: compared},
		{indexed: whole, order: w.database.Layout.byShard, compared: compared},
		{indexed: whole, order: w.database.Layout.byLastNode, compared: compared},
	} {
		more, err := w.copies(st, c)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// fewRowsPlans are what the oracle says of the columns over copies with no row and with one, of all tables or of those of
// subqueries: the subject collects only rows that meet the conditions on their table.
func (w *worker) fewRowsPlans(st *statement) (list []otherPlan, err error) {
	compared := comparedIn(w.oracle.render(st).sql)
	for _, c := range []copying{
		{limited: true, indexed: whole, compared: compared}, {limited: true, limit: 1, indexed: whole, compared: compared}, {limited: true}, {limited: true, limit: 1}, {limited: true, indexed: whole}, {limited: true, limit: 1, indexed: whole},
		{inner: true}, {inner: true, indexed: whole},
		{limited: true, limit: 1, met: true}, {limited: true, met: true, indexed: whole, compared: compared}, {limited: true, limit: 1, met: true, indexed: whole, compared: compared},
	} {
		more, err := w.copies(st, c)
		if err != nil {
			return nil, err
		}
		for _, p := range more {
			p.columnsOnly = true
			list = append(list, p)
		}
	}
	return list, nil
}

// narrowPlans are what the oracle says of the columns over copies that have no more columns than the statement names, as the subject's collected tables, and
// indexes as collectedPlans has them: which table a server begins a join with is a matter of how much it reads of each.
func (w *worker) narrowPlans(st *statement) ([]otherPlan, error) {
	sql := w.oracle.render(st).sql
	list, err := w.copies(st, copying{indexed: whole, compared: comparedIn(sql), named: namedIn(sql)})
	for k := range list {
		list[k].columnsOnly = true
	}
	return list, err
}

// keylessPlans are what the oracle says over copies without indexes.
func (w *worker) keylessPlans(st *statement) ([]otherPlan, error) {
	return w.copies(st, copying{})
}

// copies are what the oracle says over copies of the tables.
func (w *worker) copies(st *statement, c copying) (list []otherPlan, err error) {
	s, err := w.copy(c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if list, err = w.variants(&s, st); err != nil {
		return nil, err
	}
	for _, p := range list {
		for k := range p.Columns {
			if p.Columns[k].Schema == s.db {
				p.Columns[k].Schema = w.oracle.db
			}
		}
	}
	return list, nil
}

// copy makes copies of the tables as they are, rows of an open transaction among them, and gives a side that has them; the
// caller closes it.
func (w *worker) copy(c copying) (side, error) {
	db := w.oracle.db + "_copy"
	texts := []string{
		"DROP DATABASE IF EXISTS " + db, "CREATE DATABASE " + db + " CHARACTER SET utf8mb4",
	}
	for _, t := range w.store.schema.tables {
		from, to := w.oracle.db+"."+t.name, db+"."+t.name
		if c.inner {
			texts = append(texts, "CREATE TABLE "+to+"_inner AS SELECT * FROM "+from+" LIMIT 1")
		}
		if c.indexed != nil && c.indexed(t) {
			texts = append(texts, "CREATE TABLE "+to+" LIKE "+from, "INSERT INTO "+to+" SELECT * FROM "+from)
			continue
		}
		text := "CREATE TABLE " + to + c.indexesOf(t) + " AS SELECT " + c.columnsOf(t) + " FROM " + from
		if c.only != nil && spread(t) {
			text += " WHERE " + c.only(t)
		}
		if c.order != nil && spread(t) {
			text += " ORDER BY " + c.order(t)
		}
		if c.limited {
			text += fmt.Sprintf(" LIMIT %d", c.limit)
		}
		texts = append(texts, text)
	}
	if err := runBatch(w.store.oracle, texts); err != nil {
		return side{}, err
	}
	s := w.oracle
	s.db, s.conn = db, nil
	if c.met {
		s.alter = func(sql string) string { return columnIsNull.ReplaceAllString(sql, "TRUE") }
	}
	if c.inner {
		s.alter = func(sql string) string { return innerTable.ReplaceAllString(sql, "FROM ${1}_inner AS $2") }
	}
	return s, nil
}

// shardOf is an expression for the shard of a row of a sharded table, which counts up with the tables of places.
func (l Layout) shardOf(t *table) string {
	switch t.kind {
	case hashed:
		return fmt.Sprintf("CAST(%s AS UNSIGNED) %% %d", t.shardKey, l.shards())
	case ranged:
		return fmt.Sprintf("%s DIV %d", t.shardKey, l.rangeLimit())
	case exactText:
		return fmt.Sprintf("CRC32(CONVERT(%s USING utf8mb4)) %% %d", t.shardKey, l.shards())
	case foldedText:
		return fmt.Sprintf("CRC32(LOWER(TRIM(TRAILING ' ' FROM CONVERT(%s USING utf8mb4)))) %% %d", t.shardKey, l.shards())
	}
	return "EXTRACT(YEAR_MONTH FROM " + t.shardKey + ")"
}

// ofShard is the condition that a row of a sharded table is in one of the shards, counted from 0.
func (l Layout) ofShard(k int) func(*table) string {
	return func(t *table) string {
		switch {
		case l.plain():
			return "TRUE"
		case t.kind == monthly:
			return fmt.Sprintf("%s = %d", l.shardOf(t), months[k])
		}
		return fmt.Sprintf("%s = %d", l.shardOf(t), k)
	}
}

// byShard sorts the rows of a sharded table by their shards, and those of one shard by their key.
func (l Layout) byShard(t *table) string {
	if l.plain() {
		return strings.Join(t.primary, ", ")
	}
	return l.shardOf(t) + ", " + strings.Join(t.primary, ", ")
}

// byLastNode sorts like byShard, but has the rows of the second node first.
func (l Layout) byLastNode(t *table) string {
	if l.plain() {
		return l.byShard(t)
	}
	second := l.Locations[0]
	if t.kind == monthly {
		second = months[l.monthsFirst()]
	}
	return fmt.Sprintf("%s < %d, %s", l.shardOf(t), second, l.byShard(t))
}
