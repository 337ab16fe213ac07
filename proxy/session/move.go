package session

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/fastlane"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
)

// Mover gives a session, described by state, and its client's connection to another process. With gone the session is not
// this process's any more, for better or, with an error, for worse; else it stays as it was.
type Mover func(state []byte, conn syscall.RawConn) (gone bool, err error)

// ErrMoveLater is the error of a Mover that takes no session any more: another one may.
var ErrMoveLater = errors.New("not moved now")

// await waits for the next command. called says that somebody has asked the session to move instead, and that nothing has come.
func (s *Session) await() (called bool, err error) {
	s.client.entry.BeginAwait()
	err = s.client.conn.Await()
	called, closing := s.client.entry.EndAwait()
	if !called {
		return false, err
	}
	_ = s.client.conn.Net.SetReadDeadline(time.Time{})
	return err != nil && s.client.conn.Buffered() == 0 && !closing, nil
}

// move gives the session to another process if there is one and nothing but the client binds it. It is between two commands.
func (s *Session) move() (gone bool) {
	m := s.client.shared.mover.Load()
	if m == nil {
		return false
	}
	return s.client.entry.Move(func() (gone, stays bool) {
		nc, ok := s.client.conn.Net.Bare().(syscall.Conn)
		if !ok || !s.unbound() {
			return false, true
		}
		raw, err := nc.SyscallConn()
		if err == nil {
			gone, err = (*m)(s.description().Append(nil), raw)
		}
		if err != nil {
			s.client.shared.Log.Warn("a session was not handed over", "conn", s.client.id, "user", s.client.entry.Name(), "lost", gone, "error", err)
		}
		if c, ok := nc.(*fastlane.Conn); ok && gone {
			c.Leave()
		}
		return gone, err != nil && !errors.Is(err, ErrMoveLater)
	})
}

// unbound tells whether the session has nothing that cannot be told another process.
func (s *Session) unbound() bool {
	if s.client.txn.Holding() || s.client.txn.HasOthers() || s.client.txn.Pins != 0 || s.client.txn.InTransaction() || s.client.txn.Cursors > 0 || len(s.client.textStmts) > 0 || s.client.transactionMode != 0 || s.client.readConsistency != 0 || s.client.replicaConsistency != 0 || s.client.spread != nil {
		return false
	}
	return s.stmts.longData == 0 && !s.longDataOpen() && s.client.conn.Settled()
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

// description returns what another process must know to go on with the session.
func (s *Session) description() *state.Description {
	d := &state.Description{
		ID: s.client.id, AdminOnly: s.client.entry.AdminOnly(), User: s.client.entry.Name(), Started: s.client.entry.Started(), Since: s.client.entry.Since().UnixNano(), Salt: bytes.Clone(s.client.salt[:]),
		Capabilities: s.client.conn.Capabilities, NextTransaction: s.client.txn.Next.Texts(), NextStmtID: s.stmts.nextID, LastStmtID: s.stmts.lastID,
	}
	s.client.state.Describe(d)
	d.GTIDs = freshness{&s.client}.text()
	if s.client.addr.IsValid() {
		d.Client = s.client.from().String()
	}
	for _, one := range s.stmts.byID {
		described := state.StmtDescription{
			ID: one.id, Text: one.text, Given: one.given, Params: uint16(one.params), Types: one.types, Kinds: one.kinds, Sharded: one.sharded,
			DB: one.db, Mode: one.mode, Current: one.setting == s.client.state.Setting(),
		}
		if one.source != one.text {
			described.Source = one.source
		}
		if !described.Current {
			described.SettingDB, described.SettingFlags, described.SettingVars = one.setting.DB, one.setting.Flags, one.setting.Vars
		}
		d.Stmts = append(d.Stmts, described)
	}
	return d
}

// Adopt goes on with a session of another process, of which the client's connection and the description came. It owns the
// connection; the caller calls Resume. After an error the session stays with the other process, and nc is closed.
func Adopt(nc net.Conn, description []byte, shared *Shared) (*Session, error) {
	var d state.Description
	if err := d.Decode(description); err != nil {
		_ = nc.Close()
		return nil, err
	}
	s := assemble()
	copy(s.client.salt[:], d.Salt)
	s.client.init(nc, shared)
	if d.Client != "" {
		a, err := netip.ParseAddrPort(d.Client)
		if err != nil {
			_ = nc.Close()
			return nil, state.ErrDescription
		}
		s.client.comesFrom(a)
	}
	who := process.Who{User: d.User, Host: hostOf(s.client.addr), Admin: d.AdminOnly}
	s.client.entry.Adopt((*clientConn)(s.client.conn), who, shared.Log, d.DB, d.Started, time.Unix(0, d.Since))
	if !shared.Sessions.Place(&s.client.entry, d.ID) {
		_ = nc.Close()
		return nil, fmt.Errorf("its connection id %d is another session's", d.ID)
	}
	s.client.identify(d.ID)
	s.rejoin()
	s.restore(&d)
	if fr := (freshness{&s.client}); !fr.take(d.GTIDs) {
		fr.lose()
	}
	shared.Stats.Adopted.Add(1)
	return s, nil
}

// rejoin finds the session's account and schema. Where there are none by now, the next command says so: the schema is none
// that a snapshot has.
func (s *Session) rejoin() {
	s.client.snap = s.client.shared.Snapshot.Load()
	s.client.conn.SetPayloadCap(int(s.client.snap.Config.MaxAllowedPacket))
	s.client.schema = &Schema{}
	a, known := s.client.snap.Accounts.Lookup(s.client.entry.Name(), s.client.addr)
	if !known {
		return
	}
	a.Stay()
	s.client.setAccount(a)
	if schema := s.client.snap.Schemas[s.client.entry.Name()]; schema != nil && !s.client.entry.AdminOnly() {
		s.client.schema = schema
	}
}

// restore takes over what the client has set and prepared.
func (s *Session) restore(d *state.Description) {
	s.client.conn.Capabilities = d.Capabilities
	s.client.state = state.Restore(d)
	for _, text := range d.NextTransaction {
		if assignments, ok := sqltext.ParseSet(text, d.Mode); ok {
			s.client.txn.Next.Take(assignments)
		}
	}
	s.stmts.nextID, s.stmts.lastID = d.NextStmtID, d.LastStmtID
	if len(d.Stmts) > 0 {
		s.stmts.byID = make(map[uint32]*stmt, len(d.Stmts))
	}
	for k := range d.Stmts {
		one := &d.Stmts[k]
		st := &stmt{
			id: one.ID, text: one.Text, source: one.Source, given: one.Given, params: int(one.Params), sharded: one.Sharded, db: one.DB, mode: one.Mode,
			types: one.Types, setting: s.client.state.Setting(),
		}
		if st.source == "" {
			st.source = st.text
		}
		if len(one.Kinds) > 0 {
			st.kinds = one.Kinds
		}
		if !one.Current {
			st.setting = backend.Intern(one.SettingDB, one.SettingFlags, one.SettingVars)
		}
		st.info = sqltext.Classify(st.source, st.mode)
		st.readWithin()
		st.normal = normalOf(st.text, st.mode)
		st.information = st.sharded && mayAskCatalog(st.text, st.info.Class, st.mode, st.db)
		st.own = ownPrepared(st.text, st.info.Class, st.mode, st.sharded)
		s.stmts.setTexts(s.stmts.texts + st.bytes()) // where there is no room it goes on all the same
		s.stmts.byID[st.id] = st
	}
}

// Resume serves a session that Adopt gave, until it ends.
func (s *Session) Resume() { s.goOn(stepResume) }
