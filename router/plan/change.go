package plan

import (
	"cmp"
	"fmt"
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
)

// changePlan plans UPDATE and DELETE.
func (b *builder) changePlan() error {
	p, ch := b.p, b.p.Statement.Change
	info := b.analyzer.query(ch.Query, nil)
	for _, a := range ch.Set {
		b.analyzer.expr(a.Expr, info)
	}
	for _, o := range ch.Order {
		b.analyzer.expr(o.Expr, info)
	}
	b.analyzer.subqueries()
	targets, err := b.analyzer.targets(ch, info.scope)
	if err != nil {
		return err
	}
	p.Target = targets[0].Ref
	never := "" // why no server may have the statement as it is
	for k := range targets {
		t := &targets[k]
		p.givesIDs(t.Ref, t.assigns(ch))
		switch {
		case never != "":
		case t.Table.Kind != p.Target.Table.Kind:
			never = fmt.Sprintf("%s and %s are changed together: one is %v, the other %v", p.Target.Parsed.Name, t.Parsed.Name, p.Target.Table.Kind, t.Table.Kind)
		case ch.From.Table == nil && len(indexesOf(t.Ref, t.assigns(ch))) > 0:
			never = fmt.Sprintf("a change of several tables, of which %s has keys over all shards", t.Parsed.Name)
		}
	}
	p.Operator = Change{}
	if err := b.movePlan(ch); err != nil {
		return err
	}
	if why := b.assigned(); why != "" && p.moves != nil {
		return Refuse("%s", why)
	}
	why := cmp.Or(never, b.analyzer.apart, unspread(p.Target, p.Refs), b.differs(), b.assigned())
	if why == "" && ch.Limit != nil && !p.copies() {
		why = b.choosePlan(ch)
	}
	if why == "" {
		return nil
	}
	p.Operator, p.Reason = Refused{}, why
	if o := b.pickPlan(ch, targets, info.scope); o != nil {
		p.Operator = o
	} else if never != "" {
		return Refuse("%s", never)
	}
	return nil
}

// assigned returns why no several shards can have a change that gives a user variable a value, as in UPDATE ... SET n = (@n := @n + 1): each would go by its own rows alone; "" if it gives none.
func (b *builder) assigned() string {
	if !b.p.Statement.Reaches.Assigns {
		return ""
	}
	return assigning
}

const assigning = "a change of several shards that gives a user variable a value, which goes by the order of all its rows: change the rows of one shard at a time, or SELECT the values and send them"

// changed is a table that a change changes.
type changed struct {
	*Ref
	set []int // the numbers of its assignments among those of an UPDATE
}

// assigns returns what an UPDATE assigns to the table.
func (t *changed) assigns(ch *sqlparse.Change) (list []sqlparse.Assignment) {
	for _, k := range t.set {
		list = append(list, ch.Set[k])
	}
	return list
}

// targets finds the tables that are changed, and refuses a new value for the sharding key of one of several.
func (a *analyzer) targets(ch *sqlparse.Change, sc *scope) (targets []changed, err error) {
	if ch.From.Table != nil {
		r := a.byTable[ch.From.Table]
		if r == nil {
			return nil, Refuse("the table %s has no place", ch.From.Table.Name)
		}
		if len(ch.Set) > 0 {
			if err := keyStays(r); err != nil {
				return nil, err
			}
		}
		t := changed{Ref: r}
		for k := range ch.Set {
			t.set = append(t.set, k)
		}
		return []changed{t}, nil
	}
	add := func(r *Ref) *changed {
		at := slices.IndexFunc(targets, func(t changed) bool { return t.Ref == r })
		if at < 0 {
			at, targets = len(targets), append(targets, changed{Ref: r})
		}
		return &targets[at]
	}
	for k, set := range ch.Set {
		r, _, _ := sc.resolve(&sqlparse.Expr{Op: sqlparse.Column, Table: set.Table, Name: set.Column})
		if r == nil {
			if label := sc.onlyDerived(set.Table); label != "" {
				return nil, &mysql.SQLError{Code: erNonUpdatableTable, State: "HY000", Message: "The target table " + label + " of the UPDATE is not updatable"}
			}
			return nil, Refuse("which table the column %s belongs to is not clear: qualify it", set.Column)
		}
		if r.keyOf(set.Column) >= 0 {
			return nil, keyChange(r, set.Column, "the statement names several tables")
		}
		if err := keyStays(r); err != nil {
			return nil, err
		}
		t := add(r)
		t.set = append(t.set, k)
	}
	for _, t := range ch.Targets {
		for _, en := range sc.entries {
			if en.ref != nil && lower(en.label) == lower(t.Name) {
				add(en.ref)
			}
		}
	}
	if len(targets) == 0 {
		return nil, Refuse("no table to change was found")
	}
	return targets, nil
}

// erNonUpdatableTable is the code of a change of what is no table. MySQL manual: "Server Error Message Reference".
const erNonUpdatableTable = 1288

// onlyDerived returns the label of the derived table that a column can only be of, with the qualifier given, "" for none; "" where it may be one of a table.
func (s *scope) onlyDerived(qualifier string) string {
	for _, en := range s.entries {
		switch {
		case qualifier != "" && lower(en.label) != lower(qualifier):
		case en.ref != nil || qualifier == "" && len(s.entries) > 1:
			return ""
		default:
			return en.label
		}
	}
	return ""
}

// onUpdateNow marks a column that has ON UPDATE CURRENT_TIMESTAMP. MySQL manual: "Column Definition Flags".
const onUpdateNow = 0x2000

// keyStays refuses a change of rows whose sharding key the server sets by itself when they change: they would lie where nobody looks.
func keyStays(r *Ref) error {
	for _, key := range r.Table.Keys {
		if d := r.column(key); d != nil && d.Flags&onUpdateNow != 0 {
			return Refuse("%s is the sharding key of %s and has ON UPDATE CURRENT_TIMESTAMP: a change of a row would change it; take that from the column", d.Name, r.Parsed.Name)
		}
	}
	return nil
}

// keyKept refuses assignments that may give a row of r another shard. The sharding key may be given its own value; and inserted says that it may be given
// that of the row that was to be inserted, which lies on the same shard, in all its columns.
func keyKept(r *Ref, assignments []sqlparse.Assignment, inserted bool) error {
	given, column := 0, ""
	for _, a := range assignments {
		switch e := a.Expr; {
		case r.keyOf(a.Column) < 0:
		case ownValue(r, e, a.Column), e.Op == sqlparse.Call && e.Name == "last_insert_id" && len(e.Args) == 1 && ownValue(r, e.Args[0], a.Column):
		case inserted && e.Op == sqlparse.Values && router.SameColumn(e.Name, a.Column):
			given++
			column = a.Column
		default:
			return keyChange(r, a.Column, "DELETE the row and INSERT it anew")
		}
	}
	if given > 0 && given != len(r.Table.Keys) {
		return keyChange(r, column, "DELETE the row and INSERT it anew")
	}
	return nil
}

// ownValue reports whether an expression is a column of r itself.
func ownValue(r *Ref, e *sqlparse.Expr, column string) bool {
	return e.Op == sqlparse.Column && router.SameColumn(e.Name, column) && (e.Table == "" || lower(e.Table) == lower(r.Parsed.Label()))
}

// keyChange refuses a new value for a key column, for a reason.
func keyChange(r *Ref, column, why string) error {
	return Refuse("routing key in update expression: %s is the sharding key of %s; %s", column, r.Parsed.Name, why)
}

// unspread returns why a change of target cannot run on several shards, though all rows lie together; "" if it can.
func unspread(target *Ref, refs []*Ref) string {
	if target.Table.Kind == router.Single && len(refs) > 1 {
		// Where all that it reads is on that node, too, the route has found so.
		return "a change of the table " + target.Parsed.Name + ", which is on one node, by what tables on other nodes hold"
	}
	for _, r := range refs {
		switch {
		case r == target:
		case r.Table.Kind == router.Single:
			return "the table " + r.Parsed.Name + " is on one node"
		case r.Table.Kind == router.Sharded && target.Table.Kind == router.Reference:
			return "a change of a table on every node by what a sharded table holds"
		}
	}
	return ""
}
