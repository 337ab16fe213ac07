package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/indexes"
	"kingshard/router"
)

var indexCommand = command{
	verb: "index", usage: "KS INDEX BUILD [db.]table [index] [RATE n], KS INDEX VERIFY [db.]table [index] [REPAIR], KS INDEX DROP [db.]table index", rights: account.Operate,
	about: "BUILD gives the rows that are there their entries in the tables that keep keys over shards, at most n rows a second, while clients write; it goes on where one before has ended. " +
		"VERIFY compares rows and entries both ways, and with REPAIR writes and deletes entries. DROP has nobody use the key and drops what keeps it",
	run: func(c *call) (*answer, error) {
		ctx, cancel := c.context()
		defer cancel()
		w := indexWork{action: indexActions[strings.ToLower(c.r.Raw())]}
		if w.action == "" {
			return nil, c.r.Expected("BUILD, VERIFY or DROP")
		}
		c.r.Next()
		var err error
		if w.table, err = c.tableName(); err != nil {
			return nil, err
		}
		if !c.r.Ended() && !c.r.Is("rate") && !c.r.Is("repair") {
			var ok bool
			if w.name, ok = c.r.Name(); !ok {
				return nil, c.r.Expected("the name of an index")
			}
		}
		switch {
		case w.action == "build" && c.r.Word("rate"):
			n, ok := c.r.Number()
			if !ok || !isRate(int(n)) {
				return nil, c.r.Expected("how many rows a second, from 1")
			}
			w.rate = int(n)
		case w.action == "verify":
			w.repair = c.r.Word("repair")
		}
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return c.a.indexes(ctx, c.who, w)
	},
}

// isRate reports whether so many rows a second can be asked for.
func isRate(n int) bool { return n >= 1 && n <= 1_000_000_000 }

// indexActions are what can be done with an index.
var indexActions = map[string]string{"build": "build", "verify": "verify", "drop": "drop"}

// indexWork is what is to be done with the indexes of a table, or with one of them.
type indexWork struct {
	action, table, name string
	rate                int
	repair              bool
}

// indexColumns are those of the answer.
var indexColumns = append(append(texts("db", "table", "name"), numbers("rows", "entries", "lacking", "stale", "twice")...), texts("examples")...)

// indexes does something with the indexes of a table. Values are shown to those who may see other users' statements.
func (a *Admin) indexes(ctx context.Context, who change.Who, w indexWork) (*answer, error) {
	snap := a.shared.Snapshot.Load()
	var tables []*router.Table
	for _, t := range snap.Ruled() {
		named := strings.EqualFold(t.DB+"."+t.Name, w.table) || strings.EqualFold(t.Name, w.table)
		if named && (w.action == "drop" || len(t.Indexes) > 0) && !containsTable(tables, t) {
			tables = append(tables, t)
		}
	}
	switch {
	case w.action == "drop" && w.name == "":
		return nil, change.Failed("the name of an index is missing: SHOW KS INDEXES lists them")
	case len(tables) == 0:
		return nil, change.Failed("no rule of a table %s has indexes: SHOW KS INDEXES lists them", w.table)
	case len(tables) > 1:
		return nil, change.Failed("several tables are called %s: give the database too", w.table)
	}
	t := tables[0]
	var of []*router.Index
	for _, x := range t.Indexes {
		if w.name == "" || strings.EqualFold(x.Name, w.name) {
			of = append(of, x)
		}
	}
	if w.action == "drop" {
		return a.dropIndex(ctx, who, tables[0], w.name, of)
	}
	if len(of) == 0 {
		return nil, change.Failed("the rule of %s has no index %s: SHOW KS INDEXES lists them", w.table, w.name)
	}
	found := &answer{columns: indexColumns}
	detail := strings.TrimSpace(t.DB + "." + t.Name + " " + w.name)
	return found, a.Trail.Act(who, account.Operate, "index "+w.action, detail, func() error {
		o := indexes.Options{Nodes: snap.Nodes, Rate: w.rate}
		for _, x := range of {
			row := []any{t.DB, t.Name, x.Name, nil, nil, nil, nil, nil, nil}
			var err error
			switch w.action {
			case "build":
				err = a.shared.Indexes.Build(ctx, x, o)
				row[3] = a.shared.Indexes.Record(x).Done
			case "verify":
				var f *indexes.Found
				if f, err = a.shared.Indexes.Verify(ctx, x, o, w.repair); f != nil {
					row = []any{t.DB, t.Name, x.Name, f.Rows, f.Entries, f.Lacking, f.Stale, f.Twice, orNil(shownTo(who, strings.Join(f.Examples, "; ")))}
				}
			}
			if ctx.Err() != nil {
				return interrupted()
			}
			if err != nil {
				return indexFailed(who, x, err)
			}
			found.rows = append(found.rows, row)
		}
		return nil
	})
}

// dropColumns are those of the answer to KS INDEX DROP.
var dropColumns = texts("db", "table", "name", "dropped")

// dropIndex drops an index of a table, or what is left of one that the rule does not name any more: then of is empty.
func (a *Admin) dropIndex(ctx context.Context, who change.Who, t *router.Table, name string, of []*router.Index) (*answer, error) {
	snap := a.shared.Snapshot.Load()
	found := &answer{columns: dropColumns}
	return found, a.Trail.Act(who, account.Operate, "index drop", t.DB+"."+t.Name+" "+name, func() error {
		o := indexes.Options{Nodes: snap.Nodes}
		var dropped []router.Shard
		var err error
		if len(of) > 0 {
			name = of[0].Name
			dropped, err = a.shared.Indexes.Drop(ctx, of[0], o)
		} else if err = a.inTheWay(snap.Ruled(), t, name); err == nil {
			dropped, err = a.shared.Indexes.DropUnused(ctx, t, name, o)
		}
		switch {
		case ctx.Err() != nil:
			return interrupted()
		case errors.Is(err, indexes.ErrNotThere):
			return change.Failed("the rule of %s.%s has no index %s, and no proxy has built one of that name: SHOW KS INDEXES lists them", t.DB, t.Name, name)
		case err != nil:
			return change.Failed("the index %s of %s.%s: %v", name, t.DB, t.Name, err)
		}
		var places []string
		for _, s := range dropped {
			places = append(places, s.String())
		}
		found.rows = append(found.rows, []any{t.DB, t.Name, name, orNil(strings.Join(places, ", "))})
		return nil
	})
}

// inTheWay is the error where the tables that kept an index would be called as others are that are in use.
func (a *Admin) inTheWay(ruled []*router.Table, t *router.Table, name string) error {
	kept := "ks_" + t.Name + "_" + name
	for _, other := range ruled {
		for _, one := range append([]*router.Table{other}, other.Lookups()...) {
			if strings.EqualFold(one.DB, t.DB) && strings.EqualFold(one.Name, kept) {
				return change.Failed("%s is in use for another rule", kept)
			}
		}
	}
	return nil
}

func containsTable(tables []*router.Table, t *router.Table) bool {
	for _, one := range tables {
		if one.DB == t.DB && one.Name == t.Name {
			return true
		}
	}
	return false
}

// shownTo is a text that has values of rows, for those who may see them.
func shownTo(w change.Who, text string) string {
	if text != "" && !w.Texts {
		return "?"
	}
	return text
}

// indexFailed is what is heard of a job that ended early.
func indexFailed(w change.Who, x *router.Index, err error) error {
	var twice *indexes.Duplicate
	var refused *mysql.SQLError
	switch {
	case errors.As(err, &twice) && !w.Texts:
		return change.Failed("two rows of %s.%s have the same values in the index %s: the right process shows which", x.Table.DB, x.Table.Name, x.Name)
	case errors.As(err, &refused):
		return change.Failed("the index %s of %s.%s: %s", x.Name, x.Table.DB, x.Table.Name, fmt.Sprint(err))
	}
	return change.Failed("%v", err)
}
