package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/proxy/indexes"
	"kingshard/router"
	"kingshard/router/plan"
)

// globalTables lists the tables of DDL whose UNIQUE keys hold over all shards by unique: global, in the order in which their locks are taken.
func globalTables(p *plan.Plan) (tables []*router.Table) {
	if p.Statement.Definition == nil && p.Statement.Kind != sqlparse.TruncateKind {
		return nil
	}
	for _, r := range p.Refs {
		if r.Table.GlobalUnique && !slices.Contains(tables, r.Table) {
			tables = append(tables, r.Table)
		}
	}
	slices.SortFunc(tables, func(a, b *router.Table) int { return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Name, b.Name)) })
	return tables
}

// eachShardAlone runs DDL of tables with unique: global, while no other proxy does. Keys that the statement makes have an index before a sub-table has the
// key, and those that it drops lose their index when no sub-table has the key any more.
func (ds *definitions) eachShardAlone(q *query, tables []*router.Table) (failed bool, err error) {
	if err := ds.leases.endForDDL(); err != nil {
		return true, err
	}
	text := strings.Clone(q.text)
	for _, t := range tables {
		release, err := ds.alone(t)
		if err != nil {
			return true, err
		}
		defer release()
	}
	ctx, cancel := ds.patience()
	defer cancel()
	if err := ds.leases.hear(ctx, tables); err != nil {
		return true, err
	}
	db, mode := ds.client.state.DB(), ds.client.mode()
	if q.st != nil {
		db, mode = q.st.db, q.st.mode
	}
	var p *plan.Plan
	if plans := ds.client.schema.Plans; plans != nil {
		if p, err = plans.build(text, false, db, mode); err != nil {
			return true, planError(err)
		}
	}
	if p == nil || len(globalTables(p)) != len(tables) {
		return true, newError(KSRefusedSharding, "the rules of the statement's tables have changed: send it again")
	}
	g := &givingKeys{definitions: ds, text: text, db: db}
	if p, err = g.give(p); err != nil {
		return true, err
	}
	r, err := p.Define(nil)
	if err != nil {
		g.follow(p)
		return true, planError(err)
	}
	failed, err = ds.onEachShard(q, p, &r)
	g.follow(p)
	return failed, err
}

// alone has the session be the only one that defines a table.
func (ds *definitions) alone(t *router.Table) (release func(), err error) {
	ctx, cancel := ds.patience()
	defer cancel()
	release, err = indexes.Alone(ctx, t, ds.client.snap.Nodes)
	switch {
	case err == nil:
		return release, nil
	case ds.client.entry.IsCancelled():
		return nil, interrupted()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, mysql.NewSQLError(erLockWaitTimeout, "Lock wait timeout exceeded; try restarting transaction")
	}
	return nil, ds.notAsked(err)
}

// givingKeys gives tables the keys over all shards that DDL makes.
type givingKeys struct {
	*definitions
	text, db string
}

// give returns the plan of the statement on a table that has an index for each of the keys that it makes.
func (g *givingKeys) give(p *plan.Plan) (*plan.Plan, error) {
	d := p.Statement.Definition
	if d == nil || p.Target == nil || !p.Target.Table.GlobalUnique {
		return p, nil
	}
	switch d.Verb {
	case sqlparse.CreateTable:
		return g.created(p)
	case sqlparse.AlterTable, sqlparse.CreateIndex:
		if len(newKeys(p)) > 0 {
			return g.added(p)
		}
	}
	return p, nil
}

// newKeys are the keys of a plan that have no index.
func newKeys(p *plan.Plan) []plan.NewKey { return p.Operator.(*plan.Each).New }

// created has the keys be those of the table that CREATE TABLE makes: what is left of a table of its name before is forgotten.
func (g *givingKeys) created(p *plan.Plan) (*plan.Plan, error) {
	t, made := p.Target.Table, newKeys(p)
	var like *indexes.Described
	if p.Statement.Definition.Like {
		var err error
		if like, made, err = g.describedLike(p); err != nil {
			return nil, err
		}
	}
	ctx, cancel := g.patience()
	defer cancel()
	any, all, err := indexes.There(ctx, t, g.client.snap.Nodes)
	switch {
	case err != nil:
		return nil, g.notAsked(err)
	case any && !all && len(made) > 0:
		return nil, newError(KSRefusedSharding, fmt.Sprintf("a UNIQUE key of %s that the sub-tables which are there lack over the shards: make the others without it, then ALTER TABLE", p.Target.Parsed.Name))
	case any:
		return g.plan(t, nil) // its keys have their indexes, and the servers say that it is there
	}
	var keys []indexes.Key
	for _, k := range made {
		collations := k.Collations
		for _, name := range k.Columns {
			if c := like.Column(name); c != nil && c.Collation != "" {
				collations = append(collations, c.Collation)
			}
		}
		for _, u := range k.Unnamed {
			collation, err := g.collationLeft(p, u)
			if err != nil {
				return nil, err
			}
			if collation != "" {
				collations = append(collations, collation)
			}
		}
		one, err := keyFor(p, k, collations)
		if err != nil {
			return nil, err
		}
		keys = append(keys, one)
	}
	var left []*router.Index
	for _, x := range t.Indexes {
		is := func(k indexes.Key) bool {
			return k.Name == x.Name && k.Strings == x.Strings && slices.Equal(k.Columns, x.Columns)
		}
		switch {
		case !x.Given:
		case madeAgain(p, like, x):
			if !slices.ContainsFunc(keys, is) {
				keys = append(keys, indexes.Key{Name: x.Name, Columns: x.Columns, Strings: x.Strings})
			}
		default:
			left = append(left, x)
		}
	}
	with, err := g.plan(t, keys)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		if err := g.client.shared.Indexes.Forget(ctx, left, g.client.snap.Nodes); err != nil {
			return nil, g.notAsked(err)
		}
	}
	return with, nil
}

// madeAgain reports whether CREATE TABLE makes the key of an index that is left of a table of that name before.
func madeAgain(p *plan.Plan, like *indexes.Described, x *router.Index) bool {
	uniques := p.Statement.Definition.Uniques
	if like != nil {
		uniques = like.Uniques
	}
	return slices.ContainsFunc(uniques, func(u sqlparse.UniqueKey) bool { return !u.Partial && x.Table.Over(u.Columns) == x })
}

// keyFor is the index of a key.
func keyFor(p *plan.Plan, k plan.NewKey, collations []string) (one indexes.Key, err error) {
	for _, c := range k.Columns {
		one.Columns = append(one.Columns, strings.ToLower(c))
	}
	one.Name = strings.Join(one.Columns, "_")
	one.Strings, err = k.Strings(p.Target.Parsed.Name, collations)
	if err != nil {
		return one, planError(err)
	}
	return one, nil
}

// plan plans the statement on a table that has keys.
func (g *givingKeys) plan(t *router.Table, keys []indexes.Key) (*plan.Plan, error) {
	plans, err := g.client.schema.Plans.with(t, keys)
	if err != nil {
		return nil, newError(KSRefusedSharding, "a UNIQUE key of "+t.Name+" that is to hold over its shards: "+err.Error())
	}
	p, err := plans.build(g.text, false, g.db, g.client.mode())
	if err != nil {
		return nil, planError(err)
	}
	return p, nil
}

// collationLeft asks what collation a column of text gets whose definition leaves it to a default; "" where the server is to say what is wrong.
func (g *givingKeys) collationLeft(p *plan.Plan, u plan.Unnamed) (collation string, err error) {
	if !isWord(u.Charset) {
		return "", nil
	}
	shard := p.Target.Table.Shards[0]
	err = g.asking(shard.Node, func(c *backend.Conn) error {
		return c.Rows(defaultCollation(p, u, shard), 1, func(row []string) { collation = row[0] })
	})
	if refused := (*mysql.SQLError)(nil); errors.As(err, &refused) && refused.Code < ksErrors {
		return "", nil
	}
	return collation, err
}

// ksErrors is the first code of the proxy's own errors.
const ksErrors = 9000

// added gives the keys that are added to a table that is there their indexes, with the entries of the rows that are there.
func (g *givingKeys) added(p *plan.Plan) (*plan.Plan, error) {
	t := p.Target.Table
	d, err := g.described(t)
	if err != nil || d == nil {
		return p, err
	}
	if len(d.Uniques) == 0 || d.Uniques[0].Name != "PRIMARY" {
		return nil, newError(KSRefusedSharding, "a UNIQUE key over the shards of "+p.Target.Parsed.Name+", which has no primary key, by which its rows could be read in batches")
	}
	keys, _ := g.client.shared.Indexes.Given(t)
	names := map[string]string{} // of the keys, by those of the indexes
	for _, k := range newKeys(p) {
		var collations []string
		for _, name := range k.Columns {
			c := d.Column(name)
			if c == nil {
				return nil, newError(KSRefusedSharding, fmt.Sprintf("UNIQUE (%s) of %s, whose column %s is not there: add it by a statement of its own first", strings.Join(k.Columns, ", "), p.Target.Parsed.Name, name))
			}
			if c.Collation != "" {
				collations = append(collations, c.Collation)
			}
		}
		one, err := keyFor(p, k, collations)
		if err != nil {
			return nil, err
		}
		keys = append(keys, one)
		names[one.Name] = cmp.Or(k.Name, k.Columns[0])
	}
	with, err := g.plan(t, keys)
	if err != nil {
		return nil, err
	}
	var made []*router.Index
	for _, x := range with.Target.Table.Indexes {
		if x.Given && names[x.Name] != "" {
			if _, err := d.Definition(x); err != nil {
				return nil, newError(KSRefusedSharding, err.Error())
			}
			made = append(made, x)
		}
	}
	for _, x := range made {
		if err := g.build(x, names[x.Name]); err != nil {
			g.follow(with)
			return nil, err
		}
	}
	return with, nil
}

// described describes a table; nil where it is not there.
func (g *givingKeys) described(t *router.Table) (d *indexes.Described, err error) {
	for _, s := range t.Shards {
		err := g.asking(s.Node, func(c *backend.Conn) (err error) {
			d, err = indexes.Describe(c, s)
			return err
		})
		if err != nil || len(d.Columns) > 0 {
			return d, err
		}
	}
	return nil, nil
}

// build gives the rows that are there their entries in the index of a key.
func (g *givingKeys) build(x *router.Index, key string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(channelContext{ctx, g.client.entry.Cancelled()}, cancel)()
	err := g.client.shared.Indexes.Build(ctx, x, indexes.Options{Nodes: g.client.snap.Nodes})
	var twice *indexes.Duplicate
	switch {
	case errors.As(err, &twice):
		if !g.client.mode().MariaDB {
			key = x.Table.Name + "." + key
		}
		return mysql.NewSQLError(mysql.ERDupEntry, "Duplicate entry '%s' for key '%s'", twice.Entry, key)
	case err != nil:
		return g.notAsked(err)
	}
	return nil
}

// followMax bounds how long the indexes of a table take to follow its keys.
const followMax = time.Minute

// follow has the indexes of the statement's tables be those of the keys that the tables have now.
func (g *givingKeys) follow(p *plan.Plan) {
	ctx, cancel := context.WithTimeout(context.Background(), followMax)
	defer cancel()
	for _, t := range globalTables(p) {
		if err := g.followOne(ctx, t); err != nil {
			g.client.shared.Log.Warn("the keys over shards of a table may be others than its UNIQUE keys: SHOW KS INDEXES lists them, KS INDEX DROP takes one away",
				"conn", g.client.id, "table", t.DB+"."+t.Name, "error", err)
		}
	}
	_ = g.client.shared.Learn() // who needs the keys is told what is wrong
}

func (g *givingKeys) followOne(ctx context.Context, t *router.Table) error {
	states, nodes := &g.client.shared.Indexes, g.client.snap.Nodes
	given := slices.DeleteFunc(slices.Clone(t.Indexes), func(x *router.Index) bool { return !x.Given })
	if len(given) > 0 {
		any, _, err := indexes.There(ctx, t, nodes)
		if err == nil && any {
			err = states.Follow(ctx, t, nodes)
		} else if err == nil {
			err = states.Forget(ctx, given, nodes)
		}
		if err != nil {
			return err
		}
	}
	return states.Ask(ctx, t, nodes)
}
