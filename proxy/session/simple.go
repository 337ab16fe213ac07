package session

import (
	"encoding/binary"
	"fmt"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// oneResponse sends what is queued for p and forwards one response.
func (xs *exchanges) oneResponse(p backend.Pooled, q *query, shape mysql.Shape) error {
	span := xs.client.observed.ShardSpan(p.Instance, xs.client.state.DB(), q.text)
	err := xs.forwardOne(p, q, shape)
	xs.client.observed.EndResponse(span, xs.client.observed.ErrorCode != 0, err)
	return err
}

// forwardOne sends what is queued for p and forwards one response, without a span.
func (xs *exchanges) forwardOne(p backend.Pooled, q *query, shape mysql.Shape) error {
	if err := p.Conn.Flush(); err != nil {
		return err
	}
	res, err := mysql.ForwardResult(xs.client.conn, p.Conn.Conn, mysql.ForwardOptions{Shape: shape, Status: xs.client.status(), Patch: xs.client.patchFn, Quota: q.quota, Rename: q.rename, Rows: q.rows})
	if err != nil {
		return err
	}
	if res.Cut {
		return xs.client.cutOff(p, q, &res)
	}
	xs.observe(p, q, &res)
	return nil
}

// forwardCommand runs a command without state on the primary of a node.
func (xs *exchanges) forwardCommand(t txn.Target, cmd mysql.Command, arg []byte, shape mysql.Shape) error {
	p, err := xs.leases.acquire(t)
	if err != nil {
		return err
	}
	p.Conn.ResetSequence()
	b := append(p.Conn.StartPacket(), byte(cmd))
	p.Conn.EndPacket(append(b, arg...))
	sent := xs.client.conn.Sequence()
	if err := xs.oneResponse(p, &query{info: sqltext.Info{Class: sqltext.Show}}, shape); err != nil {
		return xs.broken(p, err, sent)
	}
	xs.leases.release(p)
	return nil
}

func (s *Session) forwardSimple(cmd mysql.Command) error {
	return s.exchanges.forwardCommand(txn.Target{Node: s.client.schema.Default}, cmd, nil, mysql.ShapeResult)
}

// comStatistics answers with one line about the proxy. MySQL manual: "COM_STATISTICS".
func (s *Session) comStatistics() {
	t := s.client.shared.Stats.Totals()
	var questions uint64
	for _, n := range t.Commands {
		questions += n
	}
	uptime := max(time.Since(s.client.shared.Started).Seconds(), 1)
	line := fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: 0  Opens: 0  Flush tables: 0  Open tables: 0  Queries per second avg: %.3f",
		int(uptime), s.client.shared.Sessions.Len(), questions, float64(questions)/uptime)
	s.client.conn.WritePacket([]byte(line))
}

// comSetOption turns several statements in one text on or off. MySQL manual: "COM_SET_OPTION".
func (s *Session) comSetOption(arg []byte) error {
	if len(arg) < 2 {
		return malformed()
	}
	switch binary.LittleEndian.Uint16(arg) {
	case 0:
		s.client.conn.Capabilities |= mysql.ClientMultiStatements
	case 1:
		s.client.conn.Capabilities &^= mysql.ClientMultiStatements
	default:
		return mysql.NewSQLError(mysql.ERUnknownCom, "Unknown command")
	}
	s.client.state.Diagnostics.RowCount = -1
	s.client.conn.WriteEnd(&mysql.OKPacket{Status: s.client.status()})
	return nil
}

// comChangeUser logs in again, as the same or another user, and starts from a fresh session state.
// MySQL manual: "COM_CHANGE_USER".
func (s *Session) comChangeUser(arg []byte) *endError {
	var cu mysql.ChangeUser
	if err := cu.Decode(arg, s.client.conn.Capabilities); err != nil {
		s.client.writeError(malformed(), observe.OriginClient)
		return nil
	}
	s.client.entry.TakeRunning()
	s.client.txn.End(s.client.run)
	s.stmts.clearStmts()
	s.client.conn.SetPayloadCap(preAuthCap)
	_ = s.client.conn.Net.SetDeadline(time.Now().Add(s.client.snap.Config.HandshakeTimeout.Duration()))
	// The answer is to the greeting's random bytes, as by the server: MariaDB's client library computes it once and repeats
	// it when it is asked again with other ones.
	a, end := s.login().authenticate(authAttempt{user: cu.User, plugin: cu.AuthPlugin, response: cu.AuthResponse, greeting: cu.AuthPlugin})
	if end != nil {
		return end
	}
	schema := s.client.snap.Schemas[cu.User]
	if schema == nil {
		return s.login().deny(newError(KSNoSchema, ""), nil)
	}
	if !a.Enter() {
		return s.login().deny(mysql.NewSQLError(mysql.ERUserLimitReached, "User '%s' has exceeded the 'max_user_connections' resource", cu.User), nil)
	}
	s.client.account.Leave()
	s.client.entry.SetUser(cu.User)
	s.client.setAccount(a)
	s.client.schema = schema
	s.rights.rules, s.rights.ruled = nil, nil
	collation := s.client.state.Collation()
	if cu.Collation != 0 {
		collation = cu.Collation
	}
	s.settings().initState(collation)
	s.client.entry.SetWaitTimeout(s.client.state.WaitTimeout())
	if cu.Database != "" {
		if err := s.settings().useDB(cu.Database); err != nil {
			return s.login().denyDB(err)
		}
	}
	_ = s.client.conn.Net.SetDeadline(time.Time{})
	s.client.conn.SetPayloadCap(int(s.client.snap.Config.MaxAllowedPacket))
	s.client.writeOK()
	return nil
}

// resetState makes the session as it was after its login, but for the current database: COM_RESET_CONNECTION.
func (s *Session) resetState() {
	db, found := s.client.state.DB(), s.settings().foundAtReset()
	s.client.entry.TakeRunning()
	s.client.txn.End(s.client.run)
	s.stmts.clearStmts()
	s.settings().initState(s.client.state.Collation())
	s.client.state.SetDB(db) // which the servers leave as it is, like FOUND_ROWS()
	s.client.state.Found = state.FoundRowsOf(found)
	s.client.entry.SetWaitTimeout(s.client.state.WaitTimeout())
}

// initState starts from the state after a login. Where the server is known already its defaults are taken now: they say
// how the first statement is to be read.
func (se settings) initState(collation uint16) {
	se.client.state = state.New(collation, se.client.conn.Capabilities)
	se.client.txn.Forget()
	se.client.spread, se.client.lastChanges = nil, nil
	se.client.transactionMode, se.client.readConsistency, se.client.replicaConsistency = 0, 0, 0
	se.client.textStmts = nil
	if se.client.schema.Default == nil {
		return // the admin port
	}
	if info := se.client.schema.Default.Info(); info != nil {
		se.client.state.Resolve(info)
	}
}
