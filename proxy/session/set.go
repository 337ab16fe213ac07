package session

import (
	"errors"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
)

// privileged are the session variables that change the binary log, replication or other users' view of the server.
var privileged = map[string]bool{
	"sql_log_bin": true, "gtid_next": true, "binlog_format": true, "pseudo_thread_id": true, "pseudo_slave_mode": true,
	"pseudo_replica_mode": true, "server_id": true, "gtid_domain_id": true, "gtid_seq_no": true, "skip_replication": true,
	"binlog_row_image": true, "sql_log_off": true, "original_commit_timestamp": true, "immediate_server_version": true,
	"original_server_version": true, "default_master_connection": true,
}

// perStatement are variables that speak of single statements: carrying them to other connections would freeze clocks and
// repeat ids.
var perStatement = map[string]bool{
	"insert_id": true, "last_insert_id": true, "identity": true, "rand_seed1": true, "rand_seed2": true,
	"profiling": true, "optimizer_trace": true, "debug": true, "debug_dbug": true, "session_track_gtids": false,
}

// set runs a SET statement: on a backend connection that carries the session's state, so that the server itself judges
// names and values. What it accepts is then kept and brought to every connection that the session uses; what cannot be
// kept pins the connection.
func (s *Session) set(q *query) error {
	assignments, ok := sqltext.ParseSet(q.text, s.mode())
	if !ok {
		s.pin(pinUnknown)
		s.pin(pinUserVariable)
		q.learns = true
		_, err := s.forwardWith(q, nil)
		return err
	}
	if assignments[0].Scope == sqltext.NextTransaction {
		if handled, err := s.setNext(q, assignments); handled {
			return err
		}
	}
	if judges := s.judges(q, assignments); len(judges) > 1 {
		return s.setAnywhere(q, judges, assignments)
	}
	_, err := s.forwardWith(q, func(p backend.Pooled, failed bool) error {
		if failed {
			if len(assignments) > 1 {
				// Those before the faulty one may have been carried out, and nobody says which.
				s.pin(pinVariable)
				pinAssigned(s, q.text, s.mode())
				q.learns = true
			}
			return nil
		}
		return s.adopt(p, assignments)
	})
	return err
}

// forwardWith runs a statement on the primary and calls then, which may be nil, before the connection is given back. An
// error of then is a failure of the connection.
func (s *Session) forwardWith(q *query, then func(p backend.Pooled, failed bool) error) (failed bool, err error) {
	if err := s.substitute(q); err != nil {
		return true, err
	}
	x := exchange{target: s.route(q)}
	for ; ; x.attempt++ {
		if x.p, err = s.acquire(x.target); err != nil {
			return true, err
		}
		if err := s.clearDiagnostics(x.p, q); s.replaces(x.p, x.attempt, err) {
			continue
		} else if err != nil {
			return true, s.unprepared(x.p, err)
		}
		s.reach(x.p, q, x.p.Key.Database())
		if err := s.bringInsertID(x.p, q); err != nil {
			return true, err
		}
		x.note(s, q)
		s.send(x.p, q)
		failed, err = s.responses(x.p, q)
		if err == nil || !s.repeats(&x, q, err) {
			break
		}
	}
	p := x.p
	if err != nil {
		return true, s.broken(p, err, x.sent)
	}
	return s.answeredWith(p, q, failed, x.added, then)
}

// finishWith forwards the answer to a statement that was sent and holds the connection for what it added.
func (s *Session) finishWith(p backend.Pooled, q *query, added pinSet, then func(p backend.Pooled, failed bool) error) (failed bool, err error) {
	sent := s.conn.Sequence()
	if failed, err = s.responses(p, q); err != nil {
		return true, s.broken(p, err, sent)
	}
	return s.answeredWith(p, q, failed, added, then)
}

// answeredWith calls then, which may be nil, ahead of giving back the connection on which a statement was answered.
func (s *Session) answeredWith(p backend.Pooled, q *query, failed bool, added pinSet, then func(p backend.Pooled, failed bool) error) (bool, error) {
	if then != nil {
		if !failed && s.state.warningCount > 0 {
			// The session's own questions make the server forget them.
			if err := s.fetchWarnings(p, q.rename); err != nil {
				s.drop(p)
				return true, &endError{process.EndBackendLost, err}
			}
			q.warned = true
		}
		had := p.Conn.Net.Received()
		err := then(p, failed)
		q.asked = p.Conn.Net.Received() != had
		if err != nil {
			// The client has its OK, so there is no packet to tell it by, and the state that the OK is of is gone.
			s.drop(p)
			return true, &endError{process.EndBackendLost, err}
		}
	}
	s.after(p, q, failed, added)
	return failed, nil
}

// admitSet refuses what would reach beyond this session.
func (s *Session) admitSet(assignments []sqltext.Assignment) error {
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
			if a.Name == "resultset_metadata" && !s.conn.Capabilities.Has(mysql.ClientOptionalResultsetMetadata) {
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
func (s *Session) adopt(p backend.Pooled, assignments []sqltext.Assignment) error {
	var readBack []string
	for _, a := range assignments {
		switch a.Scope {
		case sqltext.Names:
			readBack = append(readBack, "character_set_client", "character_set_results", "collation_connection")
		case sqltext.CharacterSet:
			readBack = append(readBack, "character_set_client", "character_set_results", "collation_connection")
		case sqltext.User:
			s.adoptUserVariable(a)
		case sqltext.Role:
			s.pin(pinVariable)
		case sqltext.Session:
			readBack = s.adoptVariable(a, readBack)
		case sqltext.NextTransaction:
			s.pin(pinNextTransaction)
		default:
			s.pin(pinUnknown)
		}
	}
	if len(readBack) > 0 {
		if err := s.settleFound(p, false); err != nil { // what is asked now finds a row
			return err
		}
	}
	if k := slices.Index(readBack, "timestamp"); k >= 0 {
		if err := s.adoptTimestamp(p); err != nil {
			return err
		}
		readBack = slices.DeleteFunc(readBack, func(name string) bool { return name == "timestamp" })
	}
	if len(readBack) > 0 {
		if err := s.readBack(p, readBack); err != nil {
			return err
		}
	}
	s.state.readMode(p.Conn.Info)
	p.Key = s.state.current()
	if slices.ContainsFunc(assignments, func(a sqltext.Assignment) bool { return a.Name == "wait_timeout" }) {
		s.followWaitTimeout()
	}
	return nil
}

// literalMax is how many bytes a user variable's text may have to be brought to other connections. Pools keep such texts for a while.
const literalMax = 4 << 10

// adoptUserVariable keeps a user variable whose value is a plain literal, not a long one; another one pins the connection, as does a name
// that other character sets might read otherwise: the session may have another by the time when the variable is brought elsewhere.
func (s *Session) adoptUserVariable(a sqltext.Assignment) {
	name := "@`" + a.Name + "`"
	value := strings.TrimSpace(a.Value)
	switch {
	case s.pins.has(pinUserVariable):
	case !keptLiteral(&a), !plainText(a.Name):
		s.pin(pinUserVariable)
	case strings.EqualFold(value, "NULL"):
		s.state.unset(name)
	default:
		s.state.set(name, value)
	}
}

// keptLiteral tells whether the value of a user variable is brought to every connection.
func keptLiteral(a *sqltext.Assignment) bool {
	value := strings.TrimSpace(a.Value)
	return a.Literal && len(value) <= literalMax && plainLiteral(value)
}

// plainLiteral tells whether a literal reads the same everywhere: a number, a word, or a string of plain characters.
func plainLiteral(v string) bool {
	if len(v) >= 2 && v[0] == '\'' && v[len(v)-1] == '\'' {
		return plainText(v[1 : len(v)-1])
	}
	for k := range len(v) {
		c := v[k]
		if c != '_' && c != '.' && c != '-' && c != '+' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return v != ""
}

// adoptVariable keeps a system variable and returns the names whose values the server is to be asked for.
func (s *Session) adoptVariable(a sqltext.Assignment, readBack []string) []string {
	switch {
	case a.Name == "last_insert_id", a.Name == "identity":
		s.state.insertIDs.doubt = true
	case a.Name == "timestamp":
		return append(readBack, a.Name)
	case a.Name == "insert_id":
		s.pin(pinInsertID)
	case a.Name == "rand_seed1", a.Name == "rand_seed2":
		s.pin(pinRandSeed)
	case perStatement[a.Name]:
		s.pin(pinVariable)
	case a.Name == "character_set_server", a.Name == "collation_server":
		return append(readBack, "collation_server")
	case a.Name == "character_set_filesystem":
		return append(readBack, a.Name)
	case a.Name == "character_set_database", a.Name == "collation_database":
		s.pin(pinVariable) // it is the current database's again by the next USE
	case strings.HasPrefix(a.Name, "character_set_") || strings.HasPrefix(a.Name, "collation_"):
		return append(readBack, "character_set_client", "character_set_results", "collation_connection")
	case a.Literal && strings.EqualFold(a.Value, "DEFAULT") && a.Name != "autocommit" && !backend.KeptByDefault[a.Name]:
		s.state.unset(canonicalName(a.Name))
	default:
		return append(readBack, canonicalName(a.Name))
	}
	return readBack
}

// canonicalName gives one name to variables that servers know by two.
func canonicalName(name string) string {
	switch name {
	case "tx_isolation":
		return "transaction_isolation"
	case "tx_read_only":
		return "transaction_read_only"
	}
	return name
}

// readBack asks the server what the variables are now, and keeps that: the client's text may have been an expression.
// Those that the server does not tell pin the connection.
func (s *Session) readBack(p backend.Pooled, names []string) error {
	columns := make([]string, len(names))
	for k, name := range names {
		columns[k] = "@@session." + p.Conn.Info.VariableName(name)
	}
	err := p.Conn.Rows("SELECT "+strings.Join(columns, ",")+" LIMIT 1", len(columns), func(row []string) {
		for k, name := range names {
			s.keep(name, row[k])
		}
	})
	var sqlErr *mysql.SQLError
	if errors.As(err, &sqlErr) {
		s.pin(pinVariable)
		return nil
	}
	return err
}

// keep stores the value of a system variable as the server told it.
func (s *Session) keep(name, value string) {
	switch {
	case name == "autocommit":
		s.state.autocommit = value == "1"
		s.state.set(name, value)
	case value == "NULL" || isNumber(value):
		s.state.set(name, value)
	case plainText(value):
		s.state.set(name, "'"+value+"'")
	default:
		s.pin(pinVariable)
		if slices.Contains(answerVariables, name) {
			s.state.heldVariable = name
		}
	}
}

func isNumber(v string) bool {
	digits := 0
	for k := range len(v) {
		switch c := v[k]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' || c == '-' && k == 0:
		default:
			return false
		}
	}
	return digits > 0
}
