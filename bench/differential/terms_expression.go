package differential

import (
	"fmt"
	"strings"
)

// expression makes an expression whose value is exact on every server and of which no argument can be out of range.
func (g *terms) expression(sc scope) *part {
	switch g.IntN(5) {
	case 0, 1:
		return g.numberExpression(sc)
	case 2:
		return g.textExpression(sc)
	case 3:
		return g.logicalExpression(sc)
	}
	return g.typedExpression(sc)
}

// around writes pieces of text around a part.
func around(before string, p *part, behind string) *part {
	return join(words(before), p, words(behind))
}

func (g *terms) numberExpression(sc scope) *part {
	src, c := g.column(sc, (*column).sortable)
	col := sc.columnOf(src, c)
	a, s, d := sc.columnOf(src, src.column("a")), sc.columnOf(src, src.column("s")), sc.columnOf(src, src.column("d"))
	switch g.IntN(16) {
	case 0:
		return phrase(a, words("+"), constant(intValue(int64(g.IntN(5)))))
	case 1:
		return phrase(a, words("* 2 -"), d)
	case 2:
		return around("LENGTH(", col, ")")
	case 3:
		return around("COALESCE(", a, ", 0)")
	case 4:
		return around("CHAR_LENGTH(", s, ")")
	case 5:
		return phrase(a, words(pickOne(g.dice, []string{"/ 2", "DIV 2", "% 3", "/ 4.0"})))
	case 6:
		return around("IF(", a, " > 1, 1.5, -1)")
	case 7:
		return around("ABS(", d, ")")
	case 8:
		return around("NULLIF(", a, ", 2)")
	case 9:
		return join(words(pickOne(g.dice, []string{"GREATEST(", "LEAST("})), a, words(", 3)"))
	case 10:
		return around("CAST(", a, pickOne(g.dice, []string{" AS DECIMAL(10,2))", " AS SIGNED)", " AS CHAR)"}))
	case 11:
		return join(words(pickOne(g.dice, []string{"ROUND(", "FLOOR(", "CEILING(", "SIGN("})), d, words(")"))
	case 12:
		return phrase(around("(", a, ")"), words(pickOne(g.dice, []string{"& 3", "| 4", "^ 1", "<< 2", ">> 1"})))
	case 13:
		return around("FIELD(", a, ", 1, 2, 5)")
	case 14:
		return around("CRC32(", s, ")")
	}
	return around("-(", a, ")")
}

func (g *terms) textExpression(sc scope) *part {
	src := pickOne(g.dice, sc.sources)
	a, s := sc.columnOf(src, src.column("a")), sc.columnOf(src, src.column("s"))
	switch g.IntN(14) {
	case 0:
		return join(words(pickOne(g.dice, []string{"UPPER(", "LOWER(", "REVERSE(", "TRIM(", "HEX("})), s, words(")"))
	case 1:
		return around("CONCAT(", s, ", 'x')")
	case 2:
		return phrase(words("CASE WHEN"), a, words("> 2 THEN 'big' WHEN"), a, words("IS NULL THEN NULL ELSE 'small' END"))
	case 3:
		return join(words("CONCAT_WS('-', "), a, words(", "), s, words(")"))
	case 4:
		return around("SUBSTRING(", s, ", 1, 2)")
	case 5:
		return around("REPLACE(", s, ", 'a', 'bb')")
	case 6:
		return around("LPAD(", s, ", 4, '*')")
	case 7:
		return around("IFNULL(", s, ", 'none')")
	case 8:
		return around("CONVERT(", s, " USING utf8mb4) COLLATE utf8mb4_bin")
	case 9:
		return around("CASE ", a, " WHEN 1 THEN 'one' WHEN 2 THEN 'two' END")
	case 10:
		return around("SHA2(", s, ", 224)")
	case 11:
		if !g.concats() {
			return around("CONCAT(", a, ", 'x')")
		}
		return phrase(a, words("|| 'x'"))
	case 12:
		return around("ELT(", a, ", 'p', 'q', 'r')")
	}
	return around("LEFT(", s, ", 1)")
}

// logicalExpression makes one that is 0, 1 or NULL.
func (g *terms) logicalExpression(sc scope) *part {
	src, c := g.column(sc, (*column).sortable)
	col, a := sc.columnOf(src, c), sc.columnOf(src, src.column("a"))
	switch g.IntN(7) {
	case 0:
		return phrase(col, words(pickOne(g.dice, []string{"IS NULL", "IS NOT NULL"})))
	case 1:
		return phrase(a, words("IN (1, 3, NULL)"))
	case 2:
		return phrase(a, words("BETWEEN 1 AND 3"))
	case 3:
		return phrase(sc.columnOf(src, src.column("s")), words("LIKE '%a%'"))
	case 4:
		return phrase(around("(", a, " > 1)"), words(pickOne(g.dice, []string{"XOR", "AND", "OR"})), around("(", a, " < 5)"))
	case 5:
		return phrase(a, words("<=> 2"))
	}
	return around("(", a, " > 2) IS "+pickOne(g.dice, []string{"TRUE", "NOT TRUE", "UNKNOWN"}))
}

// typedExpression makes one of a column of another type than numbers and texts, if there is one.
func (g *terms) typedExpression(sc scope) *part {
	src, c := g.column(sc, func(c *column) bool { return c.class >= bytes })
	col := sc.columnOf(src, c)
	switch c.class {
	case bytes:
		return join(words(pickOne(g.dice, []string{"HEX(", "LENGTH(", "CRC32("})), col, words(")"))
	case temporal:
		if !c.dated() {
			return join(words("CAST("), col, words(" AS CHAR)"))
		}
		return join(words(pickOne(g.dice, []string{"YEAR(", "MONTH(", "DATE(", "DAYOFWEEK(", "TO_DAYS(", "LAST_DAY(", "QUARTER("})), col, words(")"))
	case label, bits:
		return phrase(col, words("+ 0"))
	case document:
		return join(words(pickOne(g.dice, []string{"JSON_TYPE(", "JSON_LENGTH(", "JSON_VALID("})), col, words(")"))
	}
	return g.numberExpression(sc)
}

// dated tells whether the values have a date.
func (c *column) dated() bool {
	return strings.HasPrefix(c.decl, "DATE") || strings.HasPrefix(c.decl, "TIMESTAMP")
}

// scalarQuery makes a subquery with one value: of another table, or of rows that belong to the outer one.
func (g *terms) scalarQuery(sc scope) *part {
	t := g.table()
	x := g.name("x")
	f := pickOne(g.dice, []string{"COUNT(*)", "MAX(" + x + ".a)", "MIN(" + x + ".a)", "SUM(" + x + ".a)"})
	from := phrase(words("(SELECT "+f+" FROM"), g.tableName(t), words("AS "+x))
	if sc.bare || g.one(3) {
		return phrase(from, words(fmt.Sprintf("WHERE %s.a > %d)", x, g.IntN(5))))
	}
	outer := pickOne(g.dice, sc.sources)
	return phrase(from, words(fmt.Sprintf("WHERE %s.%s = %s.%s)", x, g.joinColumn(t), outer.alias, g.joinColumn(outer.table))))
}

// concats tells whether || may be written: in other modes it is OR, of which MySQL warns, and which turns texts into numbers.
func (g *terms) concats() bool {
	return strings.Contains(g.mode, "ANSI") || strings.Contains(g.mode, "PIPES_AS_CONCAT")
}
