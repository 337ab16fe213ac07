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

// kills carry out KILL of sessions, and of statements on servers.
type kills struct {
	client  *client
	leases  *leases
	routing *routing
}

// killStatement runs KILL as a statement.
func (ki kills) killStatement(q *query) error {
	k, ok := sqltext.ParseKill(q.text, ki.client.mode())
	if !ok {
		return errKillForm
	}
	if k.Expr != "" {
		var err error
		if k.ID, err = ki.killID(k.Expr); err != nil {
			return ki.leases.ofClientsText(err, q.text)
		}
	}
	return ki.kill(k.ID, k.Query)
}

// killID has a server compute the id of a KILL from an expression. One that is NULL is 0, as of servers.
func (ki kills) killID(expr string) (id uint64, err error) {
	if err := ki.leases.startOfStatement(); err != nil {
		return 0, err
	}
	text := "SELECT CAST((" + expr + ") AS SIGNED)"
	q := query{text: text, info: sqltext.Classify(text, ki.client.mode())}
	if err := ki.client.substitute(&q); err != nil {
		return 0, err
	}
	p, err := ki.acquireToAsk(ki.routing.route(&q))
	if err != nil {
		return 0, err
	}
	var signed int64
	err = p.Conn.Rows(q.text, 1, func(row []string) { signed, _ = strconv.ParseInt(row[0], 10, 64) })
	if err != nil {
		return 0, ki.leases.afterFailure(p, err)
	}
	ki.leases.release(p)
	ki.client.txn.LastOnHeld = false
	if id = uint64(signed); !ki.client.mode().MariaDB {
		id &= 1<<32 - 1
	}
	return id, nil
}

// acquireToAsk gives a connection for a question of the proxy's own in the client's state: the held one, which has the values of variables that
// it alone knows, else one to the target. No transaction begins there, and what FOUND_ROWS() gave is known before it is asked.
func (ki kills) acquireToAsk(t txn.Target) (backend.Pooled, error) {
	p := ki.client.txn.Held()
	if p.Pooled == nil {
		if _, err := ki.leases.gate(); err != nil {
			return p, err
		}
		if err := ki.leases.learnCharset(); err != nil {
			return p, err
		}
		var err error
		if p, err = ki.leases.obtain(t, ki.client.state.Setting()); err != nil {
			return p, err
		}
	}
	if !ki.client.setRunning(p) {
		ki.leases.drop(p)
		return backend.Pooled{}, interrupted()
	}
	if !ki.client.txn.Holding() {
		return p, nil
	}
	err := ki.client.observed.Apply(p, ki.client.state.DB(), ki.client.state.Setting())
	if err == nil {
		err = ki.client.state.Found.Settle(p.Conn, false)
	}
	if ki.client.state.Found.Overwritten(); err != nil {
		return backend.Pooled{}, ki.leases.afterFailure(p, err)
	}
	return p, nil
}

// kill runs KILL: of the client connections of this proxy, own ones or, with the right process, anybody's.
func (ki kills) kill(id uint64, query bool) error {
	victim := ki.client.shared.Sessions.Get(uint32(id))
	if id > 1<<32-1 || victim == nil {
		return mysql.NewSQLError(mysql.ERNoSuchThread, "Unknown thread id: %d", id)
	}
	if victim.User() != ki.client.entry.Name() && !ki.client.account.Process {
		return mysql.NewSQLError(mysql.ERKillDenied, "You are not owner of thread %d", id)
	}
	if victim == &ki.client.entry {
		if !query {
			ki.client.writeError(interrupted(), observe.OriginProxy)
			return &endError{reason: process.EndKilled}
		}
		return interrupted()
	}
	if !victim.Interrupt(!query) {
		return mysql.NewSQLError(mysql.ERNoSuchThread, "Unknown thread id: %d", id)
	}
	ki.client.writeOK()
	return nil
}

// comProcessKill runs COM_PROCESS_KILL. MySQL manual: "COM_PROCESS_KILL".
func (ki kills) comProcessKill(arg []byte) error {
	if len(arg) < 4 {
		return malformed()
	}
	return ki.kill(uint64(binary.LittleEndian.Uint32(arg)), false)
}

// writeProcesslist answers SHOW PROCESSLIST with the clients of this proxy: the user's own, or with the right process all.
func (c *client) writeProcesslist(full bool) {
	var rows [][]string
	for _, other := range c.shared.Sessions.All() {
		p := other.Row()
		if p.User != c.entry.Name() && !c.account.Process {
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
