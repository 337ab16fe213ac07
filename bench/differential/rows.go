package differential

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// compareRows compares rows as far as the statement fixes them.
func compareRows(st *statement, oracle, subject *mysqltest.RawResult) *Difference {
	if len(oracle.Columns) != len(subject.Columns) {
		return differ("rows", "%d columns, but %d", len(oracle.Columns), len(subject.Columns))
	}
	if len(oracle.Rows) != len(subject.Rows) {
		return differ("rows", "%d rows, but %d", len(oracle.Rows), len(subject.Rows))
	}
	columns := slices.Clone(oracle.Columns)
	for k := range columns {
		if subject.Columns[k].Type == mysql.TypeBit {
			columns[k].Type = mysql.TypeBit // a number, where the row went through a temporary table
		}
	}
	var want, got []string
	for k := range oracle.Rows {
		want = append(want, st.canonical(columns, oracle.Rows[k]))
		got = append(got, st.canonical(columns, subject.Rows[k]))
	}
	if st.ordered() {
		return firstDifference("order", want, got)
	}
	if d := st.compareKeys(oracle, subject); d != nil || st.cut() {
		return d
	}
	slices.Sort(want)
	slices.Sort(got)
	return firstDifference("rows", want, got)
}

// firstDifference compares rows one by one. Rows that are the same in another order make a difference of the kind given.
func firstDifference(kind string, want, got []string) *Difference {
	for k := range want {
		if want[k] == got[k] {
			continue
		}
		a, b := slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
		if !slices.Equal(a, b) {
			kind = "rows"
		}
		return differ(kind, "row %d: %s, but %s", k+1, want[k], got[k])
	}
	return nil
}

// compareKeys compares the columns by which rows are sorted, where ORDER BY fixes no more.
func (s *statement) compareKeys(oracle, subject *mysqltest.RawResult) *Difference {
	if !s.order.present() {
		return nil
	}
	for i := range oracle.Columns {
		if !slices.Contains(s.keys, oracle.Columns[i].Name) {
			continue
		}
		for k := range oracle.Rows {
			if want, got := oracle.Rows[k][i], subject.Rows[k][i]; want != got {
				return differ("order", "row %d: key %v, but %v", k+1, want, got)
			}
		}
	}
	return nil
}

// amongOpen tells whether rows are among those of the statement without ORDER BY and LIMIT, and in its order: row by row they
// have want's values in every column whose values are the same with these clauses and without.
func (s *statement) amongOpen(want, open, got *mysqltest.RawResult) bool {
	if len(got.Columns) != len(open.Columns) || len(got.Columns) != len(want.Columns) || len(got.Rows) != len(want.Rows) {
		return false
	}
	all := func(r *mysqltest.RawResult, from, to int) (list []string) {
		for _, row := range r.Rows {
			list = append(list, s.canonical(open.Columns[from:to], row[from:to]))
		}
		return list
	}
	width := len(open.Columns)
	if !containsAll(all(open, 0, width), all(got, 0, width)) {
		return false
	}
	for k := range width {
		if w := all(want, k, k+1); containsAll(all(open, k, k+1), w) && !slices.Equal(w, all(got, k, k+1)) {
			return false
		}
	}
	return true
}

// containsAll tells whether a list has all members of another, each as many times.
func containsAll(list, other []string) bool {
	left := map[string]int{}
	for _, v := range list {
		left[v]++
	}
	for _, v := range other {
		if left[v]--; left[v] < 0 {
			return false
		}
	}
	return true
}

// canonical writes a row so that rows that are equally right are written alike.
func (s *statement) canonical(columns []mysql.ColumnDefinition41, row []any) string {
	cells := make([]string, len(row))
	for k, cell := range row {
		v, ok := cell.(string)
		if !ok {
			cells[k] = "NULL"
			continue
		}
		if strings.HasPrefix(columns[k].Name, bag) {
			v = sortedBag(v, s.folds)
		}
		if strings.HasPrefix(columns[k].Name, sequence) && s.folds {
			members := strings.Split(v, ",")
			for i := range members {
				members[i] = fold(members[i])
			}
			v = strings.Join(members, ",")
		}
		if s.folds && (columns[k].Charset != binaryCharset || columns[k].Type == mysql.TypeJSON) {
			v = fold(v)
		}
		if !s.next {
			v = nextID.ReplaceAllString(v, "$1")
		}
		if columns[k].Type == mysql.TypeBit {
			v = bitNumber(v)
		}
		if s.inexact && (columns[k].Type == mysql.TypeDouble || columns[k].Type == mysql.TypeFloat) {
			v = rounded(v)
		}
		cells[k] = strconv.Quote(v)
	}
	return strings.Join(cells, " ")
}

// nextID finds what SHOW CREATE TABLE says of the ids that the proxy draws: it is the first shard's.
var nextID = regexp.MustCompile("(?s)^(CREATE TABLE [`\"]i[1-4][`\"] .*) AUTO_INCREMENT=[0-9]+")

// plainRow writes a row as it is.
func plainRow(row []any) string {
	cells := make([]string, len(row))
	for k, cell := range row {
		cells[k] = "NULL"
		if v, ok := cell.(string); ok {
			cells[k] = strconv.Quote(v)
		}
	}
	return strings.Join(cells, " ")
}

// binaryCharset is the number of the character set of bytes and numbers.
const binaryCharset = 63

// swappedComma is a comma and a space in JSON that MariaDB has made of texts in ucs2, with the bytes of each character the other way round: no JSON.
const swappedComma = "\u2c00\u2000"

// sortedBag sorts the members of a list, which is JSON or has commas between them. Members that fold alike are written
// alike.
func sortedBag(v string, folds bool) string {
	members := strings.Split(v, ",")
	if strings.Contains(v, swappedComma) {
		members = strings.Split(v, "")
	}
	var array []any
	if strings.HasPrefix(v, "[") && json.Unmarshal([]byte(v), &array) == nil {
		members = members[:0]
		for _, e := range array {
			b, err := json.Marshal(e)
			if err != nil {
				return v
			}
			members = append(members, string(b))
		}
	}
	var object map[string]any
	if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &object) == nil {
		if b, err := json.Marshal(object); err == nil { // with its keys in order
			return string(b)
		}
	}
	if folds {
		for k := range members {
			members[k] = fold(members[k])
		}
	}
	slices.Sort(members)
	return strings.Join(members, ",")
}

// offTies moves numbers a little: those that end in the middle between two of nine digits, as sums and squares of quarters do,
// would else be rounded up or down by an error in their last digit.
const offTies = 1 + 3e-11

// rounded gives nine digits of a number, and 0 for what is nothing but an error of rounding.
func rounded(v string) string {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return v
	}
	if math.Abs(f) < 1e-9 {
		f = 0
	}
	return strconv.FormatFloat(f*offTies, 'g', 9, 64)
}

// bitNumber writes a BIT value as a number. MariaDB shows it as bytes or as digits: one row of seed 100007, after 876
// statements, was "1" in an answer sorted through a temporary table, and "\x01" in the same answer of the same server later.
// No value of the tables has bytes that are digits.
func bitNumber(v string) string {
	if n, err := strconv.ParseUint(v, 10, 64); err == nil {
		return strconv.FormatUint(n, 10)
	}
	var n uint64
	for _, b := range []byte(v) {
		n = n<<8 | uint64(b)
	}
	return strconv.FormatUint(n, 10)
}
