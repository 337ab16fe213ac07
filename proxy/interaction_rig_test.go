package proxy_test

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqltext"
)

// interaction runs a script: a proxy, a scripted server for each of its nodes, and clients.
type interaction struct {
	t       *testing.T
	lane    bool
	proxy   *testProxy
	nodes   map[string]*scriptNode
	names   []string // of the nodes, in order
	clients map[string]*scriptClient
	over    chan struct{}

	mu       sync.Mutex
	replies  []reply
	meetings map[string]*meeting
	alone    bool     // at one of them a server waited in vain
	events   []string // what servers have received since the last directive
}

// probeUser is whom the proxy does by what it does of its own; what clients have done is done by appUser.
const (
	probeUser = "probe"
	appUser   = "app"
)

// scriptNode is the server of a node.
type scriptNode struct {
	name     string
	rig      *interaction
	server   *mysqltest.ScriptServer
	without  mysql.Capability
	conns    map[uint32]*nodeConn // by their ids; those that were closed as well
	order    []uint32             // in which they were first used
	closed   map[uint32]bool      // of which the script has told that they were
	released chan struct{}
}

// nodeConn is a connection of the proxy to a node's server.
type nodeConn struct {
	*mysqltest.ScriptConn
	stmts   map[uint32]*nodeStmt
	stmt    *nodeStmt // that the command is about; nil: none
	killed  chan struct{}
	waiting bool // a statement waits for the script or a KILL; under the rig's lock
	// The command that is being answered, as describe gives it; received tells of it in what the script prints.
	text, received string
	// diagnostics are what SHOW WARNINGS gives.
	diagnostics [][]any
}

// nodeStmt is a statement prepared there.
type nodeStmt struct {
	text   string
	params int
	types  []byte       // two bytes each, as the last execution that told them
	long   map[int]bool // the parameters that COM_STMT_SEND_LONG_DATA has brought for the next execution
	// columns are those of the rows that an execution or COM_STMT_FETCH is answered with.
	columns []mysql.ColumnDefinition41
}

// scriptClient is a client of the proxy.
type scriptClient struct {
	name    string
	conn    *mysqltest.RawClient
	stmts   map[string]*mysqltest.RawStmt
	columns map[string][]mysql.ColumnDefinition41 // of the last execution of a statement
	answer  chan []string                         // of a command that is under way; nil: none is
}

// directive runs one and gives what it prints; nil of those that print nothing.
func (r *interaction) directive(p *paragraph) (lines []string, err error) {
	who, rest, _ := strings.Cut(p.directive, " ")
	switch who {
	case "proxy":
		r.start(strings.Fields(rest), p.body)
		return nil, nil
	case "server":
		nodes, pattern, _ := strings.Cut(rest, " ")
		r.addReply(reply{strings.Split(nodes, ","), pattern, p.body})
		return nil, nil
	}
	if r.proxy == nil {
		r.start([]string{"n1"}, nil)
	}
	switch name, isCommand := strings.CutSuffix(who, ":"); {
	case who == "connect":
		lines, err = r.connect(strings.Fields(rest))
	case who == "release":
		r.nodes[rest].release()
	case who == "looped":
		// How many is a matter of time: a goroutine may still have the session when its next command comes, and then runs that one as well.
		if r.proxy.Totals().Looped > 0 {
			return []string{"some statements"}, nil
		}
		return []string{"no statements"}, nil
	case isCommand && r.clients[name] != nil:
		lines, err = r.command(r.clients[name], rest, p.body)
	case r.clients[who] != nil && rest == "gets":
		c := r.clients[who]
		answer := c.answer
		c.answer = nil
		lines = <-answer
	case r.clients[who] != nil && strings.HasPrefix(rest, "sends: "):
		before := r.waiting()
		if err = r.send(r.clients[who], strings.TrimPrefix(rest, "sends: "), p.body); err == nil {
			mysqltest.WaitFor(r.t, "a server to have the statement", func() bool { return r.waiting() > before })
		}
	case r.clients[who] != nil && strings.HasPrefix(rest, "lastly: "):
		c := r.clients[who]
		if lines, err = r.command(c, strings.TrimPrefix(rest, "lastly: "), p.body); err == nil && r.clients[who] != nil {
			lines = append(lines, c.name+" <- "+c.closedOrNot())
			r.leave(c)
		}
	case r.clients[who] != nil && rest == "ends":
		lines = []string{who + " <- " + r.clients[who].closedOrNot()}
		r.leave(r.clients[who])
	case r.clients[who] != nil && rest == "vanishes":
		r.leave(r.clients[who])
	default:
		return nil, fmt.Errorf("nothing is called %q", p.directive)
	}
	if err != nil {
		return nil, err
	}
	r.settle()
	out := append(r.takeEvents(), lines...)
	for k := range out {
		out[k] = r.masked(out[k])
	}
	if len(out) == 0 {
		out = []string{"nothing"}
	}
	return out, nil
}

// start starts the proxy and the servers of its nodes. Of the lines, "shard: {...}" is a rule of the schema, "without: n1 DEPRECATE_EOF" what
// the server of a node lacks, and all others are of the configuration.
func (r *interaction) start(names, lines []string) {
	r.names = names
	without := map[string]mysql.Capability{}
	var rules, more []string
	for _, line := range lines {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "shard":
			rules = append(rules, value)
		case "without":
			name, flag, _ := strings.Cut(value, " ")
			without[name] |= capabilityOf(flag)
		default:
			more = append(more, line)
		}
	}
	var nodes []string
	for _, name := range names {
		n := &scriptNode{name: name, rig: r, without: without[name], conns: map[uint32]*nodeConn{}, closed: map[uint32]bool{}, released: make(chan struct{})}
		n.server = mysqltest.StartScript(r.t, mysqltest.ScriptConfig{Handler: n.handle, Capabilities: mysqltest.ScriptCapabilities &^ n.without})
		r.nodes[name] = n
		nodes = append(nodes, fmt.Sprintf("- {name: %s, max_conns_limit: 4, user: %s, password: x, admin_user: %s, admin_password: x, master: %q}", name, appUser, probeUser, n.server.Addr))
	}
	text := fmt.Sprintf(`
addr: 127.0.0.1:0
fast_lane: %v
health_interval: 1h
finish_timeout: 0s
pool_wait_timeout: 20s
transaction_mode: single
user_list:
- {user: app, password: app, local_infile: true, multi_statements: true, process: true, hints: true}
- {user: reader, password: reader, read_only: true}
nodes:
%s
schema_list:
- {user: app, nodes: [%[3]s], default: %[4]s, shard: [%[5]s]}
- {user: reader, nodes: [%[3]s], default: %[4]s}
`, r.lane, strings.Join(nodes, "\n"), strings.Join(names, ", "), names[0], strings.Join(rules, ", "))
	r.proxy = startProxy(r.t, text, more...)
	mysqltest.WaitFor(r.t, "the servers to be known", func() bool {
		for _, n := range r.proxy.Nodes() {
			if i := n.Primary; i.State() != backend.Up || i.Info() == nil || i.Stored() == nil {
				return false
			}
		}
		return true
	})
}

// capabilityOf gives the flag of a name without CLIENT_.
func capabilityOf(name string) mysql.Capability {
	for bit := range 32 {
		if flag := mysql.Capability(1) << bit; flag.String() == "CLIENT_"+name {
			return flag
		}
	}
	panic("no capability is called " + name)
}

// addReply has servers answer so from now on.
func (r *interaction) addReply(a reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replies = append(r.replies, a)
	for _, line := range a.lines {
		if name, is := strings.CutPrefix(line, "together "); is {
			name, once, _ := strings.Cut(name, " ")
			m := r.meetings[name]
			if m == nil {
				m = &meeting{all: make(chan struct{})}
				r.meetings[name] = m
			}
			m.want += len(a.nodes)
			m.once = once == "once"
		}
	}
}

// note adds to what a directive prints.
func (r *interaction) note(event string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

func (r *interaction) takeEvents() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

// settle waits until nothing goes on any more but commands that clients wait for, and notes which connections were closed meanwhile.
func (r *interaction) settle() {
	pending := map[uint32]bool{} // by the ids of clients
	for _, c := range r.clients {
		pending[c.conn.Greeting.ConnectionID] = c.answer != nil
	}
	unrest := ""
	defer func() {
		if unrest != "" {
			r.t.Log(unrest)
		}
	}()
	mysqltest.WaitFor(r.t, "the proxy to be at rest", func() bool {
		busy := 0
		for _, e := range r.proxy.Sessions().All() {
			row := e.Row()
			waits, here := pending[row.ID]
			if row.Command != "Sleep" {
				busy++
			}
			if !here || !waits && row.Command != "Sleep" {
				unrest = fmt.Sprintf("of the process list: %+v", row)
				return false
			}
		}
		if waiting := r.waiting(); busy != waiting {
			unrest = fmt.Sprintf("%d sessions are busy, and %d statements wait on servers", busy, waiting)
			return false
		}
		unrest = r.poolsUnrest()
		return unrest == ""
	})
	if len(r.names) > 1 { // see preparation: which connections there are is a matter of time
		return
	}
	for _, name := range r.names {
		n := r.nodes[name]
		open := n.server.OpenBy(appUser)
		r.mu.Lock()
		for k, id := range n.order {
			if !n.closed[id] && !slices.Contains(open, id) {
				n.closed[id] = true
				r.events = append(r.events, fmt.Sprintf("%s#%d is closed", name, k+1))
			}
		}
		r.mu.Unlock()
	}
}

// poolsUnrest is empty if the connections that are lent are those that sessions have, and all others are in their pools.
func (r *interaction) poolsUnrest() string {
	lent := map[*backend.Instance]int{}
	for _, h := range r.proxy.Sessions().Holdings(nil) {
		for _, i := range append(slices.Clone(h.Keeps), h.Uses...) {
			lent[i]++
		}
	}
	for name, n := range r.proxy.Nodes() {
		s, open := n.Primary.Stats(), len(r.nodes[name].server.OpenBy(appUser))
		if s.InUse != lent[n.Primary] || s.Dialling > 0 || s.Waiting > 0 || s.Open != open {
			return fmt.Sprintf("%s: sessions have %d connections, the server has %d, the pool %+v", name, lent[n.Primary], open, s)
		}
	}
	return ""
}

var (
	address = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	changes = regexp.MustCompile(`(Uptime: |avg: | Sleep | PROCESS_INFO )[0-9.]+`)
)

// masked puts words in the place of what differs from run to run.
func (r *interaction) masked(line string) string {
	line = address.ReplaceAllStringFunc(line, func(addr string) string {
		for name, n := range r.nodes {
			if n.server.Addr == addr {
				return name
			}
		}
		return "client"
	})
	return changes.ReplaceAllString(line, "${1}?")
}

// handle answers a command as the script says.
func (n *scriptNode) handle(sc *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
	if sc.User == probeUser {
		if cmd == mysql.ComQuery && strings.HasPrefix(string(payload), "KILL ") {
			n.kill(string(payload))
			sc.OK()
			return
		}
		answers(n.name)(sc, cmd, payload)
		return
	}
	if asksOnce(sc, string(payload)) {
		return
	}
	c := n.conn(sc)
	defer func() {
		if fault := recover(); fault != nil {
			n.rig.t.Errorf("%s <- %s %q: %v", n.name, cmd, payload, fault)
			c.Cut()
		}
	}()
	text, shown := c.describe(cmd, payload)
	if shown == "" || shown != strings.TrimSpace(shown) || strings.Contains(shown, "\n") {
		shown = strconv.Quote(shown)
	}
	c.text, c.received = text, n.connName(c.ID)+" <- "+shown
	if len(n.rig.names) == 1 || !preparation(text) {
		n.rig.note(c.received)
	}
	if text != showWarnings {
		c.diagnostics = nil
	}
	lines, found := n.rig.replyTo(n.name, text)
	switch {
	case cmd == mysql.ComStmtPrepare && !found:
		n.prepare(c, string(payload))
	case found:
		n.play(c, cmd, lines)
		if cmd == mysql.ComStmtPrepare && len(lines) == 0 {
			n.prepare(c, string(payload))
		}
	default:
		n.byDefault(c, cmd, string(payload))
	}
}

// asksOnce answers what the proxy asks of every server by the account of clients' statements, on a connection of its own.
func asksOnce(c *mysqltest.ScriptConn, text string) bool {
	switch {
	case strings.HasPrefix(text, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA"):
		c.Rows([]string{"SCHEMA_NAME"}, []any{"shop"}, []any{"other"})
	case text == "SHOW SESSION VARIABLES", text == "SHOW GLOBAL VARIABLES":
		c.Rows([]string{"Variable_name", "Value"}, []any{"autocommit", "ON"}, []any{"time_zone", "SYSTEM"})
	case strings.Contains(text, "CONVERT_TZ("):
		c.Rows([]string{"name", "value"}, []any{sqltext.TimeZones, "2001-01-01 01:00:00"})
	default:
		return false
	}
	return true
}

// preparation tells statements that bring a connection into a client's state, or ask what columns a table has. On one node they are shown. Of
// several nodes the proxy asks another one when the first is late, so that it is a matter of time who is asked, and on which connections.
func preparation(text string) bool {
	return matches("SET NAMES *", text) || matches("SET character_set_results=NULL*", text) || matches("COM_INIT_DB *", text) ||
		matches("SELECT * FROM * LIMIT 0", text) || matches("SELECT COLUMN_NAME FROM information_schema.COLUMNS *", text)
}

// conn gives what is known of a connection.
func (n *scriptNode) conn(sc *mysqltest.ScriptConn) *nodeConn {
	n.rig.mu.Lock()
	defer n.rig.mu.Unlock()
	c := n.conns[sc.ID]
	if c == nil {
		c = &nodeConn{ScriptConn: sc, stmts: map[uint32]*nodeStmt{}, killed: make(chan struct{}, 1)}
		n.conns[sc.ID] = c
		n.order = append(n.order, sc.ID)
	}
	return c
}

// connName names a connection by its node and, where there is one node, its number among those that were used.
func (n *scriptNode) connName(id uint32) string {
	n.rig.mu.Lock()
	defer n.rig.mu.Unlock()
	if len(n.rig.names) > 1 {
		return n.name
	}
	return fmt.Sprintf("%s#%d", n.name, slices.Index(n.order, id)+1)
}

// kill ends the statement of a connection.
func (n *scriptNode) kill(text string) {
	words := strings.Fields(text)
	id, err := strconv.ParseUint(words[len(words)-1], 10, 32)
	if err != nil {
		panic(text)
	}
	words[len(words)-1] = n.connName(uint32(id))
	n.rig.note(n.name + " <- " + strings.Join(words, " "))
	n.rig.mu.Lock()
	defer n.rig.mu.Unlock()
	if c := n.conns[uint32(id)]; c != nil && c.waiting {
		c.waiting = false
		c.killed <- struct{}{}
	}
}

// describe gives the text of a command that patterns are compared with, and all that it says.
func (c *nodeConn) describe(cmd mysql.Command, payload []byte) (text, shown string) {
	c.stmt = nil
	switch cmd {
	case mysql.ComQuery:
		return string(payload), string(payload)
	case mysql.ComStmtExecute, mysql.ComStmtClose, mysql.ComStmtReset, mysql.ComStmtFetch, mysql.ComStmtSendLongData:
		id := binary.LittleEndian.Uint32(payload)
		st, rest := c.stmts[id], payload[4:]
		if st == nil {
			text = fmt.Sprintf("%s of no statement", cmd)
			return text, text
		}
		c.stmt = st
		text = fmt.Sprintf("%s %s", cmd, st.text)
		switch cmd {
		case mysql.ComStmtExecute:
			return text, text + st.arguments(rest)
		case mysql.ComStmtFetch:
			return text, fmt.Sprintf("%s, %d rows", text, binary.LittleEndian.Uint32(rest))
		case mysql.ComStmtSendLongData:
			if st.long == nil {
				st.long = map[int]bool{}
			}
			st.long[int(binary.LittleEndian.Uint16(rest))] = true
			return text, fmt.Sprintf("%s, parameter %d: %s", text, binary.LittleEndian.Uint16(rest), shownText(string(rest[2:])))
		}
		clear(st.long)
		return text, text
	case mysql.ComFieldList, mysql.ComInitDB, mysql.ComStmtPrepare:
		text = fmt.Sprintf("%s %s", cmd, strings.TrimRight(strings.ReplaceAll(string(payload), "\x00", " "), " "))
		return text, text
	}
	text = cmd.String()
	if len(payload) > 0 {
		text += fmt.Sprintf(" %x", payload)
	}
	return text, text
}

// arguments shows what follows the statement's id in COM_STMT_EXECUTE. MySQL manual: "COM_STMT_EXECUTE".
func (st *nodeStmt) arguments(p []byte) (shown string) {
	c := mysql.NewCursor(p)
	if flags := c.Uint8(); flags != 0 {
		shown += fmt.Sprintf(", flags %d", flags)
	}
	c.Uint32() // how often, which is once
	if st.params == 0 {
		return shown
	}
	nulls := c.Bytes((st.params + 7) / 8)
	if c.Uint8() != 0 {
		st.types = append(st.types[:0], c.Bytes(2*st.params)...)
	}
	// A row of a result set with these columns has its values in the same form.
	row := append([]byte{0}, make([]byte, (st.params+9)/8)...)
	columns := make([]mysql.ColumnDefinition41, st.params)
	for k := range columns {
		columns[k].Type = mysql.ColumnType(st.types[2*k])
		if st.types[2*k+1]&0x80 != 0 {
			columns[k].Flags = mysql.UnsignedFlag
		}
		if st.long[k] || nulls[k/8]&(1<<(k%8)) != 0 || columns[k].Type == mysql.TypeNull {
			row[1+(k+2)/8] |= 1 << ((k + 2) % 8)
		}
	}
	values, err := mysqltest.Values(append(row, c.Rest()...), columns, true)
	if err != nil {
		return fmt.Sprintf("%s, malformed %q", shown, p)
	}
	for k := range st.long {
		values[k] = "(long data)"
	}
	clear(st.long)
	return shown + ": " + shownValues(values)
}

// replyTo finds what a node's server answers: the last reply that fits.
func (r *interaction) replyTo(node, text string) (lines []string, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := len(r.replies) - 1; k >= 0; k-- {
		a := r.replies[k]
		if slices.Contains(a.nodes, node) && matches(a.pattern, text) {
			return a.lines, true
		}
	}
	return nil, false
}

// prepare answers COM_STMT_PREPARE: the columns are those that the answer to the execution has.
func (n *scriptNode) prepare(c *nodeConn, text string) {
	id := uint32(len(c.stmts) + 1)
	st := &nodeStmt{text: text, params: strings.Count(text, "?")}
	c.stmts[id] = st
	var columns []mysql.ColumnDefinition41
	lines, _ := n.rig.replyTo(n.name, fmt.Sprintf("%s %s", mysql.ComStmtExecute, text))
	for _, line := range lines {
		if list, is := strings.CutPrefix(line, "columns "); is {
			columns = columnsOf(list)
			break
		}
	}
	c.PreparedColumns(id, st.params, columns...)
}

const showWarnings = "SHOW WARNINGS"

// byDefault answers what no reply is for: what changes nothing but the session succeeds.
func (n *scriptNode) byDefault(c *nodeConn, cmd mysql.Command, text string) {
	word, _, _ := strings.Cut(text, " ")
	switch {
	case cmd == mysql.ComStmtClose:
		delete(c.stmts, binary.LittleEndian.Uint32([]byte(text)))
	case cmd == mysql.ComStmtSendLongData:
	case text == "SELECT @@session.autocommit LIMIT 1":
		on := 0
		if c.Status.Has(mysql.ServerStatusAutocommit) {
			on = 1
		}
		c.Rows([]string{"@@session.autocommit"}, []any{on})
	case strings.HasPrefix(text, "SELECT COLUMN_NAME FROM information_schema.COLUMNS "): // which are invisible
		c.Rows([]string{"COLUMN_NAME"})
	case text == showWarnings:
		c.Rows([]string{"Level", "Code", "Message"}, c.diagnostics...)
	case cmd == mysql.ComQuery && !slices.Contains([]string{"SET", "USE", "SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "START", "COMMIT"}, word):
		c.Error(mysql.ERUnknown, "the script has no answer for %s", n.name)
	case cmd == mysql.ComResetConnection:
		c.Status = mysql.ServerStatusAutocommit
		clear(c.stmts)
		c.OK()
	case cmd == mysql.ComStmtFetch, cmd == mysql.ComSetOption:
		c.End()
	default:
		c.follow()
		c.OK()
	}
}

// follow has the status say what a statement that succeeds has made of the session: whether it is in a transaction, and autocommit.
func (c *nodeConn) follow() {
	word, rest, _ := strings.Cut(c.text, " ")
	switch {
	case word == "BEGIN", word == "START":
		c.Status |= mysql.ServerStatusInTrans
	case word == "COMMIT", word == "ROLLBACK" && !strings.HasPrefix(rest, "TO "):
		c.Status &^= mysql.ServerStatusInTrans
	case word == "SET" && strings.Contains(rest, "autocommit = 0"):
		c.Status &^= mysql.ServerStatusAutocommit
	case word == "SET" && strings.Contains(strings.ReplaceAll(rest, " ", ""), "autocommit=1"):
		c.Status = c.Status&^mysql.ServerStatusInTrans | mysql.ServerStatusAutocommit
	case word == "UPDATE" && !c.Status.Has(mysql.ServerStatusAutocommit):
		c.Status |= mysql.ServerStatusInTrans
	}
}
