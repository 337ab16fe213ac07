package differential

import (
	"regexp"
	"strconv"
	"strings"
)

// function makes a call of a function, of columns and constants, or of another function now and then.
func (g *terms) function(sc scope) *part {
	if g.calls == nil {
		g.calls = functions(g.dialect)
	}
	f := pickOne(g.dice, g.calls)
	list := listOf(len(f.args))
	length, lengthens := lengthOf[f.name]
	for at, kind := range []byte(f.args) {
		if lengthens && at == length {
			list.kids = append(list.kids, words(pickOne(g.dice, []string{"0", "1", "3", "20", "-1", "2.5", "'7'", "NULL"})))
			continue
		}
		if g.one(8) {
			list.kids = append(list.kids, g.function(sc))
			continue
		}
		list.kids = append(list.kids, g.argument(sc, kind))
	}
	call := join(words(f.name+"("), list, words(")"))
	call.stands = append(call.stands, list.kids...)
	return call
}

// lengthOf tells by functions' names which argument is the length of the value. It is a small number: those of columns make answers of
// gigabytes.
var lengthOf = map[string]int{"LPAD": 1, "LPAD_ORACLE": 1, "RPAD": 1, "RPAD_ORACLE": 1, "REPEAT": 1, "SPACE": 0}

// argumentClasses are the classes of columns for the kinds of arguments that have any.
var argumentClasses = map[byte][]class{
	'i': {integer, bits}, 'd': {decimal}, 'f': {double}, 's': {text, label}, 'b': {bytes}, 't': {temporal}, 'c': {temporal}, 'j': {document},
}

// argument makes an argument of a kind: a column of its class or a constant; of any class now and then.
func (g *terms) argument(sc scope, kind byte) *part {
	if len(sc.sources) > 0 && g.one(2) {
		if kind == 'g' {
			src := sc.sources[0]
			return join(words("POINT("), sc.columnOf(src, src.column("a")), words(", "), sc.columnOf(src, src.column("d")), words(")"))
		}
		for range 20 {
			src, c := g.column(sc, func(*column) bool { return true })
			for _, fits := range argumentClasses[kind] {
				if c.class == fits {
					return sc.columnOf(src, c)
				}
			}
			if g.one(60) {
				return sc.columnOf(src, c)
			}
		}
	}
	if g.one(20) {
		kind = 'n'
	}
	text := pickOne(g.dice, argumentKinds[kind])
	if n, err := strconv.Atoi(text); err == nil {
		return constant(intValue(int64(n)))
	}
	if strings.HasPrefix(text, "'") && strings.Count(text, "'") == 2 {
		return constant(value{text, strings.Trim(text, "'")})
	}
	return words(text)
}

// ofGeometry are calls of functions whose values are geometries. MariaDB's GROUP_CONCAT(DISTINCT) of one keeps all its values at the
// same place, finds each equal to itself, and answers with the one of the row that it happened to read last, where
// COUNT(DISTINCT) counts them all.
var ofGeometry = regexp.MustCompile(`^(ST_)?(((M|MULTI)?(POINT|LINE|LINESTRING|POLY|POLYGON)|(GEOM|GEOMETRY)(COLL|COLLECTION)?)(FROM(TEXT|WKB|GEOJSON))?` +
	`|BOUNDARY|BUFFER|CENTROID|CONVEXHULL|(SYM)?DIFFERENCE|ENDPOINT|ENVELOPE|EXTERIORRING|(GEOMETRY|INTERIORRING|POINT)N|INTERSECTION|POINTONSURFACE|STARTPOINT|UNION)\(`)

// aggregateFunction makes an aggregate of a function's values.
func (g *terms) aggregateFunction(sc scope) *part {
	names := []string{"COUNT", "MIN", "MAX", "SUM", "AVG", "BIT_AND", "BIT_OR", "BIT_XOR", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP", "VARIANCE"}
	f := g.function(sc)
	switch g.IntN(6) {
	case 0:
		return g.call(pickOne(g.dice, names[:5]), phrase(words("DISTINCT"), f))
	case 1:
		if g.dialect.mariaDB && ofGeometry.MatchString(f.render("", false).sql) {
			return phrase(g.call("GROUP_CONCAT", f), words("AS "+g.name(bag)))
		}
		return phrase(g.call("GROUP_CONCAT", phrase(maybe(words("DISTINCT")), f)), words("AS "+g.name(bag)))
	case 2:
		return phrase(g.call("JSON_ARRAYAGG", f), words("AS "+g.name(bag)))
	}
	return g.call(pickOne(g.dice, names), f)
}
