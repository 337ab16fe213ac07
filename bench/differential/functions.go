package differential

import (
	_ "embed"
	"strings"
)

// function is a function of a server by one list of the kinds of its arguments.
type function struct {
	name string
	args string // a letter of argumentKinds for each
}

// argumentKinds are the kinds of arguments, by the letters of the tables of functions, each with a constant of it.
var argumentKinds = map[byte][]string{
	'i': {"1", "3", "0", "-2", "20", "255"},
	'd': {"1.5", "-2.25", "100.055", "0.0"},
	'f': {"1.5e0", "-2.25e0", "1e10", "0e0"},
	's': {"'a'", "'ab,a'", "'12abc'", "''", "'é'", "'Abc Def'", "'zz'"},
	'b': {"x'61'", "x'00ff'", "x''", "x'7a'"},
	't': {"'2024-01-31 10:00:00'", "'2024-02-29'", "'1999-12-31 23:59:59'", "DATE'2024-10-27'", "TIMESTAMP'2024-03-31 01:30:00'"},
	'c': {"'10:11:12'", "'-01:00:00'", "TIME'23:59:59'", "'00:00:00'"},
	'j': {`'{"a": 1, "b": [1, 2]}'`, `'[1, "x", null]'`, "'{}'", `'"t"'`, "'3'"},
	'p': {"'$.a'", "'$'", "'$[0]'", "'$.b[1]'"},
	'g': {"ST_GeomFromText('POINT(1 1)')", "ST_GeomFromText('LINESTRING(0 0,2 2,3 1)')", "ST_GeomFromText('POLYGON((0 0,4 0,4 4,0 4,0 0))')"},
	'm': {"'%Y-%m-%d'", "'%H:%i'", "'%W %e'"},
	'w': {"'POINT(1 1)'", "'LINESTRING(0 0,2 2,3 1)'", "'POLYGON((0 0,4 0,4 4,0 4,0 0))'", "'GEOMETRYCOLLECTION(POINT(1 1))'"},
	'k': {"ST_AsBinary(ST_GeomFromText('POINT(1 1)'))", "ST_AsBinary(ST_GeomFromText('LINESTRING(0 0,2 2)'))"},
	'q': {`'{"type": "Point", "coordinates": [1, 2]}'`},
	'o': {"'one'", "'all'"},
	'u': {"'6ccd780c-baba-1026-9564-5b8c656024db'"},
	'v': {"'[1,2]'", "'[0.5,-1]'"},
	'n': {"NULL"},
}

//go:embed functions_mariadb.txt
var functionsOfMariaDB string

//go:embed functions_mysql.txt
var functionsOfMySQL string

// functions are those that a kind of server lists and whose answers depend on nothing but their arguments, a few times each:
// once for every list of arguments that gives something there.
func functions(d dialect) (list []function) {
	text := functionsOfMySQL
	if d.mariaDB {
		text = functionsOfMariaDB
	}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		for _, args := range fields[1:] {
			list = append(list, function{fields[0], strings.Trim(args, "-")})
		}
	}
	return list
}
