package session

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// preparingServer prepares every text but those with "bad" in them under ids from 100, with as many parameters as it has question marks, and
// answers executions with the id as a row.
func preparingServer(t *testing.T) *mysqltest.ScriptServer {
	t.Helper()
	return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := string(payload)
		switch {
		case cmd == mysql.ComStmtPrepare && strings.Contains(text, "bad"):
			c.Error(erNoSuchTable, "no")
		case cmd == mysql.ComStmtPrepare:
			c.Prepared(100+uint32(len(text)), strings.Count(text, "?"), "a")
		case cmd == mysql.ComStmtExecute:
			c.BinaryRows([]string{"a"}, []any{binary.LittleEndian.Uint32(payload)})
		case cmd == mysql.ComStmtClose, cmd == mysql.ComStmtSendLongData:
		default:
			transactions(c, cmd, payload)
		}
	}})
}

func stmtsApart(t *testing.T, change func(cfg *config.Config)) (*apart, *stmts, *mysqltest.ScriptServer) {
	t.Helper()
	server := preparingServer(t)
	cfg := partsConfig(server)
	if change != nil {
		change(cfg)
	}
	a := apartOf(t, "app", newShared(t, cfg))
	ri := a.withRights()
	return a, &stmts{client: a.client, routing: ri.routing, exchanges: ri.exchanges, rights: ri}, server
}

// prepares prepares a text, and gives the client's id of it; 0 where it fails, with the code.
func (a *apart) prepares(t *testing.T, ss *stmts, text string) (id uint32, code uint16) {
	t.Helper()
	a.releaseTask()
	a.conn.ResetSequence()
	a.begin(mysql.ComStmtPrepare, text)
	if end := a.conclude(mysql.ComStmtPrepare, a.settle(ss.comStmtPrepare(text))); end != nil {
		t.Fatal(end)
	}
	packets := (&sink{kept: keptBytes{bytes: a.far.bytes}}).packets()
	a.far.bytes = nil
	var ok mysql.StmtPrepareOK
	if packets[0][0] == mysql.ErrHeader {
		var e mysql.SQLError
		_ = e.Decode(packets[0])
		return 0, e.Code
	}
	if err := ok.Decode(packets[0], a.conn.Capabilities); err != nil || int(ok.Params) != strings.Count(text, "?") || ok.Columns != 1 || len(packets) != 1+int(ok.Params)+1 {
		t.Errorf("%+v, %v, in %d packets", ok, err, len(packets))
	}
	return ok.StatementID, 0
}

// idOf is the argument of a command about a statement.
func idOf(id uint32, more ...byte) []byte { return append(mysql.AppendUint32(nil, id), more...) }

// A statement has an id of the session's own, which servers know by others, and is there until it is closed.
func TestStmtsPrepareAndClose(t *testing.T) {
	a, ss, server := stmtsApart(t, nil)
	for want, text := range map[uint32]string{1: "SELECT a FROM x WHERE a = ?"} {
		if id, code := a.prepares(t, ss, text); id != want || code != 0 {
			t.Fatalf("id %d, error %d", id, code)
		}
	}
	if id, code := a.prepares(t, ss, "SELECT bad"); code != erNoSuchTable || id != 0 || ss.lastID != 0 || len(ss.byID) != 1 {
		t.Errorf("id %d, error %d, last %d", id, code, ss.lastID)
	}
	if id, _ := a.prepares(t, ss, "SELECT 1"); id != 2 || ss.lastID != 2 {
		t.Errorf("id %d, last %d", id, ss.lastID)
	}
	for _, tt := range []struct {
		text string
		code uint16
	}{{"PREPARE p FROM 'SELECT 1'", mysql.ERUnsupportedPS}, {"HANDLER t OPEN", KSRefusedStatement}, {"SET GLOBAL a = 1", KSRefusedVariable}} {
		if _, code := a.prepares(t, ss, tt.text); code != tt.code {
			t.Errorf("%s: error %d", tt.text, code)
		}
	}
	if st, ok := ss.get(idOf(1)); !ok || st.params != 1 || st.text != "SELECT a FROM x WHERE a = ?" || st.setting != a.state.Setting() {
		t.Errorf("%v, %+v", ok, st)
	}
	for _, arg := range [][]byte{idOf(9), {1, 0, 0}} {
		if _, ok := ss.get(arg); ok {
			t.Errorf("%x is a statement", arg)
		}
		if err := ss.comStmtReset(arg); sqlCode(err) != mysql.ERUnknownStmtHandler {
			t.Errorf("reset of %x: %v", arg, err)
		}
	}
	server.Forget()
	if ss.comStmtClose(idOf(1)); len(ss.byID) != 1 || len(server.Commands()) != 0 {
		t.Errorf("%d statements, the server got %d commands", len(ss.byID), len(server.Commands()))
	}
	if _, ok := ss.get(idOf(1)); ok {
		t.Error("it is there behind its end")
	}
	if ss.clearStmts(); len(ss.byID) != 0 || ss.lastID != 0 {
		t.Errorf("%d statements", len(ss.byID))
	}
	if id, _ := a.prepares(t, ss, "SELECT 1"); id != 3 {
		t.Errorf("an id comes again: %d", id)
	}
}

// The statements of all clients take no more than their bound together; what goes leaves room.
func TestStmtsTakeMemory(t *testing.T) {
	a, ss, _ := stmtsApart(t, nil)
	long := "SELECT '" + strings.Repeat("x", 1000) + "'"
	m := &a.shared.Statements
	m.SetMost(2*int64(stmtBytes+len(long)) + 100)
	for k, want := range []uint16{0, 0, mysql.ERMaxPreparedStmtCount} {
		if _, code := a.prepares(t, ss, long); code != want {
			t.Errorf("error %d of the statement %d, want %d", code, k, want)
		}
	}
	ss.comStmtClose(idOf(1))
	if _, code := a.prepares(t, ss, long); code != 0 {
		t.Errorf("error %d behind the end of one", code)
	}
	if ss.comStmtClose(idOf(2)); m.Used() != int64(stmtBytes+len(long)) {
		t.Errorf("one takes %d bytes", m.Used())
	}
	if ss.clearStmts(); m.Used() != 0 {
		t.Errorf("none take %d bytes", m.Used())
	}
}

// Not more statements than one may have.
func TestStmtsMost(t *testing.T) {
	a, ss, _ := stmtsApart(t, func(cfg *config.Config) { cfg.MaxPreparedStmts = 2 })
	for k := range 3 {
		if _, code := a.prepares(t, ss, fmt.Sprintf("SELECT %d", k)); (code == mysql.ERMaxPreparedStmtCount) != (k == 2) {
			t.Errorf("error %d of the statement %d", code, k)
		}
	}
	ss.comStmtClose(idOf(1))
	if _, code := a.prepares(t, ss, "SELECT 4"); code != 0 {
		t.Errorf("error %d behind the end of one", code)
	}
	ss.comStmtClose(idOf(2))
	a.client.textStmts = textStmts{"s": {}}
	if _, code := a.prepares(t, ss, "SELECT 5"); code != mysql.ERMaxPreparedStmtCount {
		t.Errorf("error %d beside one that PREPARE named", code)
	}
}

// An execution goes to a server by the id that the statement has there, prepared first where it is not.
func TestStmtsExecute(t *testing.T) {
	a, ss, server := stmtsApart(t, nil)
	const text = "SELECT a FROM x WHERE a = ?"
	id, _ := a.prepares(t, ss, text)
	st, _ := ss.get(idOf(id))
	value := []byte{0, 1, 0, 0, 0, 0, 1, byte(mysql.TypeLong), 0, 7, 0, 0, 0} // flags, one iteration, no NULLs, types, 7
	for _, tt := range []struct {
		name string
		arg  []byte
		code uint16
		want []byte // values
	}{
		{"without types", []byte{0, 1, 0, 0, 0, 0, 0, 7, 0, 0, 0}, mysql.ERWrongArguments, nil},
		{"NULL without types", []byte{0, 1, 0, 0, 0, 1, 0}, 0, []byte{}},
		{"a value", value, 0, []byte{7, 0, 0, 0}},
		{"the types of before", []byte{0, 1, 0, 0, 0, 0, 0, 8, 0, 0, 0}, 0, []byte{8, 0, 0, 0}},
		{"cut off", value[:len(value)-1], mysql.ERMalformedPacket, nil},
		{"cut off early", value[:3], mysql.ERMalformedPacket, nil},
	} {
		var ex execution
		err := ss.decodeExecution(&ex, st, idOf(id, tt.arg...))
		if sqlCode(err) != tt.code || err == nil && string(ex.values) != string(tt.want) {
			t.Errorf("%s: %v, values %x", tt.name, err, ex.values)
		}
	}
	run := func() string {
		a.says(text)
		ex := &a.task().execution
		if err := ss.decodeExecution(ex, st, idOf(id, value...)); err != nil {
			t.Fatal(err)
		}
		q := &a.task().query
		q.execute(st, ex)
		_, err := ss.exchanges.forward(q)
		end := a.conclude(mysql.ComStmtExecute, a.settle(err))
		packets := (&sink{kept: keptBytes{bytes: a.far.bytes}}).packets()
		a.far.bytes = nil
		if end != nil || len(packets) < 3 {
			t.Fatalf("%v, %q", end, packets)
		}
		return string(packets[2][3:])
	}
	for range 2 {
		if got, want := run(), fmt.Sprint(100+len(text)); got != want {
			t.Errorf("a row of the statement %s, want %s", got, want)
		}
	}
	if n := countCommands(server, mysql.ComStmtPrepare); n != 1 {
		t.Errorf("prepared %d times on one connection", n)
	}
	held := a.lend(t, "n1") // so that there is another connection
	defer held.Put()
	run()
	if n := countCommands(server, mysql.ComStmtPrepare); n != 2 || server.Accepted() != 2 {
		t.Errorf("prepared %d times on %d connections", n, server.Accepted())
	}
}

func countCommands(server *mysqltest.ScriptServer, cmd mysql.Command) (n int) {
	for _, c := range server.Commands() {
		if c.Command == cmd {
			n++
		}
	}
	return n
}

// Long data is kept until its execution, within the bounds of the session and of the proxy.
func TestStmtsLongData(t *testing.T) {
	const memory = 1 << 20
	for _, tt := range []struct {
		name   string
		param  uint16
		pieces []int
		code   uint16
		kept   int
	}{
		{"pieces", 1, []int{10, 0, 20}, 0, 30},
		{"an empty one", 0, []int{0}, 0, 0},
		{"no such parameter", 2, []int{10}, mysql.ERWrongArguments, 0},
		{"as much as a packet", 0, []int{1000}, 0, 1000},
		{"more than a packet", 0, []int{1000, 1}, mysql.ERUnknown, 1000},
		{"more than there is memory", 0, []int{}, KSPacketMemory, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, ss, _ := stmtsApart(t, func(cfg *config.Config) { cfg.MaxAllowedPacket = 1000 })
			id, _ := a.prepares(t, ss, "SELECT a FROM x WHERE a = ? AND b = ?")
			st, _ := ss.get(idOf(id))
			if tt.code == KSPacketMemory {
				a.shared.Packets.SetMost(5)
				tt.pieces = []int{10}
			}
			for _, n := range tt.pieces {
				ss.comStmtSendLongData(idOf(id, append([]byte{byte(tt.param), 0}, make([]byte, n)...)...))
			}
			var code uint16
			if st.longErr != nil {
				code = st.longErr.Code
			}
			_, there := st.long[tt.param]
			if code != tt.code || ss.longData != tt.kept || len(st.long[tt.param]) != tt.kept || there != (tt.code == 0 || tt.kept > 0) {
				t.Errorf("error %d, %d bytes, %d of the parameter, set: %v", code, ss.longData, len(st.long[tt.param]), there)
			}
			before := memoryLeft(a, memory)
			if ss.dropLongData(st); ss.longData != 0 || st.long != nil || st.longErr != nil {
				t.Errorf("%d bytes are left", ss.longData)
			}
			if after := memoryLeft(a, memory); after-before != tt.kept {
				t.Errorf("%d bytes were given back, want %d", after-before, tt.kept)
			}
		})
	}
}

// memoryLeft is how many bytes the packets of all clients may still take of most.
func memoryLeft(a *apart, most int) int {
	a.shared.Packets.SetMost(int64(most))
	low, high := 0, most
	for low < high {
		mid := (low + high + 1) / 2
		if a.shared.Packets.Take(mid) {
			a.shared.Packets.Give(mid)
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}
