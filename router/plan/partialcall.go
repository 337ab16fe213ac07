package plan

import (
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
)

// aggregate takes an aggregate call. alone says that it is all of its expression.
func (m *partialMaker) aggregate(p sqlparse.Piece, e *sqlparse.Expr, in clause, alone bool) bool {
	if in != inItems && !m.ofTables(e) {
		return false
	}
	if e.Distinct && e.Name != "min" && e.Name != "max" {
		if e.Name == "avg" && !alone && len(m.refs) > 1 && !m.double(e.Args[0]) {
			return false // rounded within an expression where a join is grouped in a temporary table, and not where one table is
		}
		return m.distinct(p, e)
	}
	if e.Ordered || len(e.Args) != 1 && e.Name != "count" {
		return false
	}
	for _, arg := range e.Args {
		if !m.pushable(arg, p.Inside) {
			return false
		}
	}
	switch e.Name {
	case "count":
		m.replace(p.Span, "CAST(COALESCE(SUM("+m.part(partialPart{span: p.Span, shown: p.Span})+"), 0) AS SIGNED)")
	case "sum":
		if !m.number(e.Args[0]) || !m.precision.addsUp(e.Args[0]) {
			return false
		}
		m.replace(p.Span, "SUM("+m.part(partialPart{span: p.Span, shown: p.Inside})+")")
	case "avg":
		if !m.number(e.Args[0]) || !m.precision.addsUp(e.Args[0]) || (!alone || in == inHaving) && !m.double(e.Args[0]) {
			return false
		}
		sum := m.part(partialPart{before: "SUM(", span: p.Inside, behind: ")", shown: p.Inside})
		count := m.part(partialPart{before: "COUNT(", span: p.Inside, behind: ")", shown: p.Inside})
		m.replace(p.Span, "(SUM("+sum+") / NULLIF(SUM("+count+"), 0))")
	case "min", "max":
		part := partialPart{span: p.Span, shown: p.Inside}
		if d := m.scope.definition(e.Args[0]); d != nil {
			if kindOf(d) == otherKind || d.Type == mysql.TypeBit {
				return false
			}
			part.whole = d.Type == mysql.TypeFloat
			if d.Type == mysql.TypeTimestamp && m.mode.MariaDB {
				return false // it compares instants, and puts local times into tables; MySQL does both by local time
			}
		} else if e.Args[0].Op != sqlparse.Call || !m.fixedForm(e.Args[0]) || m.isYear(e.Args[0]) {
			return false
		}
		m.replace(p.Span, e.Name+"("+m.part(part)+")")
	case "bit_and", "bit_or", "bit_xor":
		d := m.scope.definition(e.Args[0])
		if d == nil || !isInteger(d) {
			return false
		}
		m.replace(p.Span, e.Name+"("+m.part(partialPart{span: p.Span, shown: p.Inside})+")")
	default:
		return false
	}
	return true
}

// distinct takes an aggregate of distinct values: the shards group by the columns in it, too, and the call stays.
func (m *partialMaker) distinct(p sqlparse.Piece, e *sqlparse.Expr) bool {
	pieces, ok := sqlparse.Pieces(m.text, p.Inside, partialCalls, m.mode)
	if !ok {
		return false
	}
	if len(e.Args) == 1 && !e.Ordered && e.Name == "count" && e.Args[0].Op == sqlparse.Call {
		// Grouped by what it counts: equal texts may differ in it.
		if k := m.key(e.Args[0], p.Inside); k >= 0 {
			m.replace(p.Inside, " "+keyName(k))
			return true
		}
	}
	var columns []*sqlparse.Expr
	for _, arg := range e.Args {
		if arg.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify, sqlparse.Position) {
			return false
		}
		c, _ := partsOf(arg)
		columns = append(columns, c...)
		for _, column := range c {
			if !m.alike(column, arg == column && e.Name != "sum" && e.Name != "avg") {
				return false
			}
		}
	}
	if len(columns) == 0 {
		return false // the shards have a row each, in which a constant would be, where none has rows
	}
	for _, piece := range pieces {
		for _, c := range columns {
			if !isNamed(piece, c) {
				continue
			}
			k := m.key(c, piece.Span)
			if k < 0 {
				return false
			}
			m.replace(piece.Span, keyName(k))
			break
		}
	}
	return true
}

// alike tells whether rows that are equal in a column are so in what an aggregate makes of it. As itself, plain, a text is
// compared by its collation; a function, a number or another collation may tell equal texts apart, and -0 from 0.
func (m *partialMaker) alike(column *sqlparse.Expr, plain bool) bool {
	d := m.scope.definition(column)
	if d == nil {
		return false
	}
	switch kindOf(d) {
	case plainKind:
		return plain || d.Type != mysql.TypeFloat && d.Type != mysql.TypeDouble
	case textKind:
		return plain
	}
	return true // an ENUM or SET is grouped by its number
}

// ofTables tells whether all names in an aggregate are columns of the tables and of nothing else.
func (m *partialMaker) ofTables(e *sqlparse.Expr) bool {
	return e.All(func(x *sqlparse.Expr) bool {
		f := m.alias(x)
		return x.Op != sqlparse.Column || m.scope.definition(x) != nil && (f == nil || same(f.Expr, x))
	})
}

// part adds an aggregate of the shards and gives its column's name.
func (m *partialMaker) part(p partialPart) string {
	for k, other := range m.shape.parts {
		if other.before == p.before && sqlparse.SameText(m.text, other.span, p.span, m.mode) {
			return partName(k)
		}
	}
	m.shape.parts = append(m.shape.parts, p)
	return partName(len(m.shape.parts) - 1)
}

// pushable tells whether the shards may compute an expression, and notes whether it has parameters. A division by 0 is one
// that the server which finishes would have to warn of.
func (m *partialMaker) pushable(e *sqlparse.Expr, span sqlparse.Span) bool {
	for _, at := range m.params {
		m.shape.bound = m.shape.bound || at >= span.Pos && at < span.End
	}
	quiet := func(x *sqlparse.Expr) bool {
		return x.Op != sqlparse.Call || !divides[x.Name] || len(x.Args) == 2 && (x.Args[1].Op == sqlparse.Param || isNumeral(x.Args[1]))
	}
	return e.All(quiet) && stable(e) && !e.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify, sqlparse.Variable, sqlparse.Window,
		sqlparse.Aggregate, sqlparse.Position, sqlparse.Default, sqlparse.Values)
}

// isAverage tells whether an expression is a call of AVG and no more.
func isAverage(e *sqlparse.Expr) bool {
	return e.Op == sqlparse.Aggregate && e.Name == "avg" && !e.Distinct && len(e.Args) == 1
}

// double tells whether the average of an expression is not rounded: servers round one of exact numbers where it is shown or
// sorted by, and no sooner, but they round a quotient of sums at once.
func (m *partialMaker) double(e *sqlparse.Expr) bool {
	d := m.scope.definition(e)
	return d != nil && (d.Type == mysql.TypeDouble || d.Type == mysql.TypeFloat) && d.Decimals == notFixed
}

// notFixed in a definition of a DOUBLE says that it has no fixed number of decimals.
const notFixed = 31

func isInteger(d *mysql.ColumnDefinition41) bool {
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong:
		return true
	}
	return false
}

func isNumber(d *mysql.ColumnDefinition41) bool {
	switch d.Type {
	case mysql.TypeDecimal, mysql.TypeNewDecimal, mysql.TypeFloat, mysql.TypeDouble, mysql.TypeYear:
		return true
	}
	return isInteger(d)
}

// chosen are functions that give one of their arguments.
var chosen = map[string]bool{"": true, "if": true, "ifnull": true, "coalesce": true, "nullif": true, "greatest": true, "least": true}

// number tells whether adding up an expression needs no conversion, of which a server would warn once for each row.
func (m *partialMaker) number(e *sqlparse.Expr) bool {
	switch e.Op {
	case sqlparse.Column:
		d := m.scope.definition(e)
		return d != nil && isNumber(d)
	case sqlparse.Const:
		return e.Value.IsNull() || isNumeral(e)
	case sqlparse.Param:
		return true
	case sqlparse.Call:
		if !numeric[e.Name] && !chosen[e.Name] {
			return false
		}
		for _, arg := range e.Args {
			if !m.number(arg) && (chosen[e.Name] || arithmetic[e.Name]) {
				return false
			}
		}
		return true
	}
	return truths[e.Op]
}

// isYear tells of MySQL's YEAR(), whose type no column has that holds all its values: one of YEAR has those of 1901 to 2155, and
// a BIGINT UNSIGNED, which CREATE TABLE ... SELECT makes of it, gives COALESCE(MIN(YEAR(c)), 0) another type.
func (m *partialMaker) isYear(e *sqlparse.Expr) bool {
	return e.Op == sqlparse.Call && e.Name == "year" && !m.mode.MariaDB
}

// isNumeral tells whether an expression is a number as written.
func isNumeral(e *sqlparse.Expr) bool {
	if e.Op != sqlparse.Const {
		return false
	}
	switch e.Value.Kind() {
	case value.Int, value.Uint, value.Decimal, value.Float:
		return true
	}
	return false
}

// arithmetic are functions whose arguments are numbers, too; divides are those of a divisor.
var (
	arithmetic = map[string]bool{
		"plus": true, "minus": true, "mul": true, "div": true, "intdiv": true, "mod": true, "neg": true, "abs": true, "floor": true, "ceil": true,
		"ceiling": true, "round": true, "sign": true, "sqrt": true, "pow": true, "power": true, "bit_count": true,
	}
	divides = map[string]bool{"div": true, "intdiv": true, "mod": true}
)

// truths are the operations that give 0, 1 or NULL.
var truths = map[sqlparse.Op]bool{
	sqlparse.And: true, sqlparse.Or: true, sqlparse.Xor: true, sqlparse.Not: true, sqlparse.Eq: true, sqlparse.NullSafeEq: true, sqlparse.Ne: true,
	sqlparse.Lt: true, sqlparse.Le: true, sqlparse.Gt: true, sqlparse.Ge: true, sqlparse.In: true, sqlparse.Between: true, sqlparse.IsNull: true,
}

// unchanged are functions whose values look the same when they come from a column, and have the type that the result of a
// grouping gives them.
var unchanged = map[string]bool{
	"plus": true, "minus": true, "mul": true, "div": true, "abs": true,
	"year": true, "quarter": true, "month": true, "week": true, "weekday": true, "day": true, "dayofmonth": true, "dayofweek": true,
	"dayofyear": true, "hour": true, "minute": true, "second": true,
	"upper": true, "lower": true, "ucase": true, "lcase": true, "left": true, "right": true, "substring": true, "substr": true, "mid": true,
	"concat": true, "hex": true, "date": true, "date_format": true, "monthname": true, "dayname": true, "last_day": true,
}

// fixedForm tells whether the values of an expression look the same when they went through a column: IF(a, 1.5, -1) shows
// -1, and -1.0 then.
func (m *partialMaker) fixedForm(e *sqlparse.Expr) bool {
	return e.All(func(x *sqlparse.Expr) bool {
		switch x.Op {
		case sqlparse.Column:
			d := m.scope.definition(x)
			return d != nil && kindOf(d) != otherKind && d.Type != mysql.TypeBit
		case sqlparse.Const, sqlparse.Param:
			return x != e
		case sqlparse.Call: // of texts the servers warn for each row
			return unchanged[x.Name] && m.precision.fits(x) && (!arithmetic[x.Name] || !slices.ContainsFunc(x.Args, func(arg *sqlparse.Expr) bool { return !m.number(arg) }))
		}
		return false
	})
}
