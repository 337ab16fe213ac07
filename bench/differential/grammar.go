package differential

import (
	"math/rand/v2"
	"regexp"
)

// grammar makes random statements on a schema.
type grammar struct {
	dice
	terms *terms
	// spaced says that ids are more than one from each other in this scenario.
	spaced bool
}

// newGrammar makes a grammar of a dialect on a schema; texts are read in sqlMode.
func newGrammar(r *rand.Rand, s *schema, d dialect, sqlMode string) grammar {
	return grammar{dice: dice{r}, terms: &terms{dice: dice{r}, schema: s, dialect: d, mode: sqlMode}}
}

// scenario makes the next statements to run.
func (g *grammar) scenario() scenario {
	g.terms.names = 0
	if g.one(8) {
		return keyedGrammar{g}.scenario()
	}
	switch n := g.IntN(130); {
	case n >= 100:
		return g.ids()
	case n < 60:
		return g.wrapped(scenario{g.query()})
	case n < 63:
		return g.foundRows()
	case n < 86:
		s := scenario{g.prepare(g.write())}
		if g.one(4) {
			s = append(s, &statement{root: words("SHOW WARNINGS"), own: true, follows: true})
		}
		return g.wrapped(s)
	case n < 90:
		return scenario{g.show()}
	case n < 94:
		return g.clients()
	default:
		return g.transaction()
	}
}

// query makes a statement that reads.
func (g *grammar) query() *statement {
	g.terms.folds = false
	g.terms.converts = false
	var s *statement
	n := g.IntN(112)
	switch {
	case n >= 100:
		s = g.ofFunctions()
		s.converts = true
		return g.prepare(s)
	case n < 26:
		s = g.plain()
	case n < 30:
		s = g.loose()
	case n < 45:
		s = g.aggregate()
	case n < 60:
		s = g.grouped()
	case n < 74:
		s = g.joined()
	case n < 81:
		s = g.union()
	case n < 88:
		s = g.derived()
	case n < 94:
		s = g.window()
	default:
		s = g.distinct()
	}
	s.converts = g.terms.converts
	return g.prepare(s)
}

// prepare lets a third of the statements go by the binary protocol. MySQL 9.7's GREATEST(?, 0.0, ?) is a number at one execution and a text at the
// next of the same values on the same connection, and so is LEAST: they go as texts there.
func (g *grammar) prepare(s *statement) *statement {
	s.prepared = g.one(3) && (g.terms.dialect.mariaDB || !minMax.MatchString(s.root.render("d", false).sql))
	return s
}

// minMax finds the functions whose type is the greatest of their arguments' types.
var minMax = regexp.MustCompile(`\b(?:GREATEST|LEAST)\(`)

// foundRows is a query for all rows but a few, and the question how many there would have been.
func (g *grammar) foundRows() scenario {
	g.terms.folds = false
	g.terms.converts = false
	s := g.plain()
	s.converts = g.terms.converts
	s.root.kids[0] = words("SELECT SQL_CALC_FOUND_ROWS")
	return scenario{s, {root: words("SELECT FOUND_ROWS()"), follows: true}}
}

// transaction is a few statements between BEGIN and its end.
func (g *grammar) transaction() scenario {
	control := func(sql string) *statement { return &statement{root: words(sql), control: true} }
	list := scenario{control(pickOne(g.dice, []string{"BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT"}))}
	savepoint := g.one(4)
	for k := range 1 + g.IntN(4) {
		if savepoint && k == 1 {
			list = append(list, control("SAVEPOINT here"))
		}
		if g.one(2) {
			list = append(list, g.query())
		} else {
			list = append(list, g.prepare(g.write()))
		}
		if savepoint && k == 2 {
			list = append(list, control("ROLLBACK TO SAVEPOINT here"))
		}
	}
	return append(list, &statement{root: words(pickOne(g.dice, []string{"COMMIT", "ROLLBACK"})), control: true, ends: true})
}
