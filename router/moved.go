package router

import (
	"slices"
	"time"

	"kingshard/config"
	"kingshard/router/rule"
)

// Moved lists the rules of which a new configuration looks for rows elsewhere than the old one put them: for these rows
// are not found any more, and primary keys may be there twice. A rule that only takes more keys, and one for a table that
// had none, move nothing. zone is that of date rules that name none.
func Moved(old, new *config.Config, zone *time.Location) ([]Movement, error) {
	var moved []Movement
	for k := range old.SchemaList {
		before := &old.SchemaList[k]
		at := slices.IndexFunc(new.SchemaList, func(s config.Schema) bool { return s.User == before.User })
		if at < 0 {
			continue // nobody looks for the rows
		}
		found, err := movedIn(before, &new.SchemaList[at], zone)
		if err != nil {
			return nil, err
		}
		moved = append(moved, found...)
	}
	return moved, nil
}

// Movement is a rule whose rows would be looked for elsewhere.
type Movement struct {
	User, DB, Table string // of the schema; Table is "" for all tables without a rule
}

// Path is where the configuration has it: schema_list[user].shard[db.table], or schema_list[user].default.
func (m Movement) Path() string {
	if m.Table == "" {
		return "schema_list[" + m.User + "].default"
	}
	return "schema_list[" + m.User + "].shard[" + m.DB + "." + m.Table + "]"
}

func movedIn(before, after *config.Schema, zone *time.Location) (moved []Movement, err error) {
	old, err := New(*before, Options{Zone: zone})
	if err != nil {
		return nil, err
	}
	now, err := New(*after, Options{Zone: zone})
	if err != nil {
		return nil, err
	}
	if old.Default() != now.Default() {
		moved = append(moved, Movement{User: before.User})
	}
	for _, t := range old.Tables() {
		if t.Keeps != nil {
			continue // it is made anew where it is to be in another place
		}
		u := now.Table(t.DB, t.Name)
		if u == nil {
			// Without a rule the table is on the default node, where a table of type single may have been all along.
			u = &Table{DB: t.DB, Name: t.Name, Kind: Single, Rule: rule.NewSingle(), Shards: []Shard{{now.Default(), t.DB, t.Name}}}
		}
		if t.moves(u) {
			moved = append(moved, Movement{before.User, t.DB, t.Name})
		}
	}
	return moved, nil
}

// moves tells whether some row that t places is not where u looks for it.
func (t *Table) moves(u *Table) bool {
	if t.Kind != u.Kind {
		return true
	}
	switch t.Kind {
	case Reference: // every copy that is read must have been there
		return slices.ContainsFunc(u.Shards, func(s Shard) bool { return !slices.Contains(t.Shards, s) })
	case Single:
		return t.Shards[0] != u.Shards[0]
	}
	if !slices.Equal(t.Keys, u.Keys) {
		return true
	}
	if slices.Equal(t.Shards, u.Shards) && rule.Equal(t.Rule, u.Rule) {
		return false
	}
	for key := range rule.Sample(t.Rule, u.Rule) {
		from, err := t.Rule.Find(key)
		if err != nil {
			continue
		}
		to, err := u.Rule.Find(key)
		if err != nil || t.Shards[from] != u.Shards[to] {
			return true
		}
	}
	return false
}
