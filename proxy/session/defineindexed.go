package session

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/ddl"
	"kingshard/proxy/indexes"
	"kingshard/router"
	"kingshard/router/plan"
)

// withIndexes adds the steps to a definition that it takes on the tables that keep the indexes of its tables, with the names of each. CREATE TABLE makes
// them ahead of the table, so that no row comes ahead of them, and DROP TABLE drops them behind it. TRUNCATE TABLE puts them aside, has every shard empty, and
// then makes them anew: a change of a row that is under way ends before or fails in between, and none is kept without its entry.
func (ds *definitions) withIndexes(p *plan.Plan, st *ddl.Statement, names [][]mysql.TableName) ([][]mysql.TableName, error) {
	d := p.Statement.Definition
	var err error
	switch {
	case p.Statement.Kind == sqlparse.TruncateKind:
		names, err = ds.emptyIndexes(p, st, names)
	case d == nil:
	case d.Verb == sqlparse.CreateTable && len(p.Target.Table.Indexes) > 0:
		names, err = ds.makeIndexes(p, st, names)
	case d.Verb == sqlparse.CreateTable && d.Like:
		_, _, err = ds.describedLike(p)
	case d.Verb == sqlparse.DropTable:
		for _, r := range p.Refs {
			for _, x := range r.Table.Indexes {
				for _, s := range x.Lookup.Shards {
					names = addIndexStep(st, names, x, s, ddl.Step{Stage: 1, Text: "DROP TABLE IF EXISTS " + quotedShard(s)})
				}
			}
		}
	case len(p.Operator.(*plan.Each).Needed) > 0:
		err = ds.builtFor(p)
	}
	if err != nil {
		return nil, err
	}
	return names, ds.writable(st)
}

// quotedShard writes the name of a physical table.
func quotedShard(s router.Shard) string { return quoteName(s.DB) + "." + quoteName(s.Table) }

// addIndexStep adds a step on one of the tables that keep an index.
func addIndexStep(st *ddl.Statement, names [][]mysql.TableName, x *router.Index, s router.Shard, step ddl.Step) [][]mysql.TableName {
	step.Node, step.Tables, step.Own = s.Node, []string{s.String()}, true
	st.Steps = append(st.Steps, step)
	return append(names, []mysql.TableName{{FromSchema: s.DB, FromTable: s.Table, Schema: x.Lookup.DB, Table: x.Lookup.Name, Node: s.Node}})
}

// writable refuses steps that cannot be written in the client's character set.
func (ds *definitions) writable(st *ddl.Statement) error {
	charset := strings.Trim(ds.client.state.Value("character_set_client"), "'")
	for _, step := range st.Steps {
		if step.Own && !sqltext.IsASCII(step.Text) && !strings.HasPrefix(charset, "utf8") {
			return unreadableName()
		}
	}
	return nil
}

// patience ends with the statement, or after as long as all proxies may take to hear of the state of an index, and some more.
func (ds *definitions) patience() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), indexes.Settling+10*time.Second)
	stop := context.AfterFunc(channelContext{ctx, ds.client.entry.Cancelled()}, cancel)
	return ctx, func() { stop(); cancel() }
}

// channelContext is a context that ends when a channel is closed.
type channelContext struct {
	context.Context
	done <-chan struct{}
}

// Done returns the channel.
func (c channelContext) Done() <-chan struct{} { return c.done }

// Err returns nil until the channel is closed.
func (c channelContext) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}

// notAsked is what the client hears where the nodes did not tell about indexes.
func (ds *definitions) notAsked(err error) error {
	var refused *mysql.SQLError
	switch {
	case ds.client.entry.IsCancelled():
		return interrupted()
	case errors.Is(err, indexes.ErrLeft):
		return newError(KSRefusedSharding, err.Error())
	case errors.As(err, &refused):
		return newError(KSBackendUnreachable, err.Error())
	case plan.IsRefusal(err):
		return planError(err)
	}
	return newError(KSBackendUnreachable, err.Error())
}

// makeIndexes makes the tables that keep the indexes of a table in the first stage, and the table in the second.
func (ds *definitions) makeIndexes(p *plan.Plan, st *ddl.Statement, names [][]mysql.TableName) ([][]mysql.TableName, error) {
	t, d := p.Target.Table, p.Statement.Definition
	var like *indexes.Described
	if d.Like {
		var err error
		if like, _, err = ds.describedLike(p); err != nil {
			return nil, err
		}
	}
	var made []*indexes.Definition
	for _, x := range t.Indexes {
		var one *indexes.Definition
		var err error
		if d.Like {
			one, err = like.Definition(x)
		} else {
			one, err = indexes.Defined(x, d)
		}
		if err != nil {
			return nil, newError(KSRefusedSharding, err.Error())
		}
		if from, to := t.Shards[0], x.Lookup.Shards[0]; one.Options == "" && from.DB != to.DB && !d.Like {
			if one.Options, err = ds.optionsOf(from); err != nil {
				return nil, err
			}
		}
		made = append(made, one)
	}
	ctx, cancel := ds.patience()
	defer cancel()
	exists, err := ds.client.shared.Indexes.Begin(ctx, t, ds.client.snap.Nodes)
	if err != nil {
		return nil, ds.notAsked(err)
	}
	for k := range st.Steps {
		st.Steps[k].Stage = 1
	}
	for k, x := range t.Indexes {
		if exists && ds.client.shared.Indexes.Record(x).State != indexes.Built {
			continue // KS INDEX BUILD makes them, if the table is not the one that is meant
		}
		for _, s := range x.Lookup.Shards {
			names = addIndexStep(st, names, x, s, ddl.Step{Text: made[k].Create(s), Undo: "DROP TABLE IF EXISTS " + quotedShard(s)})
		}
	}
	return names, nil
}

// optionsOf are what a table has by default in the database of a shard.
func (ds *definitions) optionsOf(s router.Shard) (options string, err error) {
	err = ds.asking(s.Node, func(c *backend.Conn) error {
		return c.Rows("SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = "+hexText(s.DB), 1, func(row []string) { options = " COLLATE " + row[0] })
	})
	return options, err
}

// asking runs f with a connection to a node's primary in the session's state.
func (ds *definitions) asking(node string, f func(c *backend.Conn) error) error {
	n := ds.client.snap.Nodes[node]
	if n == nil {
		return newError(KSRefusedSharding, "node "+node+" is not in the configuration any more")
	}
	conn, err := n.Primary.Get(ds.client.state.Setting(), time.Now().Add(catalogTimeout), nil)
	if err != nil {
		return backendError(err)
	}
	if err = f(conn.Conn); err == nil {
		conn.Put()
		return nil
	}
	if _, refused := err.(*mysql.SQLError); !refused {
		conn.Taint()
		return backendError(err)
	}
	conn.Put()
	return err
}

// describedLike describes the table behind LIKE, refuses UNIQUE keys of it that would hold inside each shard only, and returns those that are to get an index.
func (ds *definitions) describedLike(p *plan.Plan) (d *indexes.Described, unnamed []plan.NewKey, err error) {
	t := p.Target.Table
	if t.Kind != router.Sharded || len(t.Shards) < 2 {
		return nil, nil, nil
	}
	from := likeOf(p, t.Shards[0])
	if from.Node == "" {
		return nil, nil, newError(KSRefusedSharding, "CREATE TABLE ... LIKE a table that the proxy does not find: name its columns")
	}
	err = ds.asking(from.Node, func(c *backend.Conn) (err error) {
		d, err = indexes.Describe(c, from)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, u := range d.Uniques {
		if u.Name == "PRIMARY" {
			continue
		}
		is, err := p.Target.UniqueHolds(u)
		if err != nil {
			return nil, nil, planError(err)
		}
		if is {
			unnamed = append(unnamed, plan.NewKey{UniqueKey: u})
		}
	}
	if len(d.Columns) == 0 {
		return nil, nil, mysql.NewSQLError(erNoSuchTable, fmt.Sprintf("Table '%s.%s' doesn't exist", from.DB, from.Table))
	}
	return d, unnamed, nil
}

// emptyIndexes has TRUNCATE TABLE empty the tables that keep the indexes.
func (ds *definitions) emptyIndexes(p *plan.Plan, st *ddl.Statement, names [][]mysql.TableName) ([][]mysql.TableName, error) {
	t := p.Target.Table
	if len(t.Indexes) == 0 {
		return names, nil
	}
	ctx, cancel := ds.patience()
	defer cancel()
	if err := ds.client.shared.Indexes.Ask(ctx, t, ds.client.snap.Nodes); err != nil {
		return nil, ds.notAsked(err)
	}
	for k := range st.Steps {
		st.Steps[k].Stage = 1
	}
	for _, x := range t.Indexes {
		if ds.client.shared.Indexes.Record(x).State == indexes.Missing {
			continue // KS INDEX BUILD makes it anew
		}
		for _, s := range x.Lookup.Shards {
			aside := asideOf(s)
			for _, step := range []ddl.Step{
				{Stage: 0, Text: "RENAME TABLE " + quotedShard(s) + " TO " + quotedShard(aside), Undo: "RENAME TABLE " + quotedShard(aside) + " TO " + quotedShard(s)},
				{Stage: 2, Text: "CREATE TABLE " + quotedShard(s) + " LIKE " + quotedShard(aside)},
				{Stage: 3, Text: "DROP TABLE " + quotedShard(aside), Again: "DROP TABLE IF EXISTS " + quotedShard(aside)},
			} {
				names = addIndexStep(st, names, x, s, step)
			}
		}
	}
	return names, nil
}

// asideOf is where a table is put until it is dropped.
func asideOf(s router.Shard) router.Shard {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.Table)) // which never fails
	s.Table = fmt.Sprintf("ks_aside_%016x", h.Sum64())
	return s
}

// builtFor refuses a UNIQUE key that is added to a table, where the index that keeps it over the shards has not all rows: values may be there twice.
func (ds *definitions) builtFor(p *plan.Plan) error {
	ctx, cancel := ds.patience()
	defer cancel()
	if err := ds.client.shared.Indexes.Ask(ctx, p.Target.Table, ds.client.snap.Nodes); err != nil {
		return ds.notAsked(err)
	}
	for _, x := range p.Operator.(*plan.Each).Needed {
		if state := ds.client.shared.Indexes.Record(x).State; state != indexes.Built {
			return newError(KSRefusedSharding, fmt.Sprintf("a UNIQUE key of %s that its index %s is to keep over the shards, which is %s: KS INDEX BUILD %s %s first, which finds values that are there twice",
				p.Target.Parsed.Name, x.Name, state, p.Target.Parsed.Name, x.Name))
		}
	}
	return nil
}
