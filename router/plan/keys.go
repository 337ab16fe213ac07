package plan

import (
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// Keys are the names that a physical table has for constraints and indexes, by those that the client knows, in lower case.
type Keys struct {
	// Constraints are foreign keys and CHECK constraints. Indexes may have a name after a foreign key: a server makes one where it finds none.
	Constraints, Indexes map[string]string
}

// Add notes the name of a constraint or an index of a shard of a table.
func (k *Keys) Add(t *router.Table, shard router.Shard, own string, index bool) {
	if k.Constraints == nil {
		k.Constraints, k.Indexes = map[string]string{}, map[string]string{}
	}
	name, changed := ConstraintOf(t, shard, own)
	names := k.Constraints
	if index {
		names = k.Indexes
	}
	// Of two of a name the one that is called so is meant: it was there first.
	if _, there := names[strings.ToLower(name)]; !there || !changed {
		names[strings.ToLower(name)] = own
	}
}

// ConstraintOf returns the name that clients know for a constraint of a shard of a table, or for an index that has the name of one. changed is
// false for one that they know by the same. See [mysql.PartConstraint].
func ConstraintOf(t *router.Table, s router.Shard, own string) (name string, changed bool) {
	if name, changed = mysql.TableConstraint(own, t.Name, s.Table); changed {
		return name, true
	}
	for _, other := range t.Shards { // an index of a sub-table that was made like another one
		if name, changed = mysql.TableConstraint(own, t.Name, other.Table); changed {
			return name, true
		}
	}
	return own, false
}

// keys refuses names of constraints that cannot be told apart in the databases of the target's physical tables, and tells whether the
// definition changes some that may be there.
func (p *Plan) keys() (known bool, err error) {
	names := p.keyEdits()
	if len(names) == 0 {
		return false, nil
	}
	type place struct{ node, db, tag string }
	seen := map[place]router.Shard{}
	for _, s := range p.Target.Table.Shards {
		at := place{s.Node, s.DB, mysql.PartTag(p.Target.Table.Name, s.Table)}
		if other, taken := seen[at]; taken {
			return false, Refuse("names of constraints and indexes would be the same in %s and %s: give the sub-tables other names", other, s)
		}
		seen[at] = s
		for _, e := range names {
			own, ok := mysql.PartConstraint(e.key.Name, p.Target.Table.Name, s.Table)
			switch {
			case e.key.Kind == sqlparse.IndexName:
			case !ok && !e.key.Adds: // no such name has been given
			case !ok:
				return false, Refuse("the name of the constraint %s must be unique in its database, and is too long for one of the sub-table's own: shorten it, or use ASCII", e.key.Name)
			case p.Mode.Charset.Multibyte() && !sqltext.IsASCII(own), p.Mode.Charset != sqltext.ASCIISafe && !sqltext.IsASCII(own) && sqltext.IsASCII(e.key.Name):
				return false, Refuse("the name of the constraint %s in the sub-table %s cannot be written in the client's character set: use utf8mb4", e.key.Name, s.Table)
			}
		}
	}
	return p.Statement.Definition.Verb != sqlparse.CreateTable, nil
}

// keyEdits lists the names of constraints and indexes whose physical tables may call them otherwise.
func (p *Plan) keyEdits() (edits []edit) {
	d := p.Statement.Definition
	if d == nil || p.Target == nil || !slices.ContainsFunc(p.Target.Table.Shards, func(s router.Shard) bool { return s.Table != p.Target.Table.Name }) {
		return nil
	}
	for k := range d.Keys {
		name := &d.Keys[k]
		if name.Adds && name.Kind == sqlparse.CheckName && p.Mode.MariaDB {
			continue // there it is a table's own
		}
		edits = append(edits, edit{span: name.At, key: name})
	}
	return edits
}

// Define gives the route of a definition on physical tables whose constraints and indexes are known: see [Each].Known.
func (p *Plan) Define(keys map[router.Shard]Keys) (Route, error) {
	e := &Execution{keys: keys}
	e.Bind(p, nil)
	return e.Route()
}

// key writes the name that a physical table has for a constraint or an index.
func (w *writer) key(k *sqlparse.KeyName) {
	shard := *w.p.Target.shard(w.at)
	there, name := w.keys[shard], strings.ToLower(k.Name)
	own, ok := there.Constraints[name]
	if k.Kind == sqlparse.IndexName {
		own, ok = there.Indexes[name]
	}
	mine, _ := mysql.PartConstraint(k.Name, w.p.Target.Table.Name, shard.Table)
	if ok && strings.EqualFold(own, mine) {
		own = mine // errors have the name as the client wrote it
	}
	if !ok && k.Adds && k.Kind != sqlparse.IndexName {
		own, ok = mine, true
	}
	if !ok || strings.EqualFold(own, k.Name) {
		w.piece(k.At.Pos, k.At.End)
		return
	}
	w.add(w.p.quote(own))
}
