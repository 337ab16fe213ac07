package session

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/fastlane"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
)

// Mover gives a session, described by state, and its client's connection to another process. With gone the session is not
// this process's any more, for better or, with an error, for worse; else it stays as it was.
type Mover func(state []byte, conn syscall.RawConn) (gone bool, err error)

// ErrMoveLater is the error of a Mover that takes no session any more: another one may.
var ErrMoveLater = errors.New("not moved now")

// await waits for the next command. called says that somebody has asked the session to move instead, and that nothing has come.
func (s *Session) await() (called bool, err error) {
	s.entry.BeginAwait()
	err = s.conn.Await()
	called, closing := s.entry.EndAwait()
	if !called {
		return false, err
	}
	_ = s.conn.Net.SetReadDeadline(time.Time{})
	return err != nil && s.conn.Buffered() == 0 && !closing, nil
}

// move gives the session to another process if there is one and nothing but the client binds it. It is between two commands.
func (s *Session) move() (gone bool) {
	m := s.shared.mover.Load()
	if m == nil {
		return false
	}
	return s.entry.Move(func() (gone, stays bool) {
		nc, ok := s.conn.Net.Bare().(syscall.Conn)
		if !ok || !s.unbound() {
			return false, true
		}
		raw, err := nc.SyscallConn()
		if err == nil {
			gone, err = (*m)(s.carried().appendTo(nil), raw)
		}
		if err != nil {
			s.shared.Log.Warn("a session was not handed over", "conn", s.id, "user", s.user, "lost", gone, "error", err)
		}
		if c, ok := nc.(*fastlane.Conn); ok && gone {
			c.Leave()
		}
		return gone, err != nil && !errors.Is(err, ErrMoveLater)
	})
}

// unbound tells whether the session has nothing that cannot be told another process.
func (s *Session) unbound() bool {
	if s.held.Pooled != nil || len(s.others) > 0 || s.pins != 0 || s.inTransaction() || s.openCursors > 0 || len(s.textStmts) > 0 {
		return false
	}
	return s.stmts.longData == 0 && !s.longDataOpen() && s.conn.Settled()
}

// longDataOpen tells whether COM_STMT_SEND_LONG_DATA brought something, if only an empty piece or a fault.
func (s *Session) longDataOpen() bool {
	for _, st := range s.stmts.byID {
		if st.long != nil || st.longErr != nil {
			return true
		}
	}
	return false
}

// carried describes the session.
func (s *Session) carried() *carried {
	st := &s.state
	c := &carried{
		id: s.id, adminOnly: s.entry.AdminOnly(), user: s.user, started: s.entry.Started(), since: s.entry.Since().UnixNano(), salt: s.salt,
		capabilities: s.conn.Capabilities, db: st.db, autocommit: st.autocommit, resolved: st.resolved, strict: st.strict,
		flags: st.flags, collation: st.collation, mode: st.mode, vars: st.vars, nextTransaction: st.next.texts(),
		rowCount: st.result.rowCount, foundRows: st.found.n, lastInsertID: st.insertIDs.last, warnings: st.warnings,
		warningCount: uint32(st.warningCount), errorCount: uint32(st.errorCount),
		nextStmtID: s.stmts.nextID, lastStmtID: s.stmts.lastID,
	}
	if s.addr.IsValid() {
		c.client = s.client
	}
	for _, one := range s.stmts.byID {
		carried := carriedStmt{
			id: one.id, text: one.text, given: one.given, params: uint16(one.params), types: one.types, kinds: one.kinds, sharded: one.sharded,
			db: one.db, mode: one.mode, current: one.setting == st.current(),
		}
		if one.source != one.text {
			carried.source = one.source
		}
		if !carried.current {
			carried.settingDB, carried.settingFlags, carried.settingVars = one.setting.DB, one.setting.Flags, one.setting.Vars
		}
		c.stmts = append(c.stmts, carried)
	}
	return c
}

// Adopt goes on with a session of another process, of which the client's connection and the description came. It owns the
// connection; the caller calls Resume. After an error the session stays with the other process, and nc is closed.
func Adopt(nc net.Conn, state []byte, shared *Shared) (*Session, error) {
	var c carried
	if err := c.decode(state); err != nil {
		_ = nc.Close()
		return nil, err
	}
	s := &Session{
		shared: shared, conn: mysql.NewConn(nc, mysql.ClientSide, preAuthCap), salt: c.salt, user: c.user, client: "localhost",
	}
	s.patchFn = s.patchOK
	if c.client != "" {
		a, err := netip.ParseAddrPort(c.client)
		if err != nil {
			_ = nc.Close()
			return nil, errCarried
		}
		s.comesFrom(a)
	}
	who := process.Who{User: c.user, Host: s.host(), Admin: c.adminOnly}
	s.entry.Adopt((*clientConn)(s.conn), who, shared.Log, c.db, c.started, time.Unix(0, c.since))
	if s.id = c.id; !shared.Sessions.Place(&s.entry, c.id) {
		_ = nc.Close()
		return nil, fmt.Errorf("its connection id %d is another session's", c.id)
	}
	s.observed = observe.New(&shared.Stats, s.id)
	s.rejoin()
	s.restore(&c)
	shared.Stats.Adopted.Add(1)
	return s, nil
}

// rejoin finds the session's account and schema. Where there are none by now, the next command says so: the schema is none
// that a snapshot has.
func (s *Session) rejoin() {
	s.snap = s.shared.Snapshot.Load()
	s.conn.SetPayloadCap(int(s.snap.Config.MaxAllowedPacket))
	s.schema = &Schema{}
	a, known := s.snap.Accounts.Lookup(s.user, s.addr)
	if !known {
		return
	}
	a.Stay()
	s.setAccount(a)
	if schema := s.snap.Schemas[s.user]; schema != nil && !s.entry.AdminOnly() {
		s.schema = schema
	}
}

// restore takes over what the client has set and prepared.
func (s *Session) restore(c *carried) {
	s.conn.Capabilities = c.capabilities
	s.state = state{
		db: c.db, autocommit: c.autocommit, vars: c.vars, flags: c.flags, mode: c.mode, strict: c.strict, collation: c.collation,
		resolved: c.resolved, next: nextOf(c), result: lastResult{c.rowCount}, found: foundRows{n: c.foundRows},
		insertIDs: insertIDs{last: c.lastInsertID}, warnings: c.warnings, warningCount: int(c.warningCount), errorCount: int(c.errorCount),
	}
	s.stmts = stmts{nextID: c.nextStmtID, lastID: c.lastStmtID}
	if len(c.stmts) > 0 {
		s.stmts.byID = make(map[uint32]*stmt, len(c.stmts))
	}
	for k := range c.stmts {
		one := &c.stmts[k]
		st := &stmt{
			id: one.id, text: one.text, source: one.source, given: one.given, params: int(one.params), sharded: one.sharded, db: one.db, mode: one.mode,
			types: one.types, setting: s.state.current(),
		}
		if st.source == "" {
			st.source = st.text
		}
		if len(one.kinds) > 0 {
			st.kinds = one.kinds
		}
		if !one.current {
			st.setting = backend.Intern(one.settingDB, one.settingFlags, one.settingVars)
		}
		st.info = sqltext.Classify(st.source, st.mode)
		st.readWithin()
		st.normal = normalOf(st.text, st.mode)
		st.information = st.sharded && mayAskCatalog(st.text, st.info.Class, st.mode, st.db)
		st.own = ownPrepared(st.text, st.info.Class, st.mode, st.sharded)
		s.stmts.byID[st.id] = st
	}
}

// Resume serves a session that Adopt gave, until it ends.
func (s *Session) Resume() { s.goOn(stepResume) }
