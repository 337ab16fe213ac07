package plan

import (
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
	"kingshard/router/rule"
)

// adviceTables is how many references a statement may have for other places of its tables to be tried: each try plans it anew.
const adviceTables = 12

// adviceTries is how many other places are tried for the tables of a statement at the most, and equalitiesMax how many pairs of columns are looked at.
const (
	adviceTries   = 64
	equalitiesMax = 256
)

// Advice says what would bring a statement on several shards to fewer of them, or have the shards do what a server now does behind them; "" where nothing is
// known to. All of it has been tried: the statement is planned as if it were so.
func (p *Plan) Advice() string {
	switch p.Statement.Kind {
	case sqlparse.SelectKind, sqlparse.UpdateKind, sqlparse.DeleteKind:
	default:
		return ""
	}
	now := p.suppose(nil)
	if now == nil || now.reach == oneServer {
		return ""
	}
	now.tries = new(int)
	*now.tries = adviceTries
	parts := now.narrower()
	if now.reach < groupedOnShards && len(p.Refs) <= adviceTables {
		parts = append(now.placements(), parts...)
	}
	return strings.Join(parts, "; or ")
}

// narrower says by which condition, and by which index, fewer shards would be asked.
func (s *supposed) narrower() (parts []string) {
	outer := s.outermost()
	if outer == nil {
		return nil
	}
	e := new(Execution)
	e.Bind(s.plan, nil)
	for k := range outer.entries {
		r := outer.entries[k].ref
		if r == nil || r.Table.Kind != router.Sharded || r.nullable || len(r.own) > 0 || len(r.shards(e)) < len(r.all) || len(r.all) < 2 || !s.placedBy(r) {
			continue
		}
		var list []string
		for _, key := range r.Table.Keys {
			list = append(list, s.qualified(r, key)+" = …")
		}
		parts = append(parts, "a condition "+strings.Join(list, " AND ")+" would ask one shard")
		if column := s.indexed(r, outer); column != "" {
			parts = append(parts, "an index over the shards on "+s.qualified(r, column)+" (lookup: ["+column+"] in the rule of "+r.Table.Name+") would ask those that have rows")
		}
		break // of tables that go by the same key the first stands for all
	}
	return parts
}

// outermost is the scope of the statement's outermost block; nil without one.
func (s *supposed) outermost() *scope {
	st := s.plan.Statement
	q := st.Query
	if st.Change != nil {
		q = st.Change.Query
	}
	for _, sc := range s.analyzer.blocks {
		if q != nil && q.Select != nil && sc.block == q.Select {
			return sc
		}
	}
	return nil
}

// placedBy reports whether one server would have all rows if those of r were on one shard.
func (s *supposed) placedBy(r *Ref) bool {
	p := *s.plan
	p.lookup = &Lookup{ref: r}
	e := new(Execution)
	e.Bind(&p, nil)
	e.lookedUp, e.found = true, rule.NewSet(0)
	_, ok := e.oneNode()
	return ok
}

// indexed finds a column by which an index would place the statement's rows of r; "" for none.
func (s *supposed) indexed(r *Ref, sc *scope) string {
	if sc.block.Where == nil || !s.plan.ReadOnly || s.plan.lookup != nil {
		return ""
	}
	for _, e := range apart(sc.block.Where, sqlparse.And) {
		for _, side := range e.Args[:min(2, len(e.Args))] {
			if of, column := sc.columnOf(side); of != r || !placeable(r.column(column)) {
				continue
			} else if x := s.from.suppose(map[*router.Table]*router.Table{r.Table: withIndex(r.Table, lower(column))}); x != nil && x.plan.lookup != nil {
				return lower(column)
			}
		}
	}
	return ""
}

// withIndex is a table that has an index over its shards.
func withIndex(t *router.Table, column string) *router.Table {
	other := *t
	lookup := *t
	lookup.Keys = []string{column}
	other.Indexes = []*router.Index{{Name: column, Columns: []string{column}, Table: &other, Lookup: &lookup}}
	return &other
}

// placeable reports whether an index over shards may have a column of this type.
func placeable(d *mysql.ColumnDefinition41) bool {
	if d == nil || isLong(d) {
		return false
	}
	switch d.Type {
	case mysql.TypeBlob, mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob:
		return false
	}
	switch classOf(d) {
	case rule.Integer, rule.Unsigned, rule.Decimal, rule.CharBinary, rule.CharCI, rule.Bytes, rule.Date, rule.DateTime, rule.Year:
		return true
	}
	return false
}

// qualified names a column, with its table where the statement has others.
func (s *supposed) qualified(r *Ref, column string) string {
	if len(s.plan.Refs) == 1 {
		return column
	}
	return r.Parsed.Label() + "." + column
}

// placements says where the statement's tables would have to lie for the shards to answer it.
func (s *supposed) placements() []string {
	var enough []*supposed
	tries := s.otherwise()
	for _, t := range tries {
		if t.reach >= answeredByShards {
			enough = append(enough, t)
		}
	}
	if len(enough) == 0 {
		if best := s.bySteps(tries); best != nil {
			return []string{best.sentence()}
		}
		return nil
	}
	var parts, small []string
	for _, t := range enough {
		switch {
		case t.small != "":
			small = append(small, t.small)
		case len(parts) == 0:
			parts = append(parts, t.sentence())
		}
	}
	switch {
	case len(small) == 0:
	case len(parts) == 0:
		parts = append(parts, "with "+strings.Join(small, " or ")+" as a reference table, if it is small, "+enough[0].outcome())
	default:
		parts = append(parts, "with "+strings.Join(small, " or ")+" as a reference table, if it is small")
	}
	return parts
}

// stepsOfAdvice is how many tables are told to be placed otherwise at the most.
const stepsOfAdvice = 4

// bySteps looks for several placements that do together what none does alone: the one that comes closest first. tries are those of one. nil if there are none.
func (s *supposed) bySteps(tries []*supposed) *supposed {
	best := s
	for range stepsOfAdvice {
		before := best
		for _, t := range tries {
			if t.closer(best) {
				best = t
			}
		}
		if best == before {
			return nil
		}
		if best.reach >= answeredByShards {
			return best
		}
		tries = best.otherwise()
	}
	return nil
}

// sentence tells of the placements and what comes of them.
func (s *supposed) sentence() string {
	text := "with " + strings.Join(s.steps, " and ") + " " + s.outcome()
	if s.why != "" {
		text = s.why + ": " + text
	}
	return text
}

func (s *supposed) outcome() string {
	if s.reach == oneServer {
		return "one server would answer"
	}
	return "each shard would answer for its own rows"
}

// equality says that rows of two references have the same values in two columns where they meet.
type equality struct {
	a, b *Ref
	x, y string // in lower case
}

func (e equality) String() string {
	return e.a.Parsed.Label() + "." + e.x + " = " + e.b.Parsed.Label() + "." + e.y
}

// equalities finds what the conditions of the statement say of columns of two tables, in all its blocks.
func (s *supposed) equalities() (list []equality) {
	add := func(l, r *sqlparse.Expr, in, of *scope) {
		a, x := in.columnOf(l)
		b, y := of.columnOf(r)
		if e := (equality{a, b, lower(x), lower(y)}); a != nil && b != nil && a != b && len(list) < equalitiesMax && !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	for _, sc := range s.analyzer.blocks {
		var conditions []*sqlparse.Expr
		for _, j := range joinsOn(sc.block.From) {
			conditions = append(conditions, apart(j.On, sqlparse.And)...)
		}
		if sc.block.Where != nil {
			conditions = append(conditions, apart(sc.block.Where, sqlparse.And)...)
		}
		for _, e := range conditions {
			switch {
			case e.Op == sqlparse.Eq && e.Args[0].Op == sqlparse.Row && e.Args[1].Op == sqlparse.Row:
				for k := range min(len(e.Args[0].Args), len(e.Args[1].Args)) {
					add(e.Args[0].Args[k], e.Args[1].Args[k], sc, sc)
				}
			case e.Op == sqlparse.Eq:
				add(e.Args[0], e.Args[1], sc, sc)
			case e.Op == sqlparse.Or:
				for _, equal := range inAll(e) {
					add(equal.Args[0], equal.Args[1], sc, sc)
				}
			case e.Op == sqlparse.InQuery && !e.Negated && e.Query.Select != nil && len(e.Query.Select.Fields) == 1:
				if inner := s.analyzer.scopeOf[e.Query.Select]; inner != nil {
					add(e.Args[0], e.Query.Select.Fields[0].Expr, sc, inner)
				}
			}
		}
		s.using(sc.block.From, func(l, r *Ref, column string) {
			if e := (equality{l, r, column, column}); !slices.Contains(list, e) {
				list = append(list, e)
			}
		})
	}
	return list
}

// using finds the columns by which USING joins tables.
func (s *supposed) using(f *sqlparse.From, found func(l, r *Ref, column string)) {
	if f == nil || f.Join == nil {
		return
	}
	s.using(f.Join.Left, found)
	s.using(f.Join.Right, found)
	for _, name := range f.Join.Using {
		has := func(r *Ref) bool { return r.column(name) != nil }
		left, right := s.analyzer.under(f.Join.Left), s.analyzer.under(f.Join.Right)
		if l, r := slices.IndexFunc(left, has), slices.IndexFunc(right, has); l >= 0 && r >= 0 {
			found(left[l], right[r], lower(name))
		}
	}
}

// columnOf finds the column of a table that an expression is, through derived tables those of sharding keys; nil for none.
func (s *scope) columnOf(e *sqlparse.Expr) (*Ref, string) {
	if e == nil || e.Op != sqlparse.Column {
		return nil, ""
	}
	r, derived, _ := s.resolve(e)
	if k := derived[lower(e.Name)]; derived != nil && k.ref != nil {
		return k.ref, k.ref.Table.Keys[k.k]
	}
	return r, e.Name
}
