package session

import (
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// Tables that are collected to finish a statement on one server are collected in turns, the small ones first, and of the others only those rows that may meet a row which is there
// already: the values of the columns on which they meet go to the shards as lists. It is what is known as a semi-join reduction: Bernstein and Chiu, "Using Semi-Joins to Solve
// Relational Queries", 1981.

// reduceMax is how many values a list has at the most.
const reduceMax = 50_000

// reduceBytes is how long the lists in one statement for a server are at the most: each sub-table that it reads has them.
const reduceBytes = 1 << 20

// What is assumed of rows where servers do not know: that a condition leaves one of four, and a list of values one of twenty.
const (
	conditionLeaves = 4
	listLeaves      = 20
)

// unknownRows puts a table whose rows no server estimates behind those of which one does.
const unknownRows = 1e6

// reducing is the order in which the tables of a finishing are collected.
type reducing struct {
	f     *finishing
	left  []*plan.Scratch
	rows  map[*plan.Scratch]float64 // as servers estimate, as far as they were asked
	there map[*plan.Ref]string      // the table that has the rows of a reference
	rest  map[*plan.Ref]*plan.Scratch
	// ordered says that servers are asked which table has the fewest rows; first is that table, if it is known.
	ordered bool
	first   *plan.Scratch
}

// reduce prepares to collect these tables. Nothing is asked of servers where none can be reduced.
func (f *finishing) reduce(scratches []plan.Scratch) *reducing {
	r := &reducing{f: f, rows: map[*plan.Scratch]float64{}, there: map[*plan.Ref]string{}, rest: map[*plan.Ref]*plan.Scratch{}}
	some := false
	for k := range scratches {
		r.left = append(r.left, &scratches[k])
		some = some || len(scratches[k].Reductions) > 0
	}
	if !some {
		return r
	}
	for k := range f.route.Rest {
		// On a connection beside the transaction what that has changed of the table is not seen; it is collected, too, then.
		if s := &f.route.Rest[k]; s.Values != nil && !f.aside {
			r.rest[s.Ref] = s
		}
	}
	r.ordered = len(r.left) > 1
	return r
}

// next takes the table that is to be collected next: the one of the fewest rows, as far as is known.
func (r *reducing) next() (*plan.Scratch, error) {
	s, err := r.fewest()
	if err != nil {
		return nil, err
	}
	at := slices.Index(r.left, s)
	r.left, r.first = append(r.left[:at], r.left[at+1:]...), nil
	return s, nil
}

// fewest is the table that next takes.
func (r *reducing) fewest() (*plan.Scratch, error) {
	if r.first != nil {
		return r.first, nil
	}
	at, fewest := 0, 0.0
	if r.ordered && len(r.left) > 1 {
		for k, s := range r.left {
			rows, err := r.estimate(s)
			if err != nil {
				return nil, err
			}
			if r.reducible(s) {
				rows /= listLeaves
			}
			if k == 0 || rows < fewest {
				at, fewest = k, rows
			}
		}
	}
	at, err := r.lookedCloser(at, fewest)
	if err != nil {
		return nil, err
	}
	r.first = r.left[at]
	return r.first, nil
}

// manyRows is from how many rows on it is worth a question to a server whether another table that would reduce them has fewer.
const manyRows = 1000

// lookedCloser takes another table than that at a place where all of its rows would be collected, if another one that would reduce them has conditions and, as a server counts, fewer rows: what
// conditions leave is only assumed.
func (r *reducing) lookedCloser(at int, rows float64) (int, error) {
	all := r.left[at]
	if rows < manyRows || all.Conditions > 0 || r.reducible(all) || !r.f.plan.ReadOnly {
		return at, nil
	}
	for k, s := range r.left {
		if s.Conditions == 0 || !slices.ContainsFunc(all.Reductions, func(n plan.Reduction) bool { return n.By == s.Ref }) || r.reducible(s) {
			continue
		}
		shards := 0
		for k := range s.Queries {
			shards += len(s.Queries[k].Shards)
		}
		share := float64(shards) / float64(max(1, len(s.Queries[0].Shards)))
		n, err := r.count(&s.Queries[0], int(rows/share)+1)
		if err != nil {
			return at, err
		}
		if n *= share; n < rows {
			r.rows[s], at, rows = n, k, n
		}
	}
	return at, nil
}

// count returns how many rows a query gives, up to most.
func (r *reducing) count(q *plan.Query, most int) (rows float64, err error) {
	text, err := r.f.literals(q)
	if err != nil {
		return 0, err
	}
	rows = float64(most)
	err = r.on(q).Conn.RawRowsWith(r.f.s.client.task().query.attributes, "SELECT COUNT(*) FROM ("+text+" LIMIT "+strconv.Itoa(most)+") AS ks_rows", func(_ []mysql.ColumnDefinition41, cells []value.Cell) {
		rows, _ = strconv.ParseFloat(string(cells[0]), 64)
	})
	if _, refused := err.(*mysql.SQLError); refused && !r.f.s.client.entry.IsCancelled() {
		return float64(most), nil
	}
	return rows, err
}

// on returns the connection of a query.
func (r *reducing) on(q *plan.Query) *txn.Lease {
	if q.Node == r.f.last.Node {
		return r.f.last
	}
	return txn.Find(r.f.loans, q.Node)
}

// reducible reports whether something that s can be reduced by is there.
func (r *reducing) reducible(s *plan.Scratch) bool {
	for _, n := range s.Reductions {
		if r.there[n.By] != "" || r.rest[n.By] != nil {
			return true
		}
	}
	return false
}

// estimate returns about how many rows of s are collected, if nothing reduces them.
func (r *reducing) estimate(s *plan.Scratch) (float64, error) {
	if rows, known := r.rows[s]; known {
		return rows, nil
	}
	rows, shards := 0.0, 0
	for k := range s.Queries {
		shards += len(s.Queries[k].Shards)
	}
	if len(s.Queries) > 0 && s.Like == nil {
		n, known, err := r.explained(s, &s.Queries[0])
		if err != nil {
			return 0, err
		}
		if !known {
			n = unknownRows
		}
		rows = n * float64(shards) / float64(max(1, len(s.Queries[0].Shards)))
		for range s.Conditions {
			rows /= conditionLeaves
		}
	}
	r.rows[s] = rows
	return rows, nil
}

// explained returns how many rows of s a server expects to look at for a query; known is false where it does not tell.
func (r *reducing) explained(s *plan.Scratch, q *plan.Query) (rows float64, known bool, err error) {
	text, err := r.f.literals(q)
	if err != nil {
		return 0, false, err
	}
	err = r.on(q).Conn.RawRowsWith(r.f.s.client.task().query.attributes, "EXPLAIN FORMAT=TRADITIONAL "+text, func(definitions []mysql.ColumnDefinition41, cells []value.Cell) {
		own, n := false, 0.0
		for k := range definitions {
			switch {
			case strings.EqualFold(definitions[k].Name, "table"):
				own = strings.EqualFold(string(cells[k]), s.Ref.Parsed.Label())
			case strings.EqualFold(definitions[k].Name, "rows"):
				n, _ = strconv.ParseFloat(string(cells[k]), 64)
			}
		}
		if own { // others are of subqueries
			rows += n
		}
	})
	if _, refused := err.(*mysql.SQLError); refused {
		if r.f.s.client.entry.IsCancelled() {
			return 0, false, interrupted()
		}
		return 0, false, nil // who may not explain may still read
	}
	return rows, true, err
}

// queries returns the queries that collect s, with the rows reduced by what is there.
func (r *reducing) queries(s *plan.Scratch) (queries []plan.Query, reduced bool, err error) {
	var lists []valueList
	for _, n := range s.Reductions {
		values, few, err := r.values(n)
		if err != nil {
			return nil, false, err
		}
		if column, ok := sqltext.QuoteIdent(n.Column, r.f.plan.Mode); ok && few && r.fewer(len(values), s) {
			lists = append(lists, valueList{column, values})
		}
	}
	if len(lists) == 0 {
		return s.Queries, false, nil
	}
	slices.SortStableFunc(lists, func(a, b valueList) int { return len(a.values) - len(b.values) })
	var conditions []string
	tables, room := 1, reduceBytes
	for k := range s.Queries {
		tables = max(tables, len(s.Queries[k].Shards))
	}
	for k, l := range lists {
		condition := l.condition(k == 0)
		if size := len(condition) * tables; size <= room { // each table has it in its own part of the text
			conditions = append(conditions, condition)
			room -= size
		}
	}
	if len(conditions) == 0 {
		return s.Queries, false, nil
	}
	return s.Reduced(strings.Join(conditions, " AND ")), true, nil
}

// fewer reports whether values are fewer than the rows of s that they would reduce, as far as these are known: of a single table nobody was asked.
func (r *reducing) fewer(values int, s *plan.Scratch) bool {
	rows, known := r.rows[s]
	return !known || float64(values) <= rows
}

// valueList are the values of a column, as literals, that rows have to have.
type valueList struct {
	column string
	values []string
}

// condition writes it. Of several lists an index serves one: MySQL would look at each combination of the values of all columns of an index.
func (l valueList) condition(indexed bool) string {
	switch {
	case len(l.values) == 0:
		return "1 = 0"
	case indexed:
		return l.column + " IN (" + strings.Join(l.values, ", ") + ")"
	}
	return "COALESCE(" + l.column + ") IN (" + strings.Join(l.values, ", ") + ")"
}

// values returns those of the column by which rows are reduced, as literals; few is false if there are too many, or the rows are not there.
func (r *reducing) values(n plan.Reduction) (list []string, few bool, err error) {
	text := ""
	if table := r.there[n.By]; table != "" {
		column, ok := sqltext.QuoteIdent(n.ByColumn, r.f.plan.Mode)
		if !ok {
			return nil, false, nil
		}
		text = "SELECT DISTINCT " + column + " FROM " + table
	} else if rest := r.rest[n.By]; rest != nil {
		query := rest.Values(n.ByColumn)
		if sqltext.Mentions(query.Text, "mysql_query_attribute_string") {
			return nil, false, nil
		}
		if text, err = r.f.literals(&query); err != nil {
			return nil, false, err
		}
	} else {
		return nil, false, nil
	}
	restore, err := r.f.s.shards.ownCharsets(r.f.last.Pooled)
	if err != nil {
		return nil, false, err
	}
	rows, plain := 0, true
	err = restore(r.f.last.Conn.RawRowsWith(nil, text+" LIMIT "+strconv.Itoa(reduceMax+1), func(definitions []mysql.ColumnDefinition41, cells []value.Cell) {
		rows++
		if cells[0] == nil { // which equals nothing
			return
		}
		literal := string(cells[0])
		switch d := &definitions[0]; {
		case d.Type == mysql.TypeDate && !strings.Contains(literal, "-00") && !strings.HasPrefix(literal, "0000"): // servers take such a text for no date
			literal = "'" + literal + "'"
		case !plan.PlainNumber(d):
			plain = false
		}
		list = append(list, literal)
	}))
	if _, refused := err.(*mysql.SQLError); refused && !r.f.s.client.entry.IsCancelled() {
		return nil, false, nil // as where max_join_size does not let it look at so much
	}
	return list, plain && rows <= reduceMax, err
}
