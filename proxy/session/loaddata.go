package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/loadfile"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// loadMany runs LOAD DATA LOCAL into a table of several shards: the client sends its file to the proxy, which cuts it into
// lines and sends each to the LOAD DATA LOCAL of its shard, under a transaction on every node.
func (cs *changes) loadMany(q *query, p *plan.Plan, r *plan.Route) (failed bool, err error) {
	l := &loading{s: cs, plan: p, shape: p.Operator.(*plan.Load), held: heldBytes{memory: &cs.client.shared.Packets}}
	defer l.held.set(0)
	if err := l.admit(); err != nil {
		return true, err
	}
	if l.c, err = cs.openCopies(strings.Clone(q.text), p, l.nodes(r)); err != nil {
		return true, err
	}
	names := allRenames(p, r.Queries)
	var request []byte
	if err = cs.shards.hurry(l.c, 0); err == nil {
		request, err = l.begin(r)
	}
	l.failure = err
	if err == nil {
		if err := l.transfer(request); err != nil {
			// The servers find their files cut off, and roll back.
			cs.shards.loseAll(l.c.loans, nil)
			return true, clientEnd(err)
		}
		err = l.failure
	}
	if ended := l.endAll(); err == nil || isConnError(ended) {
		err = ended
	}
	if !isConnError(err) {
		if kept := cs.shards.keepVariables(l.c.loans, l.variables()); kept != nil {
			err = kept
		}
	}
	if err == nil {
		err = cs.leases.stillHeard(p.Watches())
	}
	if err != nil {
		return true, cs.writeFailed(l.c, err, names)
	}
	if err := cs.shards.insertedOnShards(&query{info: sqltext.Info{Class: sqltext.LoadDataLocal}}, l.c.loans, nil); err != nil {
		return true, cs.writeFailed(l.c, err, nil)
	}
	if err := cs.commitChange(l.c); err != nil {
		return true, err
	}
	if l.drawn > 0 {
		cs.client.state.InsertID = state.InsertIDOf(l.drawn)
	}
	if l.largest > 0 {
		t := cs.routing.sequenceTable(p.Target.Table)
		cs.client.shared.Sequences.Of(t).Saw(t, l.largest, idSpacing(&cs.client.state))
	}
	return false, cs.wrote(l.c, l.total)
}

// loading is one LOAD DATA LOCAL over several shards under way.
type loading struct {
	s     *changes
	plan  *plan.Plan
	shape *plan.Load
	c     *change

	format  loadfile.Format
	charset string
	cutter  *loadfile.Cutter
	fields  []int // of a line that are looked at; keyAt and the others count in them
	keyAt   []int
	autoAt  int
	largest uint64 // id that a line brings
	drawn   uint64 // the first id that was drawn, 0 without one
	line    []byte // the last line with an id that was drawn
	varAt   []int

	parts []*part // by position; nil for shards of nodes that take no part
	held  heldBytes
	waits int // bytes that wait for their shards
	turn  int // bytes that wait for a shard before its statement gets its turn
	key   []value.Value
	last  []loadfile.Field // variables of the last line
	lines bool             // there was one
	total mysql.OKPacket
	first bool // the next answer is the first
	one   count
	where string // the node of the first answer
	// failure is the error that ends the statement once the client has sent its file.
	failure error
}

// lane is the connection to a node. Its shards take turns on it: one statement at a time reads lines.
type lane struct {
	loan *txn.Lease
	open *part
}

// part is a shard with the lines that wait for its turn.
type part struct {
	lane    *lane
	query   *plan.Query
	waiting []byte
}

// wideSeparators are character sets in which a separator may be a part of another character.
var wideSeparators = []string{"gbk", "sjis", "cp932", "big5", "gb18030", "gb2312", "euckr", "ujis", "eucjpms", "ucs2", "utf16", "utf16le", "utf32"}

// admit refuses what can be known before anything is sent.
func (l *loading) admit() error {
	st := l.plan.Statement.Load
	l.format = loadfile.Format{
		FieldsTerminated: st.FieldsTerminated, LinesTerminated: st.LinesTerminated, LinesStarting: st.LinesStarting, Enclosed: st.Enclosed, Escaped: st.Escaped,
	}
	if !st.EscapedGiven && l.plan.Mode.NoBackslashEscapes {
		l.format.Escaped = ""
	}
	if err := l.format.Check(); err != nil {
		return newError(KSRefusedSharding, "LOAD DATA into a sharded table: "+err.Error())
	}
	for _, v := range l.shape.Variables {
		if err := admitVariables([]string{v.Name}); err != nil {
			return err
		}
	}
	if l.shape.Leaves && st.Replace {
		return newError(KSRefusedSharding, "LOAD DATA REPLACE that leaves the AUTO_INCREMENT column to the sharded table "+l.plan.Target.Parsed.Name+": give the ids")
	}
	if st.IgnoreLines > 0 && (st.LinesTerminated == "" || st.LinesTerminated == st.FieldsTerminated) {
		return newError(KSRefusedSharding, "LOAD DATA into a sharded table: IGNORE LINES of a file without lines")
	}
	return nil
}

// nodes are those whose shards take part: in a transaction of the client's that may change rows of one node, that one.
func (l *loading) nodes(r *plan.Route) []*backend.Node {
	nodes := l.s.routing.nodesOf(r.Queries)
	held := l.s.client.txn.Held()
	if held.Pooled == nil || !l.s.client.txn.InTransaction() && l.s.client.state.Autocommit || l.plan.Target.Table.Kind != router.Sharded || l.s.leases.branches().joins() {
		return nodes
	}
	if k := slices.IndexFunc(nodes, func(n *backend.Node) bool { return n.Name == held.Instance.Node }); k >= 0 {
		return nodes[k : k+1]
	}
	return nodes
}

// begin starts a statement on every node, so that a server that will not load says so before the client is asked.
func (l *loading) begin(r *plan.Route) (request []byte, err error) {
	if err := l.learnCharset(); err != nil {
		return nil, err
	}
	l.wanted()
	lanes := map[string]*lane{}
	for k := range l.c.loans {
		lanes[l.c.loans[k].Node] = &lane{loan: &l.c.loans[k]}
	}
	l.first = true
	l.parts = make([]*part, len(r.Queries))
	for k := range r.Queries {
		way := lanes[r.Queries[k].Node]
		if way == nil {
			continue
		}
		l.parts[k] = &part{lane: way, query: &r.Queries[k]}
		if way.open == nil {
			if request, err = l.open(l.parts[k]); err != nil {
				return nil, err
			}
		}
	}
	const most, turnMax, turnMin = 32 << 20, 256 << 10, packetOfLines
	l.turn = max(min(most/len(r.Queries), turnMax), turnMin)
	return request, nil
}

// learnCharset finds the character set of the file, which is the database's where the statement does not say.
func (l *loading) learnCharset() error {
	if l.charset = l.plan.Statement.Load.Charset; l.charset == "" {
		for _, loan := range l.c.loans {
			found := ""
			if err := loan.Conn.Rows("SELECT @@character_set_database LIMIT 1", 1, func(row []string) { found = row[0] }); err != nil {
				return err
			}
			if l.charset != "" && found != l.charset {
				return newError(KSRefusedSharding, "LOAD DATA without CHARACTER SET: the nodes' databases have several")
			}
			l.charset = found
		}
	}
	if slices.Contains(wideSeparators, l.charset) {
		return newError(KSRefusedSharding, "LOAD DATA into a sharded table of a file in the character set "+l.charset)
	}
	l.format.UTF8 = l.charset == "utf8" || l.charset == "utf8mb3" || l.charset == "utf8mb4"
	return nil
}

// wanted makes the cutter, which gives the fields that the key and others need, each once.
func (l *loading) wanted() {
	at := func(field int) int {
		k := slices.Index(l.fields, field)
		if k < 0 {
			k = len(l.fields)
			l.fields = append(l.fields, field)
		}
		return k
	}
	for _, field := range l.shape.Keys {
		if field < 0 {
			l.keyAt = append(l.keyAt, -1)
			continue
		}
		l.keyAt = append(l.keyAt, at(field))
	}
	l.autoAt = -1
	if l.shape.Auto >= 0 {
		l.autoAt = at(l.shape.Auto)
	}
	for _, v := range l.shape.Variables {
		l.varAt = append(l.varAt, at(v.Field))
	}
	l.key = make([]value.Value, len(l.keyAt))
	l.last = make([]loadfile.Field, len(l.varAt))
	l.cutter = loadfile.New(l.format, l.shape.Fields, l.fields, l.plan.Statement.Load.IgnoreLines)
}

// transfer asks the client for its file and passes the lines on. The client sends all of it, whatever happens; the error is
// that of its connection.
func (l *loading) transfer(request []byte) error {
	s := l.s
	s.client.entry.Upload(true)
	defer s.client.entry.Upload(false)
	s.client.conn.WritePacket(request)
	if err := s.client.conn.Flush(); err != nil {
		return err
	}
	for {
		chunk, err := s.client.conn.ReadPacket()
		if err != nil {
			return err
		}
		end := len(chunk) == 0
		if l.failure == nil {
			l.failure = l.take(chunk, end)
		}
		if end {
			return nil
		}
	}
}

// take passes on the lines that a piece of the file completes.
func (l *loading) take(chunk []byte, end bool) error {
	l.cutter.Feed(chunk)
	if end {
		l.cutter.End()
	}
	for {
		line, err := l.cutter.Next()
		if err != nil {
			return lineError(l.cutter.Number(), err)
		}
		if line == nil {
			break
		}
		if err := l.route(line); err != nil {
			return err
		}
	}
	if !l.held.set(l.waits + l.cutter.Held()) {
		return newError(KSPacketMemory, "The lines of the file that wait for their shards would take, with the long packets of all clients, more than packet_memory. "+
			"Send it again later, or raise packet_memory.")
	}
	if most := l.s.client.snap.Config.MaxAllowedPacket; l.cutter.Held() > int(most) {
		return lineError(l.cutter.Number(), errors.New("it is longer than max_allowed_packet"))
	}
	return nil
}

func lineError(line uint64, why error) error {
	return newError(KSRefusedSharding, fmt.Sprintf("line %d of the file: %v", line, why))
}

// route sends a line to its shard; to all of a table that is whole on every node.
func (l *loading) route(line *loadfile.Line) error {
	l.lines = true
	for k, at := range l.varAt {
		f := line.Fields[at]
		l.last[k] = loadfile.Field{Text: append(l.last[k].Text[:0], f.Text...), Null: f.Null || f.Missing}
	}
	raw, drawn, err := l.withID(line)
	if err != nil {
		return err
	}
	if l.plan.Target.Table.Kind == router.Reference {
		for _, p := range l.parts {
			if err := l.add(p, raw); err != nil {
				return err
			}
		}
		return nil
	}
	for k, at := range l.keyAt {
		if at < 0 || at == l.autoAt && drawn > 0 {
			l.key[k] = value.NewUint(drawn)
		} else {
			l.key[k] = fieldValue(line.Fields[at])
		}
	}
	position, err := l.plan.LoadShard(l.key, l.format.UTF8)
	if err != nil {
		return lineError(line.Number, err)
	}
	p := l.parts[position]
	if p == nil {
		return newError(KSTransactionNodes, fmt.Sprintf("transaction in multi node: line %d of the file belongs to another node", line.Number))
	}
	return l.add(p, raw)
}

func fieldValue(f loadfile.Field) value.Value {
	if f.Null || f.Missing {
		return value.Value{}
	}
	return value.NewString(string(f.Text))
}

// variables are the user variables as the last line leaves them; as they were after a failure and without lines.
func (l *loading) variables() (list []userVariable) {
	for k, v := range l.shape.Variables {
		text := l.s.client.state.Value(variableName(v.Name))
		switch {
		case l.failure == nil && l.lines && !l.last[k].Null:
			text = textLiteral(l.last[k].Text, l.charset)
		case l.failure == nil && l.lines || text == "":
			text = "NULL"
		}
		list = append(list, userVariable{v.Name, text})
	}
	return list
}
