package session

import (
	"errors"
	"runtime/debug"
	"time"
	"unsafe"

	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
)

// Serve runs the session until it ends, or waits in a loop for its next command: goroutines of the loops run the rest. At
// the end it closes the client's connection, and everything that the session held is given back.
func (s *Session) Serve() { s.goOn(stepLogin) }

// goOn takes one step and then answers commands, until the session ends or waits in a loop for the next one. Then it is the
// loop's.
func (s *Session) goOn(first step) {
	var end *endError
	parked := false
	defer func() {
		if r := recover(); r != nil {
			end = &endError{reason: process.EndPanic}
			s.dropRunning()
			s.shared.Log.Error("panic in a session", "conn", s.id, "panic", r, "stack", string(debug.Stack()))
		}
		if !parked {
			s.end(end)
		}
	}()
	end = s.take(first)
	for end == nil {
		if s.move() {
			end = &endError{reason: process.EndMoved}
			return
		}
		if parked = s.park(); parked {
			return
		}
		end = s.next()
	}
}

// enter lets the client in.
func (s *Session) enter() *endError {
	if end := s.handshake(); end != nil {
		return end
	}
	s.loginOver()
	s.enterLane()
	return nil
}

// end closes the client's connection and gives back what the session holds.
func (s *Session) end(e *endError) {
	reason := s.entry.End(e.reason)
	s.conn.Close()
	s.conn.Release()
	if s.observed.Traced() {
		s.endTrace(e) // of a command that panicked
	}
	s.loginOver()
	s.shared.Packets.Give(s.stmts.longData)
	s.stmts.longData = 0
	s.entry.TakeRunning()
	s.txn.End(s.run)
	s.returnOffer()
	s.leaveLane()
	s.shared.Sessions.Remove(&s.entry)
	if s.account != nil {
		s.account.Leave()
	}
	s.shared.Ends[reason].Add(1)
	switch reason {
	case process.EndQuit, process.EndClientGone, process.EndIdle, process.EndDrained, process.EndMoved:
		s.shared.Log.Debug("session ended", "conn", s.id, "user", s.user, "host", s.host(), "reason", reason.String())
	default:
		line := []any{"conn", s.id, "user", s.user, "host", s.host(), "reason", reason.String(), "error", e.err}
		if s.account == nil || reason == process.EndDenied {
			omitted, ok := s.shared.Failures.Log(s.addr)
			if !ok {
				return
			}
			if omitted > 0 {
				line = append(line, "lines_omitted", omitted)
			}
		}
		s.shared.Log.Info("session ended", line...)
	}
}

// next reads one command and answers it, unless the session is called away first.
func (s *Session) next() *endError {
	s.conn.ResetSequence()
	if called, err := s.await(); called || err != nil {
		if called {
			return nil
		}
		return s.readFailed(err)
	}
	p, err := s.conn.ReadPacket()
	if err != nil {
		return s.readFailed(err)
	}
	cmd := mysql.ComSleep // what an empty packet is taken for, as by the server
	var arg []byte
	if len(p) > 0 {
		cmd, arg = mysql.Command(p[0]), p[1:]
	}
	if !s.begin(cmd, s.describe(cmd, arg)) {
		return &endError{reason: process.EndKilled}
	}
	return s.conclude(cmd, s.dispatch(cmd, arg))
}

// conclude ends a command: what is queued is sent, and nothing is kept of it but the session's state.
func (s *Session) conclude(cmd mysql.Command, end *endError) *endError {
	if err := s.conn.Flush(); err != nil && end == nil {
		end = clientEnd(err)
	}
	if s.observed.Traced() {
		s.endTrace(end)
	}
	if end != nil && end.failure() {
		s.observed.CutOff(end.origin())
	}
	text := s.entry.Text()
	if parts, statement := s.observed.End(cmd, s.finishCommand()); statement && s.shared.Queries.On() {
		s.logStatement(text, parts)
	}
	s.conn.Release()
	s.returnOffer()
	s.releaseTask()
	s.outOfLine()
	s.lane.text, s.lane.instance, s.lane.point = "", nil, nil
	s.observed.Unlabel()
	if end == nil && s.shared.Draining.Load() && !s.txn.InTransaction() {
		end = &endError{reason: process.EndDrained}
	}
	return end
}

// readFailed tells the client what it did wrong where that is still possible.
func (s *Session) readFailed(err error) *endError {
	switch {
	case errors.Is(err, mysql.ErrPacketTooLarge):
		s.conn.WriteError(mysql.NewSQLError(mysql.ERNetPacketTooLarge, "Got a packet bigger than 'max_allowed_packet' bytes"))
	case errors.Is(err, mysql.ErrMemory):
		s.writeError(newError(KSPacketMemory, ""), observe.OriginProxy)
	case errors.Is(err, mysql.ErrPacketsOutOfOrder):
		s.conn.WriteError(mysql.NewSQLError(mysql.ERNetPacketsOutOfOrder, "Got packets out of order"))
	default:
		return clientEnd(err)
	}
	s.lastWords()
	return clientEnd(err)
}

// lastWords sends what is queued before a close, not waiting for a client that does not read.
func (s *Session) lastWords() {
	_ = s.conn.Net.SetDeadline(time.Now().Add(time.Second))
	_ = s.conn.Flush()
}

// describe gives the text that the process list shows for a command.
func (s *Session) describe(cmd mysql.Command, arg []byte) string {
	switch cmd {
	case mysql.ComQuery:
		_, text, _ := s.splitAttributes(arg)
		return text
	case mysql.ComStmtPrepare:
		return alias(arg)
	}
	return ""
}

// alias views bytes as a string; valid as long as the bytes stay unchanged.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// dispatch answers one command. Responses are queued; next sends them.
func (s *Session) dispatch(cmd mysql.Command, arg []byte) *endError {
	s.snap = s.shared.Snapshot.Load()
	if s.shared.Labels.On() {
		s.observed.Label(s.user, s.entry.Text(), s.mode())
	}
	if s.entry.AdminOnly() {
		return s.dispatchAdmin(cmd, arg)
	}
	if end := s.refreshSchema(); end != nil {
		return end
	}
	s.more = false
	if s.txn.Unlearned && cmd != mysql.ComQuit {
		if end := s.learnLate(); end != nil {
			return end
		}
	}
	var err error
	switch cmd {
	case mysql.ComQuit:
		return errQuit
	case mysql.ComQuery:
		err = s.comQuery(arg)
	case mysql.ComPing:
		s.conn.WriteOK(&mysql.OKPacket{Status: s.status()})
	case mysql.ComInitDB:
		s.traceCommand(cmd, "")
		err = s.comInitDB(string(arg))
	case mysql.ComFieldList:
		s.traceCommand(cmd, "")
		err = s.comFieldList(arg)
	case mysql.ComStatistics:
		s.comStatistics()
	case mysql.ComProcessInfo:
		s.writeProcesslist(false)
	case mysql.ComProcessKill:
		err = s.comProcessKill(arg)
	case mysql.ComDebug:
		if s.account.ReadOnly {
			err = s.readDenied("COM_DEBUG")
		} else {
			err = s.forwardSimple(mysql.ComDebug)
		}
	case mysql.ComSetOption:
		err = s.comSetOption(arg)
	case mysql.ComChangeUser:
		return s.comChangeUser(arg)
	case mysql.ComResetConnection:
		s.resetState()
		s.writeOK()
	case mysql.ComStmtPrepare:
		s.traceCommand(cmd, alias(arg))
		err = s.comStmtPrepare(alias(arg))
	case mysql.ComStmtExecute:
		err = s.comStmtExecute(arg)
	case mysql.ComStmtSendLongData:
		s.comStmtSendLongData(arg)
	case mysql.ComStmtReset:
		err = s.comStmtReset(arg)
	case mysql.ComStmtClose:
		s.comStmtClose(arg)
	case mysql.ComStmtFetch:
		s.traceCommand(cmd, "")
		err = s.comStmtFetch(arg)
	default:
		err = mysql.NewSQLError(mysql.ERUnknownCom, "Unknown command")
	}
	return s.settle(err)
}

// settle turns the outcome of a command into what the client hears and whether the session goes on.
func (s *Session) settle(err error) *endError {
	if err == nil {
		return nil
	}
	var sqlErr *mysql.SQLError
	if errors.As(err, &sqlErr) {
		s.txn.LastOnHeld = false // the held connection knows nothing of it
		s.writeError(sqlErr, observe.OriginProxy)
		return nil
	}
	var end *endError
	if errors.As(err, &end) {
		return end
	}
	return clientEnd(err)
}

// schemaCurrent tells whether the user's schema is that of the current snapshot.
func (s *Session) schemaCurrent() bool {
	if s.schemaOf != s.snap {
		if s.schema != s.snap.Schemas[s.user] {
			return false
		}
		s.schemaOf = s.snap
	}
	return true
}

// refreshSchema follows a reload: the user's schema and account are those of the current snapshot.
func (s *Session) refreshSchema() *endError {
	if s.schemaCurrent() {
		return nil
	}
	a, known := s.snap.Accounts.Lookup(s.user, s.addr)
	schema := s.snap.Schemas[s.user]
	if !known || schema == nil {
		s.writeError(newError(KSNoSchema, ""), observe.OriginProxy)
		s.lastWords()
		return &endError{reason: process.EndDenied}
	}
	s.schema = schema
	s.setAccount(a)
	s.schemaOf = s.snap
	return nil
}
