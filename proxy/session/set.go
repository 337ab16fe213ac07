package session

import (
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// privileged are the session variables that change the binary log, replication or other users' view of the server.
var privileged = map[string]bool{
	"sql_log_bin": true, "gtid_next": true, "binlog_format": true, "pseudo_thread_id": true, "pseudo_slave_mode": true,
	"pseudo_replica_mode": true, "server_id": true, "gtid_domain_id": true, "gtid_seq_no": true, "skip_replication": true,
	"binlog_row_image": true, "sql_log_off": true, "original_commit_timestamp": true, "immediate_server_version": true,
	"original_server_version": true, "default_master_connection": true,
}

// settings carry out statements about the session itself: SET, USE, those that begin and end transactions, SHOW WARNINGS.
type settings struct {
	client    *client
	leases    *leases
	routing   *routing
	exchanges *exchanges
}

// set runs a SET statement: on a backend connection that carries the session's state, so that the server itself judges
// names and values. What it accepts is then kept and brought to every connection that the session uses; what cannot be
// kept pins the connection.
func (se settings) set(q *query) error {
	assignments, ok := sqltext.ParseSet(q.text, se.client.mode())
	if !ok {
		se.client.txn.Pin(txn.PinUnknown)
		se.client.txn.Pin(txn.PinUserVariable)
		q.learns = true
		_, err := se.exchanges.forwardWith(q, nil)
		return err
	}
	if slices.ContainsFunc(assignments, isOwn) {
		return se.setOwn(assignments)
	}
	if assignments[0].Scope == sqltext.NextTransaction {
		if handled, err := se.setNext(q, assignments); handled {
			return err
		}
	}
	if judges := se.judges(q, assignments); severally(judges) {
		return se.setAnywhere(q, judges, assignments)
	}
	_, err := se.exchanges.forwardWith(q, func(p backend.Pooled, failed bool) error {
		if failed {
			if len(assignments) > 1 {
				// Those before the faulty one may have been carried out, and nobody says which.
				se.client.txn.Pin(txn.PinVariable)
				se.exchanges.pinBound(state.BoundUnseen(q.text, se.client.mode()))
				q.learns = true
			}
			return nil
		}
		return se.adopt(p, assignments)
	})
	return err
}

// forwardWith runs a statement on the primary and calls then, which may be nil, before the connection is given back. An
// error of then is a failure of the connection.
func (xs *exchanges) forwardWith(q *query, then func(p backend.Pooled, failed bool) error) (failed bool, err error) {
	if err := xs.client.substitute(q); err != nil {
		return true, err
	}
	x := exchange{target: xs.routing.route(q)}
	for ; ; x.attempt++ {
		if x.p, err = xs.leases.acquire(x.target); err != nil {
			return true, err
		}
		if err := xs.clearDiagnostics(x.p, q); xs.leases.replaces(x.p, x.attempt, err) {
			continue
		} else if err != nil {
			return true, xs.leases.unprepared(x.p, err)
		}
		xs.effects.reach(x.p, q, x.p.Key.Database())
		if err := xs.bringInsertID(x.p, q); err != nil {
			return true, err
		}
		xs.note(&x, q)
		xs.send(x.p, q)
		failed, err = xs.responses(&exchange{p: x.p}, q)
		if err == nil || !xs.leases.repeats(&x, q, err) {
			break
		}
	}
	p := x.p
	if err != nil {
		return true, xs.broken(p, err, x.sent)
	}
	return xs.answeredWith(p, q, failed, x.added, then)
}

// finishWith forwards the answer to a statement that was sent and holds the connection for what it added.
func (xs *exchanges) finishWith(p backend.Pooled, q *query, added txn.Pins, then func(p backend.Pooled, failed bool) error) (failed bool, err error) {
	sent := xs.client.conn.Sequence()
	if failed, err = xs.responses(&exchange{p: p}, q); err != nil {
		return true, xs.broken(p, err, sent)
	}
	return xs.answeredWith(p, q, failed, added, then)
}

// answeredWith calls then, which may be nil, ahead of giving back the connection on which a statement was answered.
func (xs *exchanges) answeredWith(p backend.Pooled, q *query, failed bool, added txn.Pins, then func(p backend.Pooled, failed bool) error) (bool, error) {
	if then != nil {
		if !failed && xs.client.state.Diagnostics.WarningCount > 0 && !q.warned {
			// The session's own questions make the server forget them.
			if err := xs.client.fetchWarnings(p, q.rename); err != nil {
				xs.leases.drop(p)
				return true, &endError{process.EndBackendLost, err}
			}
			q.warned = true
		}
		had := p.Conn.Net.Received()
		err := then(p, failed)
		q.asked = p.Conn.Net.Received() != had
		if err != nil {
			// The client has its OK, so there is no packet to tell it by, and the state that the OK is of is gone.
			xs.leases.drop(p)
			return true, &endError{process.EndBackendLost, err}
		}
	}
	xs.after(p, q, failed, added)
	return failed, nil
}

// admitSet refuses what would reach beyond this session.
func (ri *rights) admitSet(assignments []sqltext.Assignment) error {
	for _, a := range assignments {
		switch a.Scope {
		case sqltext.Global, sqltext.Persist, sqltext.PersistOnly:
			return newError(KSRefusedVariable, "SET "+strings.ToUpper(a.Scope.String())+" "+a.Name+" changes the server for every user; set it on the server itself")
		case sqltext.Password, sqltext.ResourceGroup:
			return newError(KSRefusedVariable, "SET "+strings.ToUpper(a.Scope.String())+" speaks of the proxy's own account on the server; change it on the server itself")
		case sqltext.Session:
			if privileged[a.Name] {
				return newError(KSRefusedVariable, a.Name+" changes the binary log or replication; it cannot be set through the proxy")
			}
			if a.Name == "resultset_metadata" && !ri.client.conn.Capabilities.Has(mysql.ClientOptionalResultsetMetadata) {
				return mysql.NewSQLError(mysql.ERResultsetMetadataNotAsked, "The client doesn't support optional metadata")
			}
		case sqltext.Names, sqltext.CharacterSet:
			if wideCharset(a.Name) {
				return mysql.NewSQLError(mysql.ERWrongValueForVar, "Variable 'character_set_client' can't be set to the value of '%s'", a.Name)
			}
		}
	}
	return nil
}

// wideCharset tells character sets in which ASCII takes more than one byte: no client may send statements in them.
func wideCharset(name string) bool {
	switch name {
	case "ucs2", "utf16", "utf16le", "utf32":
		return true
	}
	return false
}

// adopt keeps what a successful SET changed. p is the connection that it ran on.
func (se settings) adopt(p backend.Pooled, assignments []sqltext.Assignment) error {
	bound, err := se.client.state.Adopt(p.Conn, assignments, se.client.txn.Pins.Has(txn.PinUserVariable))
	if se.exchanges.pinBound(bound); err != nil {
		return err
	}
	p.Key = se.client.state.Setting()
	if !p.Key.OwnTrackers() && slices.ContainsFunc(assignments, func(a sqltext.Assignment) bool { return backend.IsTracker(a.Name) }) {
		if err := p.Instance.GTIDs.Track(p.Conn); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(assignments, func(a sqltext.Assignment) bool { return a.Name == "wait_timeout" }) {
		se.client.entry.SetWaitTimeout(se.client.state.WaitTimeout())
	}
	return nil
}

// pinBound keeps the connection that alone has what a SET set.
func (xs *exchanges) pinBound(b state.Bound) {
	for _, one := range [...]struct {
		bound state.Bound
		pin   txn.Reason
	}{
		{state.BoundUserVariable, txn.PinUserVariable}, {state.BoundVariable, txn.PinVariable}, {state.BoundNextTransaction, txn.PinNextTransaction},
		{state.BoundInsertID, txn.PinInsertID}, {state.BoundRandSeed, txn.PinRandSeed}, {state.BoundUnknown, txn.PinUnknown},
	} {
		if b&one.bound != 0 {
			xs.client.txn.Pin(one.pin)
		}
	}
}
