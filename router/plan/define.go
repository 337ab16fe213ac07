package plan

import (
	"cmp"
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/router"
	"kingshard/router/rule"
)

// Each runs on every physical table of a sharded table, with an outcome each: DDL and the like.
type Each struct {
	// Unnamed are the key columns of the plan's Target whose collations a definition leaves to defaults.
	Unnamed []Unnamed

	// Needed are the indexes that must have all rows already: a UNIQUE key is added that they keep.
	Needed []*router.Index

	// New are the UNIQUE keys that are to hold over all shards by unique: global, and have no index yet.
	New []NewKey

	// Known says that what the names of constraints and indexes are called in the physical tables must be known, for [Plan.Define].
	Known bool

	drop sqlparse.Span // the names of a DROP TABLE that runs once on each node
}

// eachPlan plans what is done to every physical table of a sharded table.
func (b *builder) eachPlan() error {
	p := b.p
	p.Target = p.ruled()
	each := &Each{}
	p.Operator = each
	d := p.Statement.Definition
	if d != nil {
		var err error
		if each.Unnamed, err = define(d, p.Target, p.Refs); err != nil {
			return err
		}
		if err := each.defineIndexes(d, p.Target, p.Refs); err != nil {
			return err
		}
		if each.Known, err = p.keys(); err != nil {
			return err
		}
	}
	dropping := d != nil && d.Verb == sqlparse.DropTable
	if r := stranger(p.Target.Table, p.Refs, dropping); r != nil {
		if dropping && !d.List.Empty() {
			each.drop = d.List
			return nil
		}
		if d != nil && (d.Verb == sqlparse.CreateTable && !d.Like || d.Verb == sqlparse.AlterTable && !d.Renames) {
			return Refuse("a foreign key of %s that refers to %s, whose rows are not on the same shards: colocate_with in the rule of one, or a reference table", p.Target.Parsed.Name, r.Parsed.Name)
		}
		return Refuse("one statement on %s and %s, which are not on the same nodes: use one each", p.Target.Parsed.Name, r.Parsed.Name)
	}
	return nil
}

// stranger returns a reference to a table whose physical tables are not beside those of the target, one for one; nil without
// one. dropping says that the tables go: then a copy of a table on the node goes once, and not with every sub-table.
func stranger(target *router.Table, refs []*Ref, dropping bool) *Ref {
	for _, r := range refs {
		switch {
		case r.Table == target:
		case r.Table.Kind == router.Sharded && target.Kind == router.Sharded && target.Colocated(r.Table):
		case r.Table.Kind == router.Single && target.Kind == router.Single && r.Table.Nodes[0] == target.Nodes[0]:
		case r.Table.Kind == router.Reference && (target.Kind == router.Reference || !dropping):
		default:
			return r
		}
	}
	return nil
}

// define refuses definitions that cannot be right on shards, and returns the key columns whose collations it leaves to defaults.
func define(d *sqlparse.Definition, target *Ref, refs []*Ref) ([]Unnamed, error) {
	first, name := refs[0], target.Parsed.Name
	switch {
	case d.Temporary:
		return nil, Refuse("a temporary table with the name of the table %s, which has a rule, or made from it: give it another name, and its columns", name)
	case d.Query && target.Table.Kind != router.Single:
		return nil, Refuse("CREATE TABLE ... SELECT that concerns the table %s, which has a rule: create the table, then insert the rows", name)
	case d.Like && first.Table.Rule == nil:
		return nil, Refuse("CREATE TABLE %s LIKE %s, which has a rule: %s has none, and one node only", first.Parsed.Name, name, first.Parsed.Name)
	case d.Verb == sqlparse.CreateView || d.Verb == sqlparse.DropView:
		return nil, Refuse("a view that concerns the table %s, which has a rule: a server would see its own part only", name)
	}
	if d.Renames {
		for _, r := range refs {
			if r.Table.Rule == nil {
				return nil, Refuse("RENAME of the table %s, which has a rule, and %s, which has none: its rows would not be found any more", name, r.Parsed.Name)
			}
		}
	}
	for _, c := range d.Columns {
		if err := keyAlteration(target, c); err != nil {
			return nil, err
		}
	}
	for _, c := range d.SetByServer {
		if target.keyOf(c) >= 0 && len(target.Table.Shards) > 1 {
			return nil, Refuse("%s is the sharding key of %s: with ON UPDATE, or an expression, the server would set it, and rows would not be found by it", c, name)
		}
	}
	for _, c := range d.Emptied {
		if target.keyOf(c) >= 0 && len(target.Table.Shards) > 1 {
			return nil, Refuse("%s is the sharding key of %s: with ON DELETE or ON UPDATE SET NULL the server would set it, and rows would not be found by it; use RESTRICT or CASCADE", c, name)
		}
	}
	unnamed, err := keyCollations(target, d)
	if err != nil {
		return nil, err
	}
	return unnamed, nil
}

// Unnamed is a key column of text whose collation a definition leaves to a default, which only the servers know.
type Unnamed struct {
	Column string
	// Charset is the character set whose default collation it gets; with "" it gets the default of the table that is there
	// (OfTable), what the column of the table has which is named behind LIKE (Like), or the default of the database.
	Charset       string
	OfTable, Like bool
	// Index is what the column is a key of, where that is not the sharding key.
	Index *router.Index
}

// keyCollations refuses a collation of a key that is named and that the rule does not follow, and another one for a key
// whose rows have been placed. Those that are not named it returns, for who asks the servers: [Each.Unnamed].
func keyCollations(r *Ref, d *sqlparse.Definition) (unnamed []Unnamed, err error) {
	if len(r.Table.Shards) < 2 || !rule.TakesText(r.Table.Rule) {
		return nil, nil
	}
	for k, key := range r.key {
		if d.Converts && (key.Class == rule.CharBinary || key.Class == rule.CharCI || key.Class == rule.Unknown) {
			return nil, Refuse("%s is the sharding key of %s: CONVERT TO would give it another collation, or may, under which other texts are equal", r.Table.Keys[k], r.Parsed.Name)
		}
	}
	if d.Like && d.Verb == sqlparse.CreateTable {
		for _, key := range r.Table.Keys {
			unnamed = append(unnamed, Unnamed{Column: key, Like: true})
		}
	}
	columns := slices.Clone(d.Texts)
	for _, c := range d.Columns {
		if c.Type == sqlparse.Texts && !c.Gone {
			columns = append(columns, sqlparse.TextColumn{Name: c.Name, Collation: c.Collation})
		}
	}
	for _, c := range columns {
		if r.keyOf(c.Name) < 0 {
			continue
		}
		named := namedCollation(d, c.Collation)
		if named.Name == "" {
			unnamed = append(unnamed, Unnamed{Column: c.Name, Charset: named.Charset, OfTable: d.Verb == sqlparse.AlterTable})
			continue
		}
		if err := r.Misfit(c.Name, named.Name); err != nil {
			return nil, err
		}
	}
	return unnamed, nil
}

// namedCollation is the collation that a column of text gets of which a definition says so much; its name is "" where that is a default's.
func namedCollation(d *sqlparse.Definition, named sqlparse.Collation) sqlparse.Collation {
	if named == (sqlparse.Collation{}) {
		named = d.Collation
	}
	if named.Name == sqlparse.Bin {
		charset, _, _ := strings.Cut(cmp.Or(d.Collation.Charset, d.Collation.Name), "_")
		named.Name = charset + sqlparse.Bin
	}
	if charset := cmp.Or(named.Charset, d.Collation.Charset, charsetOf(d.Collation.Name)); rule.ShortCollation(named.Name) && charset != "" {
		named.Name = charset + "_" + named.Name
	}
	return named
}

// charsetOf gives the character set of a collation; "" for one whose name does not have it.
func charsetOf(collation string) string {
	if rule.ShortCollation(collation) {
		return ""
	}
	charset, _, _ := strings.Cut(collation, "_")
	return charset
}

// Misfit refuses a collation for a key column, if the rule does not follow it.
func (r *Ref) Misfit(column, collation string) error {
	if rule.Follows(r.Table.Rule, collation) {
		return nil
	}
	cure := "another collation"
	if fold := rule.FoldFor(collation); fold != "" {
		cure = "strings: " + fold + " in the rule"
	}
	return Refuse("the sharding key %s of %s has the collation %s, which calls texts equal that the rule, with strings: %s, places apart: give it a _bin collation, or %s",
		column, r.Parsed.Name, collation, rule.FoldName(r.Table.Rule), cure)
}

// keyAlteration refuses what makes rows be looked for elsewhere than they are.
func keyAlteration(r *Ref, c sqlparse.ColumnChange) error {
	k := r.keyOf(c.Name)
	switch {
	case k < 0:
		return nil
	case c.Gone:
		return Refuse("%s is the sharding key of %s: it can be neither dropped nor renamed", c.Name, r.Parsed.Name)
	case c.Type == sqlparse.OtherFamily || c.Type != familyOf(r.key[k].Class):
		return Refuse("%s is the sharding key of %s: its values would be placed in another way with this type, or may be", c.Name, r.Parsed.Name)
	}
	return nil
}

// familyOf is the kind of column types that a key class belongs to.
func familyOf(c rule.Class) sqlparse.Family {
	switch c {
	case rule.Integer:
		return sqlparse.Integers
	case rule.Unsigned:
		return sqlparse.UnsignedIntegers
	case rule.CharBinary, rule.CharCI:
		return sqlparse.Texts
	case rule.Bytes:
		return sqlparse.ByteStrings
	case rule.Date, rule.DateTime:
		return sqlparse.Dates
	}
	return sqlparse.OtherFamily
}

// perNode is DROP TABLE of tables that do not lie together: one statement for each node, with all that it has of them.
func (o *Each) perNode(p *Plan) Route {
	r := Route{Operator: o}
	at := map[string]int{}
	writers := []*writer{}
	for _, ref := range p.Refs {
		for _, s := range ref.Table.Shards {
			k, ok := at[s.Node]
			if !ok {
				k = len(writers)
				at[s.Node] = k
				writers = append(writers, &writer{p: p})
				writers[k].add(p.Statement.Text[:o.drop.Pos])
				r.Queries = append(r.Queries, Query{Node: s.Node})
			} else {
				writers[k].add(", ")
			}
			if ref.Table.Rule != nil {
				r.Queries[k].Shards = append(r.Queries[k].Shards, s)
			}
			if s.DB != "" && (ref.Parsed.DB != "" || s.DB != ref.Table.DB) {
				writers[k].add(p.quote(s.DB), ".")
			}
			writers[k].add(p.quote(s.Table))
		}
	}
	for k, w := range writers {
		w.add(p.Statement.Text[o.drop.End:])
		r.Queries[k].Text = string(w.buf)
	}
	return r
}
