package admin

import (
	"context"
	"strings"

	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/placement"
	"kingshard/router"
)

var checkCommand = command{
	verb: "check", usage: "KS CHECK TABLE name | ALL, KS CHECK PLACEMENT name, KS CHECK REFERENCE name [REPAIR FROM node]", rights: account.Operate,
	about: "TABLE compares the sub-tables of a table, or of all, and says what is missing or differs, and which keys are compared otherwise than the rule " +
		"folds them; PLACEMENT reads all keys of a table and finds rows that lie where the rule does not look for them; REFERENCE compares the copies of a reference table, " +
		"and with REPAIR, for which it takes the rights admin, makes them as that on a node is",
	run: func(c *call) (*answer, error) {
		ctx, cancel := c.context()
		defer cancel()
		switch {
		case c.r.Word("table"):
			name := ""
			if !c.r.Word("all") {
				var err error
				if name, err = c.tableName(); err != nil {
					return nil, err
				}
			}
			if err := c.r.End(); err != nil {
				return nil, err
			}
			return c.a.checkTables(ctx, c.who, name)
		case c.r.Word("placement"):
			name, err := c.tableName()
			if err == nil {
				err = c.r.End()
			}
			if err != nil {
				return nil, err
			}
			return c.a.checkPlacement(ctx, c.who, name)
		case c.r.Word("reference"):
			name, from, err := c.copiesOf()
			if err != nil {
				return nil, err
			}
			return c.a.checkReference(ctx, c.who, name, from)
		}
		return nil, c.r.Expected("TABLE, PLACEMENT or REFERENCE")
	},
}

// context ends when the caller's statement is to end.
func (c *call) context() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	if c.caller.Cancelled == nil {
		return ctx, cancel
	}
	ended := make(chan struct{})
	cancelled := c.caller.Cancelled()
	go func() {
		defer close(ended)
		select {
		case <-cancelled:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); <-ended }
}

// tableName passes over a table's name, with its database or in the current one, and gives both with a point between.
func (c *call) tableName() (string, error) {
	db, ok := c.r.Name()
	if !ok {
		return "", c.r.Expected("the name of a table with a rule")
	}
	if c.r.Op(".") {
		table, ok := c.r.Name()
		if !ok {
			return "", c.r.Expected("the name of a table with a rule")
		}
		return db + "." + table, nil
	}
	if c.caller.DB == "" {
		return db, nil
	}
	return c.caller.DB + "." + db, nil
}

// ruled are the tables with a rule of that name, with or without its database, each once though several users see it; all
// of them for "".
func (a *Admin) ruled(name string) (tables []*router.Table) {
	snap := a.shared.Snapshot.Load()
	seen := map[string]bool{}
	for _, sc := range snap.Config.SchemaList {
		schema := snap.Schemas[sc.User]
		if schema == nil {
			continue
		}
		for _, t := range schema.Plans.Tables() {
			if name != "" && !strings.EqualFold(t.DB+"."+t.Name, name) && !strings.EqualFold(t.Name, name) {
				continue
			}
			// Users may have different rules for one name.
			var lies strings.Builder
			for _, s := range t.Shards {
				lies.WriteString(s.String() + "\n")
			}
			if at := t.Rule.Kind() + "\n" + t.DB + "." + t.Name + "\n" + lies.String(); !seen[at] {
				seen[at] = true
				tables = append(tables, t)
			}
		}
	}
	return tables
}

var checkTableColumns = texts("db", "table", "node", "physical_table", "finding")

// checkTables compares the sub-tables of one table, or with "" of all.
func (a *Admin) checkTables(ctx context.Context, w change.Who, name string) (*answer, error) {
	tables := a.ruled(name)
	if len(tables) == 0 && name != "" {
		return nil, change.Failed("no table %s has a rule: SHOW KS TABLES lists them", name)
	}
	found := &answer{columns: checkTableColumns}
	return found, a.Trail.Act(w, account.Operate, "check table", name, func() error {
		nodes := a.shared.Snapshot.Load().Nodes
		for _, t := range tables {
			for _, f := range append(placement.Differences(ctx, t, nodes), placement.Collations(ctx, t, nodes)...) {
				found.rows = append(found.rows, []any{t.DB, t.Name, f.Node, orNil(f.Table), f.What})
			}
			if ctx.Err() != nil {
				return interrupted()
			}
		}
		return nil
	})
}

func interrupted() error {
	return mysql.NewSQLError(mysql.ERQueryInterrupted, "Query execution was interrupted")
}

var checkPlacementColumns = append(append(texts("node", "physical_table"), numbers("rows", "elsewhere")...), texts("examples", "error")...)

// checkPlacement reads the keys of a table. Keys are values: they are shown to those who may see other users' statements.
func (a *Admin) checkPlacement(ctx context.Context, w change.Who, name string) (*answer, error) {
	if name == "" {
		return nil, change.Failed("the name of a table is missing")
	}
	tables := a.ruled(name)
	if len(tables) == 0 {
		return nil, change.Failed("no table %s has a rule: SHOW KS TABLES lists them", name)
	}
	found := &answer{columns: checkPlacementColumns}
	return found, a.Trail.Act(w, account.Operate, "check placement", name, func() error {
		for _, t := range tables {
			err := placement.Rows(ctx, t, a.shared.Snapshot.Load().Nodes, func(s placement.Scanned) {
				var examples []string
				for _, k := range s.Keys {
					key := k.Key
					if !w.Texts {
						key = "?"
					}
					examples = append(examples, key+" belongs to "+k.To)
				}
				var why any
				if s.Err != nil {
					why = s.Err.Error()
				}
				found.rows = append(found.rows, []any{s.Node, s.DB + "." + s.Table, s.Rows, s.Elsewhere, orNil(strings.Join(examples, "; ")), why})
			})
			if ctx.Err() != nil {
				return interrupted()
			}
			if err != nil {
				return change.Failed("%s.%s: %v", t.DB, t.Name, err)
			}
		}
		return nil
	})
}
