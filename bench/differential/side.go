package differential

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// sessionSettings are made in every session: one collation, lists long enough that nothing is cut, and one time zone.
const sessionSettings = "SET NAMES utf8mb4, SESSION group_concat_max_len = 1000000, time_zone = '+00:00', innodb_lock_wait_timeout = 5, lock_wait_timeout = 10"

// sqlModes are those that databases are compared under, by turns; the first is the server's own.
var sqlModes = []string{
	"", "", "ANSI,STRICT_TRANS_TABLES", "STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT", "",
	"TRADITIONAL,HIGH_NOT_PRECEDENCE,ONLY_FULL_GROUP_BY", "NO_ENGINE_SUBSTITUTION", "STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO",
}

// answerTimeout is how long one answer may take, on a machine that has other work too.
const answerTimeout = 2 * time.Minute

// side is a session on one of the two servers that are compared.
type side struct {
	addr, db string
	mode     string // sql_mode, "" for the server's
	zone     string // time_zone, "" for UTC
	conn     *mysqltest.RawClient
	// others are the sessions of other clients than 0, each in its place.
	others [clientsMax + 1]*side
	// alter changes the text of statements on their way; nil for none.
	alter func(sql string) string
}

// dial opens a session, in a database if db is not "".
func dial(addr, db string) (*mysqltest.RawClient, error) {
	c, err := mysqltest.DialRaw(addr, mysqltest.ClientConfig{User: mysqltest.User, Password: mysqltest.Password, DB: db, Timeout: answerTimeout})
	if err != nil {
		return nil, err
	}
	version, err := c.Query("SELECT VERSION()") // a proxy's greeting may be older than what it knows of its servers
	if err == nil && version.Err != nil {
		err = version.Err
	}
	settings := sessionSettings
	if err == nil && !strings.Contains(fmt.Sprintf("%s", version.Rows), "MariaDB") {
		settings += ", information_schema_stats_expiry = 0" // or it tells ids of a day ago
	}
	if err == nil {
		_, err = c.Exec(settings)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// open starts a new session; one that is there is closed.
func (s *side) open() (err error) {
	s.close()
	if s.conn, err = dial(s.addr, s.db); err != nil {
		return err
	}
	for _, sql := range s.settings() {
		if _, err = s.conn.Exec(sql); err != nil {
			s.close()
			return err
		}
	}
	return nil
}

// settings are what is set in the side's sessions beside that of all.
func (s *side) settings() (list []string) {
	if s.mode != "" {
		list = append(list, "SET sql_mode = '"+s.mode+"'")
	}
	if s.zone != "" {
		list = append(list, "SET time_zone = '"+s.zone+"'")
	}
	return list
}

// client is the side's session of a client.
func (s *side) client(n int) *side {
	if n == 0 {
		return s
	}
	if s.others[n] == nil {
		s.others[n] = &side{addr: s.addr, db: s.db, mode: s.mode, zone: s.zone, alter: s.alter}
	}
	return s.others[n]
}

// closeAll closes the sessions of all clients.
func (s *side) closeAll() {
	for _, o := range s.others {
		if o != nil {
			o.close()
		}
	}
	s.close()
}

func (s *side) close() {
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}

// answer is everything that a client sees of one statement.
type answer struct {
	*mysqltest.RawResult
	params, columns []mysql.ColumnDefinition41 // of the preparation
}

// run runs a statement. The error is one of the connection, which is then of no use any more.
func (s *side) run(st *statement) (answer, error) {
	if s.conn == nil {
		if err := s.open(); err != nil {
			return answer{}, err
		}
	}
	a, err := s.send(s.render(st), st.prepared)
	if err != nil {
		s.close()
	}
	return a, err
}

// render gives a statement's text for the side.
func (s *side) render(st *statement) rendered {
	r := st.root.render(s.db, st.prepared)
	if s.alter != nil {
		r.sql = s.alter(r.sql)
	}
	return r
}

// both runs a statement and the one that follows it, whose answer it gives.
func (s *side) both(first, second *statement) (answer, error) {
	if _, err := s.run(first); err != nil {
		return answer{}, err
	}
	return s.run(second)
}

func (s *side) send(r rendered, prepared bool) (answer, error) {
	if !prepared {
		result, err := s.conn.Query(r.sql)
		return answer{RawResult: result}, err
	}
	stmt, err := s.conn.Prepare(r.sql)
	if refused, ok := errors.AsType[*mysql.SQLError](err); ok {
		return answer{RawResult: &mysqltest.RawResult{Err: refused}}, nil
	}
	if err != nil {
		return answer{}, err
	}
	a := answer{params: stmt.Params, columns: stmt.Columns}
	if a.RawResult, err = stmt.Execute(r.args...); err != nil {
		return a, err
	}
	return a, stmt.Close()
}

// ownError tells an error that the proxy itself made: a refusal.
func (a answer) ownError() bool { return a.refusal() != nil }

// refusedLater reports whether statements of the text have run ahead of the one that the proxy refused.
func (a answer) refusedLater() bool { return a.refusal() != nil && a.Err != a.refusal() }

// refusal is the proxy's own error for the text, or for one of its statements; nil without one.
func (a answer) refusal() *mysql.SQLError {
	for r := a.RawResult; r != nil; r = r.Next {
		if r.Err != nil && r.Err.Code >= 9000 && r.Err.Code <= 9999 {
			return r.Err
		}
	}
	return nil
}
