package session

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/value"
	"kingshard/proxy/account"
	"kingshard/proxy/process"
	"kingshard/proxy/queryrule"
	"kingshard/proxy/session/state"
)

// apartConns is how many connections each node may have.
const apartConns = 4

// apart is a client without a session: tests build one part of a session on it, with those that the part links to.
type apart struct {
	*client
	far   *toldClient
	nodes map[string]*backend.Node
}

// toldClient is the end of a client that takes all it is sent and says nothing.
type toldClient struct {
	net.Conn // nil: nobody reads, or asks where it leads

	mu     sync.Mutex
	bytes  []byte
	closed bool
}

func (c *toldClient) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	c.bytes = append(c.bytes, b...)
	return len(b), nil
}

func (c *toldClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

func (c *toldClient) gone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func (c *toldClient) SetDeadline(time.Time) error { return nil }

// partsConfig is a configuration of a node for each server, n1 and so on, on which d.t is sharded by id, if they are several: even ids are on the
// first, odd ones on the second. Its user root may do anything, its user app what users may without being told so.
func partsConfig(servers ...*mysqltest.ScriptServer) *config.Config {
	cfg := config.Default()
	cfg.AuthPlugin, cfg.TransactionMode = "mysql_native_password", config.TransactionSingle
	cfg.ConnectTimeout, cfg.PoolWaitTimeout, cfg.HandshakeTimeout = config.Duration(5*time.Second), config.Duration(5*time.Second), config.Duration(5*time.Second)
	cfg.UserList = []config.User{{User: "root", Password: "root", Process: true, Hints: true, MultiStatements: true, Rights: "admin"}, {User: "app", Password: "app"}}
	var names []string
	for k, server := range servers {
		names = append(names, fmt.Sprintf("n%d", k+1))
		cfg.Nodes = append(cfg.Nodes, config.Node{Name: names[k], MaxConnsLimit: apartConns, User: "proxy", Master: server.Addr})
	}
	if len(names) == 0 {
		return cfg
	}
	for _, u := range cfg.UserList {
		sc := config.Schema{User: u.User, Nodes: names, Default: names[0]}
		if len(names) > 1 {
			one := make([]int, len(names))
			for k := range one {
				one[k] = 1
			}
			sc.Shard = []config.Shard{{DB: "d", Table: "t", Key: config.Columns{"id"}, Nodes: names, Type: "hash", Locations: one}}
		}
		cfg.SchemaList = append(cfg.SchemaList, sc)
	}
	return cfg
}

// newShared is what clients of a configuration share. Servers are known as if they had been asked, and have no stored objects.
func newShared(t *testing.T, cfg *config.Config) *Shared {
	t.Helper()
	snap := &Snapshot{Config: cfg, Schemas: map[string]*Schema{}, Generation: 1}
	var err error
	if snap.Accounts, err = account.New(cfg, nil); err != nil {
		t.Fatal(err)
	}
	if snap.Rules, err = queryrule.New(cfg, nil); err != nil {
		t.Fatal(err)
	}
	if snap.Nodes, err = backend.Open(cfg); err != nil {
		t.Fatal(err)
	}
	for _, n := range snap.Nodes {
		t.Cleanup(n.Close)
		for _, i := range n.Instances() {
			i.SetInfo(&backend.Info{Version: "8.4.0", Number: 80400, Collation: utf8mb4General, ResetConnection: true})
			i.SetStored(new(stored.Objects), nil)
		}
	}
	for _, sc := range cfg.SchemaList {
		s := &Schema{Default: snap.Nodes[sc.Default], Nodes: map[string]*backend.Node{}}
		for _, name := range sc.Nodes {
			s.Nodes[name] = snap.Nodes[name]
		}
		if s.Plans, err = NewPlans(sc, snap.Nodes, nil); err != nil {
			t.Fatal(err)
		}
		if s.Plans != nil {
			columns := []mysql.ColumnDefinition41{{Name: "id", Type: mysql.TypeLongLong}, {Name: "a", Type: mysql.TypeLongLong}}
			s.Plans.columns[s.Plans.exact.Tables()[0]] = tableColumns{visible: columns, at: time.Now().Add(time.Hour)}
		}
		snap.Schemas[sc.User] = s
	}
	shared := &Shared{Log: slog.New(slog.DiscardHandler), Started: time.Now()}
	shared.Packets.SetMost(1 << 20)
	shared.Snapshot.Store(snap)
	return shared
}

// newApart is a client of a user who is logged in, in front of scripted servers.
func newApart(t *testing.T, user string, servers ...*mysqltest.ScriptServer) *apart {
	t.Helper()
	return apartOf(t, user, newShared(t, partsConfig(servers...)))
}

// apartOf is a further client.
func apartOf(t *testing.T, user string, shared *Shared) *apart {
	t.Helper()
	return apartIn(t, user, shared, new(client))
}

// apartIn makes c a further client.
func apartIn(t *testing.T, user string, shared *Shared, c *client) *apart {
	t.Helper()
	a := &apart{client: c, far: new(toldClient)}
	a.init(a.far, shared)
	a.entry.Connect((*clientConn)(a.conn), process.Who{User: user, Host: hostOf(a.addr)}, shared.Log)
	shared.Sessions.Add(&a.entry)
	a.identify(a.entry.ID())
	a.snap = shared.Snapshot.Load()
	a.nodes = a.snap.Nodes
	acc, known := a.snap.Accounts.Lookup(user, a.addr)
	if !known {
		t.Fatal("no such user:", user)
	}
	a.schema = a.snap.Schemas[user]
	if a.schema == nil {
		a.schema = &Schema{}
	}
	a.setAccount(acc)
	a.conn.Capabilities = mysql.ClientProtocol41 | mysql.ClientDeprecateEOF | mysql.ClientTransactions | mysql.ClientMultiResults | mysql.ClientPSMultiResults
	a.state = state.New(utf8mb4General, a.conn.Capabilities)
	a.state.Resolve(&backend.Info{Version: "8.4.0", Number: 80400, Collation: utf8mb4General})
	a.entry.LoggedIn(true)
	a.finishCommand()
	t.Cleanup(func() {
		a.entry.TakeRunning()
		a.txn.End(a.run)
		a.conn.Close()
		a.conn.Release()
		a.releaseTask()
		shared.Sessions.Remove(&a.entry)
	})
	return a
}

// says begins the command of a text, and returns the statement.
func (a *apart) says(text string) *query {
	a.releaseTask()
	a.conn.ResetSequence()
	a.begin(mysql.ComQuery, text)
	q, info := &a.task().query, a.classify(text)
	q.begin(text, &info)
	q.source = text
	a.observed.Class = info.Class
	q.readWithin(a.mode())
	return q
}

// hears ends the command with what a part returned, and words what the client was told of it: "ok 3" with the rows that were changed, rows as
// "1 a; 2 b", "error 1064", and what ends the session as "end backend_lost".
func (a *apart) hears(t *testing.T, err error) string {
	t.Helper()
	end := a.conclude(a.entry.Command(), a.settle(err))
	text := a.told(t)
	if end != nil {
		text = strings.TrimSpace(text + " end " + end.reason.String())
	}
	return text
}

// told words the packets that the client was sent since it was last asked.
func (a *apart) told(t *testing.T) string {
	t.Helper()
	if err := a.conn.Flush(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
	a.far.mu.Lock()
	s := &sink{kept: keptBytes{bytes: a.far.bytes}}
	a.far.bytes = nil
	a.far.mu.Unlock()
	packets := s.packets()
	if len(packets) == 0 {
		return ""
	}
	switch packets[0][0] {
	case mysql.OKHeader:
		var ok mysql.OKPacket
		if err := ok.Decode(packets[0], a.conn.Capabilities); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("ok %d", ok.AffectedRows)
	case mysql.ErrHeader:
		return errorText(t, packets[0])
	}
	n := int(packets[0][0])
	var rows []string
	for k, p := range packets[1+n:] {
		switch {
		case p[0] == mysql.ErrHeader:
			rows = append(rows, errorText(t, p))
		case p[0] == mysql.EOFHeader && k == len(packets)-n-2: // its end
		default:
			layout, row := value.Layout{Format: value.TextRow, Types: make([]value.Type, n), Visible: n}, value.Row{Raw: p, Cells: make([]value.Cell, n)}
			if err := layout.Split(&row); err != nil {
				t.Fatal(err)
			}
			var cells []string
			for _, c := range row.Cells {
				cells = append(cells, string(c))
			}
			rows = append(rows, strings.Join(cells, " "))
		}
	}
	return strings.Join(rows, "; ")
}

func errorText(t *testing.T, p []byte) string {
	t.Helper()
	var e mysql.SQLError
	if err := e.Decode(p); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("error %d", e.Code)
}

// lend gives a connection of a node's pool.
func (a *apart) lend(t *testing.T, node string) backend.Pooled {
	t.Helper()
	p, err := a.nodes[node].Primary.Get(a.state.Setting(), time.Now().Add(5*time.Second), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// inUse counts the connections of a node that somebody has.
func (a *apart) inUse(node string) int { return a.nodes[node].Primary.Stats().InUse }

// The parts that more than one test builds others on.

func (a *apart) withEffects() *effects { return &effects{client: a.client} }

func (a *apart) withLeases() *leases { return &leases{client: a.client} }

func (a *apart) withRouting() *routing { return &routing{client: a.client, effects: a.withEffects()} }

func (a *apart) withExchanges() *exchanges {
	ls := a.withLeases()
	return &exchanges{client: a.client, effects: a.withEffects(), leases: ls, routing: a.withRouting()}
}

func (a *apart) withRights() *rights {
	xs := a.withExchanges()
	return &rights{client: a.client, leases: xs.leases, routing: xs.routing, exchanges: xs}
}

func (a *apart) withShards() *shards {
	xs := a.withExchanges()
	return &shards{client: a.client, effects: xs.effects, leases: xs.leases, exchanges: xs}
}

// transactions answers statements as a server that has transactions, and every query with a row.
func transactions(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
	switch text := strings.ToUpper(string(payload)); {
	case cmd != mysql.ComQuery:
	case strings.HasPrefix(text, "BEGIN"), strings.HasPrefix(text, "START TRANSACTION"):
		c.Status |= mysql.ServerStatusInTrans
	case strings.HasPrefix(text, "COMMIT"), strings.HasPrefix(text, "ROLLBACK") && !strings.HasPrefix(text, "ROLLBACK TO"):
		c.Status &^= mysql.ServerStatusInTrans
	case text == "SHOW WARNINGS":
		c.Rows([]string{"Level", "Code", "Message"}, []any{"Error", 1064, "no"})
		return
	case strings.HasPrefix(text, "SELECT"):
		c.Rows([]string{"a"}, []any{1})
		return
	}
	c.OK()
}

// queriesOf lists the statements that a server got, in their order, without those that bring a session's state to a connection.
func queriesOf(server *mysqltest.ScriptServer) string {
	return strings.Join(slices.DeleteFunc(server.Queries(), func(text string) bool { return strings.HasPrefix(text, "SET autocommit=") }), "; ")
}

// sqlCode is the code of an error that the client would hear; 0 of none, and of others.
func sqlCode(err error) uint16 {
	var e *mysql.SQLError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// endReason is why an error ends the session; "" where it does not.
func endReason(err error) string {
	var end *endError
	if errors.As(err, &end) && end != nil {
		return end.reason.String()
	}
	return ""
}

// turns is what several servers got, in the order of its coming.
type turns struct {
	mu   sync.Mutex
	list []string
}

func (n *turns) note(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, what)
}

func (n *turns) taken() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := slices.Clone(n.list)
	n.list = nil
	return list
}
