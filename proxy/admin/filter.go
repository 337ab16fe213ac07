package admin

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kingshard/proxy/kserror"
)

// filter says which rows of a table are wanted, and in which order.
type filter struct {
	conditions []condition
	order      []ordering
	offset     int
	limit      int // -1: all
}

// condition is column op value.
type condition struct {
	column int
	op     string // = <> < <= > >=, like, not like, is null, is not null
	value  string
}

type ordering struct {
	column     int
	descending bool
}

// filter reads [LIKE 'x'] [WHERE col op value [AND ...]] [ORDER BY col [DESC], ...] [LIMIT n[,m]] up to the end.
func (r *reader) filter(t *table) (filter, error) {
	f := filter{limit: -1}
	if r.Word("like") {
		value, ok := r.Value()
		if !ok {
			return f, r.Expected("a pattern")
		}
		f.conditions = append(f.conditions, condition{t.column(t.like), "like", value})
	}
	if r.Word("where") {
		for {
			c, err := r.condition(t)
			if err != nil {
				return f, err
			}
			f.conditions = append(f.conditions, c)
			if !r.Word("and") {
				break
			}
		}
	}
	if r.Word("order") {
		if !r.Word("by") {
			return f, r.Expected("BY")
		}
		for {
			column, err := r.column(t)
			if err != nil {
				return f, err
			}
			o := ordering{column: column, descending: r.Word("desc")}
			if !o.descending {
				r.Word("asc")
			}
			f.order = append(f.order, o)
			if !r.Op(",") {
				break
			}
		}
	}
	if r.Word("limit") {
		if err := r.limit(&f); err != nil {
			return f, err
		}
	}
	return f, r.End()
}

// limit reads n, offset,n or n OFFSET offset.
func (r *reader) limit(f *filter) error {
	n, ok := r.Number()
	if !ok {
		return r.Expected("a number of rows")
	}
	offset := uint64(0)
	switch {
	case r.Op(","):
		offset = n
		if n, ok = r.Number(); !ok {
			return r.Expected("a number of rows")
		}
	case r.Word("offset"):
		if offset, ok = r.Number(); !ok {
			return r.Expected("a number of rows")
		}
	}
	f.limit, f.offset = int(min(n, math.MaxInt32)), int(min(offset, math.MaxInt32))
	return nil
}

func (r *reader) column(t *table) (int, error) {
	before := *r
	name, ok := r.Name()
	if !ok {
		return 0, r.Expected("a column")
	}
	k := t.column(name)
	if k < 0 {
		return 0, before.Expected("a column of " + strings.ToUpper(t.name) + " (" + t.columnNames() + ")")
	}
	return k, nil
}

func (r *reader) condition(t *table) (condition, error) {
	column, err := r.column(t)
	if err != nil {
		return condition{}, err
	}
	c := condition{column: column}
	switch {
	case r.Word("is"):
		c.op = "is null"
		if r.Word("not") {
			c.op = "is not null"
		}
		if !r.Word("null") {
			return c, r.Expected("NULL")
		}
		return c, nil
	case r.Word("like"):
		c.op = "like"
	case r.Word("not"):
		if !r.Word("like") {
			return c, r.Expected("LIKE")
		}
		c.op = "not like"
	default:
		for _, op := range []string{"=", "!=", "<>", "<", "<=", ">", ">="} {
			if r.Op(op) {
				c.op = op
				break
			}
		}
		if c.op == "!=" {
			c.op = "<>"
		}
	}
	if c.op == "" {
		return c, r.Expected("=, <>, <, <=, >, >=, LIKE, NOT LIKE or IS [NOT] NULL")
	}
	var ok bool
	if c.value, ok = r.Value(); !ok {
		return c, r.Expected("a value")
	}
	if c.op != "like" && c.op != "not like" && t.columns[column].numeric {
		if _, err := strconv.ParseFloat(c.value, 64); err != nil {
			return c, kserror.New(kserror.AdminSyntax, fmt.Sprintf("column %s is compared with a number, not with %q", t.columns[column].name, c.value))
		}
	}
	return c, nil
}

// apply gives the rows that are wanted. It changes the list.
func (f *filter) apply(t *table, rows [][]any) [][]any {
	rows = slices.DeleteFunc(rows, func(row []any) bool {
		return !f.wants(t, row)
	})
	if len(f.order) > 0 {
		slices.SortStableFunc(rows, func(a, b []any) int {
			for _, o := range f.order {
				order := compareCells(a[o.column], b[o.column], t.columns[o.column].numeric)
				if o.descending {
					order = -order
				}
				if order != 0 {
					return order
				}
			}
			return 0
		})
	}
	rows = rows[min(f.offset, len(rows)):]
	if f.limit >= 0 {
		rows = rows[:min(f.limit, len(rows))]
	}
	return rows
}

func (f *filter) wants(t *table, row []any) bool {
	return !slices.ContainsFunc(f.conditions, func(c condition) bool { return !c.holds(row[c.column], t.columns[c.column].numeric) })
}

// holds compares as MySQL does by default: numbers as numbers, texts without regard to case, NULL with nothing.
func (c *condition) holds(cell any, numeric bool) bool {
	text, null := cellText(cell)
	switch c.op {
	case "is null":
		return null
	case "is not null":
		return !null
	}
	if null {
		return false
	}
	switch c.op {
	case "like":
		return like(text, c.value)
	case "not like":
		return !like(text, c.value)
	}
	value := c.value
	if _, is := cell.(bool); is {
		value, _ = cellText(strings.EqualFold(value, "yes") || strings.EqualFold(value, "true") || value == "1")
	}
	order := compareTexts(text, value, numeric)
	switch c.op {
	case "=":
		return order == 0
	case "<>":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// compareCells puts NULL first, as MySQL does.
func compareCells(a, b any, numeric bool) int {
	x, xNull := cellText(a)
	y, yNull := cellText(b)
	switch {
	case xNull && yNull:
		return 0
	case xNull:
		return -1
	case yNull:
		return 1
	}
	return compareTexts(x, y, numeric)
}

// compareTexts compares numbers, which are in both if numeric is set, or texts without regard to case.
func compareTexts(a, b string, numeric bool) int {
	if numeric {
		if x, err := strconv.ParseInt(a, 10, 64); err == nil {
			if y, err := strconv.ParseInt(b, 10, 64); err == nil {
				return cmp.Compare(x, y)
			}
		}
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	}
	return cmp.Compare(strings.ToLower(a), strings.ToLower(b))
}

// like compares with a pattern of LIKE without regard to case: % is any text, _ one character, \ takes the next as it is.
func like(text, pattern string) bool {
	t, p := []rune(strings.ToLower(text)), []rune(strings.ToLower(pattern))
	// Where the last % was met, and how far the text had come: the text after it is tried again from one character on.
	star, mark := -1, 0
	i, k := 0, 0
	for i < len(t) {
		switch {
		case k < len(p) && p[k] == '%':
			star, mark = k, i
			k++
		case k < len(p) && p[k] == '\\' && k+1 < len(p) && p[k+1] == t[i]:
			k += 2
			i++
		case k < len(p) && (p[k] == '_' || p[k] == t[i] && !(p[k] == '\\' && k+1 < len(p))):
			k++
			i++
		case star >= 0:
			mark++
			k, i = star+1, mark
		default:
			return false
		}
	}
	for k < len(p) && p[k] == '%' {
		k++
	}
	return k == len(p)
}
