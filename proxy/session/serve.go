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
			s.exchanges.several().shards.dropRunning()
			s.client.shared.Log.Error("panic in a session", "conn", s.client.id, "panic", r, "stack", string(debug.Stack()))
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
		if parked = s.lane.park(); parked {
			return
		}
		end = s.next()
	}
}

// enter lets the client in.
func (s *Session) enter() *endError {
	if end := s.login().handshake(); end != nil {
		return end
	}
	s.loginOver()
	s.lane.enterLane()
	return nil
}

// end closes the client's connection and gives back what the session holds.
func (s *Session) end(e *endError) {
	reason := s.client.entry.End(e.reason)
	s.client.conn.Close()
	s.client.conn.Release()
	if s.client.observed.Traced() {
		s.client.endTrace(e) // of a command that panicked
	}
	s.loginOver()
	s.client.shared.Packets.Give(s.stmts.longData)
	s.stmts.longData = 0
	s.stmts.setTexts(0)
	s.exchanges.replay().forget()
	s.client.entry.TakeRunning()
	s.client.txn.End(s.client.run)
	s.client.returnOffer()
	s.lane.leaveLane()
	s.client.shared.Sessions.Remove(&s.client.entry)
	if s.client.account != nil {
		s.client.account.Leave()
	}
	s.client.shared.Ends[reason].Add(1)
	switch reason {
	case process.EndQuit, process.EndClientGone, process.EndIdle, process.EndDrained, process.EndMoved:
		s.client.shared.Log.Debug("session ended", "conn", s.client.id, "user", s.client.entry.Name(), "host", s.client.entry.Host(), "reason", reason.String())
	default:
		line := []any{"conn", s.client.id, "user", s.client.entry.Name(), "host", s.client.entry.Host(), "reason", reason.String(), "error", e.err}
		if s.client.account == nil || reason == process.EndDenied {
			omitted, ok := s.client.shared.Failures.Log(s.client.addr)
			if !ok {
				return
			}
			if omitted > 0 {
				line = append(line, "lines_omitted", omitted)
			}
		}
		s.client.shared.Log.Info("session ended", line...)
	}
}

// next reads one command and answers it, unless the session is called away first.
func (s *Session) next() *endError {
	s.client.conn.ResetSequence()
	if called, err := s.await(); called || err != nil {
		if called {
			return nil
		}
		return s.readFailed(err)
	}
	p, err := s.client.conn.ReadPacket()
	if err != nil {
		return s.readFailed(err)
	}
	cmd := mysql.ComSleep // what an empty packet is taken for, as by the server
	var arg []byte
	if len(p) > 0 {
		cmd, arg = mysql.Command(p[0]), p[1:]
	}
	if !s.client.begin(cmd, s.describe(cmd, arg)) {
		return &endError{reason: process.EndKilled}
	}
	return s.client.conclude(cmd, s.dispatch(cmd, arg))
}

// readFailed tells the client what it did wrong where that is still possible.
func (s *Session) readFailed(err error) *endError {
	switch {
	case errors.Is(err, mysql.ErrPacketTooLarge):
		s.client.conn.WriteError(mysql.NewSQLError(mysql.ERNetPacketTooLarge, "Got a packet bigger than 'max_allowed_packet' bytes"))
	case errors.Is(err, mysql.ErrMemory):
		s.client.writeError(newError(KSPacketMemory, ""), observe.OriginProxy)
	case errors.Is(err, mysql.ErrPacketsOutOfOrder):
		s.client.conn.WriteError(mysql.NewSQLError(mysql.ERNetPacketsOutOfOrder, "Got packets out of order"))
	default:
		return clientEnd(err)
	}
	s.client.lastWords()
	return clientEnd(err)
}

// lastWords sends what is queued before a close, not waiting for a client that does not read.
func (c *client) lastWords() {
	if c.tasked != nil && c.tasked.composed {
		return // the client has them when the statement that it sent ends
	}
	_ = c.conn.Net.SetDeadline(time.Now().Add(time.Second))
	_ = c.conn.Flush()
}

// describe gives the text that the process list shows for a command.
func (s *Session) describe(cmd mysql.Command, arg []byte) string {
	switch cmd {
	case mysql.ComQuery:
		_, text, _ := s.client.splitAttributes(arg)
		return text
	case mysql.ComStmtPrepare:
		return alias(arg)
	}
	return ""
}

// alias views bytes as a string; valid as long as the bytes stay unchanged.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// dispatch answers one command. Responses are queued; conclude sends them.
func (s *Session) dispatch(cmd mysql.Command, arg []byte) *endError {
	s.client.snap = s.client.shared.Snapshot.Load()
	if s.client.shared.Labels.On() {
		s.client.observed.Label(s.client.entry.Name(), s.client.entry.Text(), s.client.mode())
	}
	if s.client.entry.AdminOnly() {
		return s.dispatchAdmin(cmd, arg)
	}
	if end := s.client.refreshSchema(); end != nil {
		return end
	}
	s.client.more = false
	if s.client.txn.Branches && s.client.entry.GaveUp() {
		if end := s.leases.branches().idled(); end != nil {
			return end
		}
	}
	if s.client.txn.Unlearned && cmd != mysql.ComQuit {
		if end := s.settings().learnLate(); end != nil {
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
		s.client.state.Diagnostics.RowCount = 0
		s.client.conn.WriteOK(&mysql.OKPacket{Status: s.client.status()})
	case mysql.ComInitDB:
		s.client.traceCommand(cmd, "")
		err = s.comInitDB(string(arg))
	case mysql.ComFieldList:
		s.client.traceCommand(cmd, "")
		err = s.comFieldList(arg)
	case mysql.ComStatistics:
		s.comStatistics()
	case mysql.ComProcessInfo:
		s.client.writeProcesslist(false)
	case mysql.ComProcessKill:
		err = s.kills().comProcessKill(arg)
	case mysql.ComDebug:
		if s.client.account.ReadOnly {
			err = s.client.readDenied("COM_DEBUG")
		} else {
			err = s.forwardSimple(mysql.ComDebug)
		}
	case mysql.ComSetOption:
		err = s.comSetOption(arg)
	case mysql.ComChangeUser:
		return s.comChangeUser(arg)
	case mysql.ComResetConnection:
		s.resetState()
		s.client.writeOK()
	case mysql.ComStmtPrepare:
		s.client.traceCommand(cmd, alias(arg))
		err = s.stmts.comStmtPrepare(alias(arg))
	case mysql.ComStmtExecute:
		err = s.comStmtExecute(arg)
	case mysql.ComStmtSendLongData:
		s.stmts.comStmtSendLongData(arg)
	case mysql.ComStmtReset:
		err = s.stmts.comStmtReset(arg)
	case mysql.ComStmtClose:
		s.stmts.comStmtClose(arg)
	case mysql.ComStmtFetch:
		s.client.traceCommand(cmd, "")
		err = s.stmts.comStmtFetch(arg)
	default:
		err = mysql.NewSQLError(mysql.ERUnknownCom, "Unknown command")
	}
	return s.client.settle(err)
}

// schemaCurrent tells whether the user's schema is that of the current snapshot.
func (c *client) schemaCurrent() bool {
	if c.schemaOf != c.snap {
		if c.schema != c.snap.Schemas[c.entry.Name()] {
			return false
		}
		c.schemaOf = c.snap
	}
	return true
}

// refreshSchema follows a reload: the user's schema and account are those of the current snapshot.
func (c *client) refreshSchema() *endError {
	if c.schemaCurrent() {
		return nil
	}
	a, known := c.snap.Accounts.Lookup(c.entry.Name(), c.addr)
	schema := c.snap.Schemas[c.entry.Name()]
	if !known || schema == nil {
		c.writeError(newError(KSNoSchema, ""), observe.OriginProxy)
		c.lastWords()
		return &endError{reason: process.EndDenied}
	}
	c.schema = schema
	c.setAccount(a)
	c.schemaOf = c.snap
	return nil
}
