package session

import (
	"encoding/binary"
	"strconv"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
)

// killStatement runs KILL as a statement.
func (s *Session) killStatement(q *query) error {
	k, ok := sqltext.ParseKill(q.text, s.client.mode())
	if !ok {
		return errKillForm
	}
	if k.Expr != "" {
		var err error
		if k.ID, err = s.killID(k.Expr); err != nil {
			return s.leases.ofClientsText(err, q.text)
		}
	}
	return s.kill(k.ID, k.Query)
}

// killID has a server compute the id of a KILL from an expression. One that is NULL is 0, as of servers.
func (s *Session) killID(expr string) (id uint64, err error) {
	if err := s.leases.startOfStatement(); err != nil {
		return 0, err
	}
	text := "SELECT CAST((" + expr + ") AS SIGNED)"
	q := query{text: text, info: sqltext.Classify(text, s.client.mode())}
	if err := s.client.substitute(&q); err != nil {
		return 0, err
	}
	p, err := s.acquireToAsk(s.routing.route(&q))
	if err != nil {
		return 0, err
	}
	var signed int64
	err = p.Conn.Rows(q.text, 1, func(row []string) { signed, _ = strconv.ParseInt(row[0], 10, 64) })
	if err != nil {
		return 0, s.leases.afterFailure(p, err)
	}
	s.leases.release(p)
	s.client.txn.LastOnHeld = false
	if id = uint64(signed); !s.client.mode().MariaDB {
		id &= 1<<32 - 1
	}
	return id, nil
}

// acquireToAsk gives a connection for a question of the proxy's own in the client's state: the held one, which has the values of variables that
// it alone knows, else one to the target. No transaction begins there, and what FOUND_ROWS() gave is known before it is asked.
func (s *Session) acquireToAsk(t txn.Target) (backend.Pooled, error) {
	p := s.client.txn.Held()
	if p.Pooled == nil {
		if _, err := s.leases.gate(); err != nil {
			return p, err
		}
		if err := s.leases.learnCharset(t.Node); err != nil {
			return p, err
		}
		var err error
		if p, err = s.leases.obtain(t, s.client.state.Setting()); err != nil {
			return p, err
		}
	}
	if !s.client.setRunning(p) {
		s.leases.drop(p)
		return backend.Pooled{}, interrupted()
	}
	if !s.client.txn.Holding() {
		return p, nil
	}
	err := s.client.observed.Apply(p, s.client.state.DB(), s.client.state.Setting())
	if err == nil {
		err = s.client.state.Found.Settle(p.Conn, false)
	}
	if s.client.state.Found.Overwritten(); err != nil {
		return backend.Pooled{}, s.leases.afterFailure(p, err)
	}
	return p, nil
}

// kill runs KILL: of the client connections of this proxy, own ones or, with the right process, anybody's.
func (s *Session) kill(id uint64, query bool) error {
	victim := s.client.shared.Sessions.Get(uint32(id))
	if id > 1<<32-1 || victim == nil {
		return mysql.NewSQLError(mysql.ERNoSuchThread, "Unknown thread id: %d", id)
	}
	if victim.User() != s.client.user && !s.client.account.Process {
		return mysql.NewSQLError(mysql.ERKillDenied, "You are not owner of thread %d", id)
	}
	if victim == &s.client.entry {
		if !query {
			s.client.writeError(interrupted(), observe.OriginProxy)
			return &endError{reason: process.EndKilled}
		}
		return interrupted()
	}
	if !victim.Interrupt(!query) {
		return mysql.NewSQLError(mysql.ERNoSuchThread, "Unknown thread id: %d", id)
	}
	s.client.writeOK()
	return nil
}

// comProcessKill runs COM_PROCESS_KILL. MySQL manual: "COM_PROCESS_KILL".
func (s *Session) comProcessKill(arg []byte) error {
	if len(arg) < 4 {
		return malformed()
	}
	return s.kill(uint64(binary.LittleEndian.Uint32(arg)), false)
}

// writeProcesslist answers SHOW PROCESSLIST with the clients of this proxy: the user's own, or with the right process all.
func (c *client) writeProcesslist(full bool) {
	var rows [][]string
	for _, other := range c.shared.Sessions.All() {
		p := other.Row()
		if p.User != c.user && !c.account.Process {
			continue
		}
		if !full && len(p.Info) > 100 {
			p.Info = p.Info[:100]
		}
		rows = append(rows, []string{
			strconv.FormatUint(uint64(p.ID), 10), p.User, p.Host, orNull(p.DB), p.Command, strconv.Itoa(p.Seconds), p.State, orNull(p.Info),
		})
	}
	text, number := mysql.TypeVarString, mysql.TypeLongLong
	c.writeRows([]string{"Id", "User", "Host", "db", "Command", "Time", "State", "Info"},
		[]mysql.ColumnType{number, text, text, text, text, mysql.TypeLong, text, text}, rows)
}

func orNull(v string) string {
	if v == "" {
		return nullText
	}
	return v
}
