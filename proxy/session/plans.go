package session

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/plan"
)

// plansMax bounds the plans kept; beyond it all are forgotten and made again as they are asked for.
const plansMax = 10_000

// planTextMax is the length in bytes of the longest text whose plan is kept.
const planTextMax = 16 << 10

// catalogAge is how long the columns of a table are believed: they may change without the proxy.
const catalogAge = time.Minute

// catalogTimeout bounds the wait for a connection to ask for a table's columns.
const catalogTimeout = 3 * time.Second

// Plans are the plans for the sharded tables of one schema, made as statements come. It belongs to a snapshot. A nil Plans
// is that of a schema without sharded tables.
type Plans struct {
	// exact and folded are the routers for servers that compare names of tables as they are, and without regard to case.
	exact, folded *router.Router
	unfolded      error                  // why there is no folded: tables whose names differ by case only are one table under such servers
	together      map[*router.Table]bool // these
	nodes         map[string]*backend.Node
	first         *backend.Node   // the schema's default
	names         map[string]bool // of tables with a rule, in lower case
	longest       int
	// configured is the schema without the indexes that DDL has given its tables; servers are those of router.Options.
	configured config.Schema
	servers    map[string]string

	shapes shapes
	// sequences are where tables have their ids from, by *router.Table.
	sequences sync.Map
	// defaults are columnDefaults by columnOf.
	defaults sync.Map
	// triggers are setsKeys by tableOnNode.
	triggers sync.Map
	// keys are uniqueKeys by table.
	keys sync.Map
	// large are the tables of which a statement has collected much to be finished, by *router.Table.
	large sync.Map
	// forgotten counts the calls of forget: what was kept elsewhere before one is out of date.
	forgotten atomic.Uint64

	mu      sync.RWMutex
	plans   map[planKey]*plan.Plan
	columns map[*router.Table]tableColumns
}

// planKey is all that a plan is made from, beside the snapshot.
type planKey struct {
	text, db string
	mode     sqltext.Mode
}

type tableColumns struct {
	visible, invisible []mysql.ColumnDefinition41
	documents          []string // those that MariaDB takes for JSON
	at                 time.Time
}

// NewPlans makes the plans' holder of a schema; nil for one without sharded tables. servers are those of router.Options.
func NewPlans(sc config.Schema, nodes map[string]*backend.Node, servers map[string]string) (*Plans, error) {
	return newPlans(sc, nil, nodes, servers)
}

// newPlans makes the plans' holder of a schema whose tables DDL has given indexes, by the positions of their rules.
func newPlans(configured config.Schema, given map[int][]config.Index, nodes map[string]*backend.Node, servers map[string]string) (*Plans, error) {
	sc := configured
	sc.Shard = slices.Clone(sc.Shard)
	for k, list := range given {
		sc.Shard[k].Unique = slices.Concat(sc.Shard[k].Unique, list)
	}
	r, err := router.New(sc, router.Options{Zone: time.Local, Servers: servers})
	if err != nil || len(r.Tables()) == 0 {
		return nil, err
	}
	p := &Plans{exact: r, configured: configured, servers: servers, nodes: nodes, first: nodes[sc.Default], names: map[string]bool{}, plans: map[planKey]*plan.Plan{}, columns: map[*router.Table]tableColumns{}}
	p.folded, p.unfolded = router.New(sc, router.Options{Zone: time.Local, LowerCase: true, Servers: servers})
	if p.unfolded != nil {
		p.together = together(r.Tables())
	}
	for _, t := range r.Tables() {
		p.names[strings.ToLower(t.Name)] = true
		p.longest = max(p.longest, len(t.Name))
	}
	return p, nil
}

// AutoCreated lists the tables whose missing sub-tables are to be made.
func (p *Plans) AutoCreated() (tables []*router.Table) {
	if p == nil {
		return nil
	}
	for _, t := range p.exact.Tables() {
		if t.AutoCreate {
			tables = append(tables, t)
		}
	}
	return tables
}

// router is the one for the servers as they are known now.
func (p *Plans) router() *router.Router {
	if p.folded != nil && p.foldsNames() {
		return p.folded
	}
	return p.exact
}

// together are tables of which sub-tables are one where case does not count.
func together(tables []*router.Table) map[*router.Table]bool {
	found, by := map[*router.Table]bool{}, map[router.Shard]*router.Table{}
	for _, t := range tables {
		for _, s := range t.Shards {
			s.DB, s.Table = strings.ToLower(s.DB), strings.ToLower(s.Table)
			if other := by[s]; other != nil {
				found[t], found[other] = true, true
			}
			by[s] = t
		}
	}
	return found
}

// build reads and plans a statement, or the form of one. One of tables with rules that are one table on the servers, as case does not count there, has
// no plan.
func (p *Plans) build(text string, form bool, db string, m sqltext.Mode) (*plan.Plan, error) {
	made, err := plan.Read(text, plan.Reading{Form: form, DB: db, Mode: m, Router: p.router(), Watched: p.watched, Catalog: p.Columns})
	if made == nil {
		return nil, err
	}
	if p.unfolded != nil && p.foldsNames() && slices.ContainsFunc(made.Refs, func(r *plan.Ref) bool { return p.together[r.Table] }) {
		return nil, plan.Refuse("lower_case_table_names is set on the servers, and the rules are not for it: %v", p.unfolded)
	}
	if err := p.unfollowed(made); err != nil {
		return nil, err
	}
	return made, nil
}

// foldsNames tells whether the servers, as they are known now, compare names of tables without regard to case.
func (p *Plans) foldsNames() bool {
	info := p.first.Info()
	return info != nil && info.LowerCaseTables
}

// watched tells whether a table with a rule has that name, in any case.
func (p *Plans) watched(name string) bool {
	if len(name) > p.longest {
		return false
	}
	return p.names[strings.ToLower(name)]
}

const informationSchema = "information_schema"

// mayConcern tells whether a statement may name a sharded table, or asks about tables. It costs one pass over the text. db is the current
// database.
func (p *Plans) mayConcern(q *query, db string, m sqltext.Mode) bool {
	if p == nil {
		return false
	}
	switch q.info.Class {
	case sqltext.Set, sqltext.Use, sqltext.Kill, sqltext.Begin, sqltext.Commit, sqltext.Rollback, sqltext.XA:
		return false
	}
	if q.info.Class == sqltext.Show {
		if sh, is := sqlparse.ParseShow(q.text, m); is && !sh.OneTable() {
			return true
		}
	}
	if strings.EqualFold(db, informationSchema) {
		return true
	}
	return p.named(q.text, m)
}

// named tells whether a text has the name of a sharded table, or information_schema, among its words.
func (p *Plans) named(text string, m sqltext.Mode) bool {
	l := sqltext.NewLexer(text, m)
	for {
		t := l.Next()
		switch t.Kind {
		case sqltext.KindEOF:
			return false
		case sqltext.KindWord:
			if word := text[t.Pos:t.End]; p.watched(word) || len(word) == len(informationSchema) && strings.EqualFold(word, informationSchema) {
				return true
			}
		case sqltext.KindQuotedIdent:
			if t.End-t.Pos > 2 && (p.watched(text[t.Pos+1:t.End-1]) || strings.EqualFold(text[t.Pos+1:t.End-1], informationSchema)) {
				return true
			}
		}
	}
}

// get gives the plan of a statement; nil when it touches no sharded table.
func (p *Plans) get(text, db string, m sqltext.Mode) (*plan.Plan, error) {
	k := planKey{text, db, m}
	p.mu.RLock()
	found, ok := p.plans[k]
	p.mu.RUnlock()
	if ok {
		return found, nil
	}
	k.text, k.db = strings.Clone(text), strings.Clone(db)
	made, err := p.build(k.text, false, k.db, m)
	if err != nil {
		return nil, err
	}
	if len(text) > planTextMax || made != nil && made.Guesses() {
		return made, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.plans) >= plansMax {
		clear(p.plans)
	}
	p.plans[k] = made
	return made, nil
}

// forget drops what is known of the tables, and the plans made from it: a table was changed.
func (p *Plans) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.plans)
	clear(p.columns)
	p.shapes.clear()
	p.defaults.Clear()
	p.triggers.Clear()
	p.keys.Clear()
	p.large.Clear()
	p.forgotten.Add(1)
}

// Columns gives the columns of a table as its first shard describes them, or where that cannot be asked, or is late, the first one on
// another node; nil if none can.
func (p *Plans) Columns(t *router.Table) (columns, invisible []mysql.ColumnDefinition41) {
	known := p.described(t)
	return known.visible, known.invisible
}

// described gives what is known of a table's columns, see Columns.
func (p *Plans) described(t *router.Table) (known tableColumns) {
	if t.Rule == nil {
		return p.describe(t.Shards[0]) // which is seldom asked for, and of which nobody hears when it changes
	}
	p.mu.RLock()
	known, ok := p.columns[t]
	p.mu.RUnlock()
	if ok && time.Since(known.at) < catalogAge {
		return known
	}
	for _, node := range p.lateLast(t.Nodes) {
		k := slices.IndexFunc(t.Shards, func(s router.Shard) bool { return s.Node == node })
		if known = p.describe(t.Shards[k]); known.visible != nil {
			break
		}
	}
	if known.visible == nil {
		return known
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.columns[t] = known
	return known
}

// lateLast lists nodes in their order, but behind the others those whose primary is late.
func (p *Plans) lateLast(nodes []string) []string {
	late := func(name string) bool { n := p.nodes[name]; return n != nil && n.Primary.Late() }
	if !slices.ContainsFunc(nodes, late) {
		return nodes
	}
	in := slices.DeleteFunc(slices.Clone(nodes), late)
	return append(in, slices.DeleteFunc(slices.Clone(nodes), func(name string) bool { return !late(name) })...)
}

// describe asks for the columns of a sub-table; none if that cannot be done.
func (p *Plans) describe(shard router.Shard) (known tableColumns) {
	node := p.nodes[shard.Node]
	if node == nil {
		return known
	}
	// Results in the columns' own character sets tell the columns' own collations.
	setting := backend.Intern("", 0, []backend.Var{{Name: "character_set_results", Value: "NULL"}})
	conn, err := node.Primary.Get(setting, time.Now().Add(catalogTimeout), nil)
	if err != nil {
		return known
	}
	known.visible, known.invisible, err = backend.TableColumns(conn.Conn, shard.DB, shard.Table)
	if err == nil && slices.ContainsFunc(slices.Concat(known.visible, known.invisible), func(d mysql.ColumnDefinition41) bool { return isText(&d) }) {
		known.documents, err = backend.Documents(conn.Conn, shard.DB, shard.Table)
	}
	if _, refused := err.(*mysql.SQLError); err == nil || refused {
		conn.Put()
	} else {
		conn.Taint()
	}
	if err != nil {
		return tableColumns{}
	}
	known.at = time.Now()
	return known
}

// quoteName writes a name as an identifier for a connection that is not in a client's character set.
func quoteName(name string) string {
	text, _ := sqltext.QuoteIdent(name, sqltext.Mode{})
	return text
}
