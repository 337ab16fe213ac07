package state

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqltext"
)

// mysql84 and maria1011 are what is known of servers.
var (
	mysql84   = backend.Info{Number: 80400, SQLMode: "STRICT_TRANS_TABLES", Collation: 255, Collations: collations}
	maria1011 = backend.Info{MariaDB: true, Number: 101100, SQLMode: "STRICT_TRANS_TABLES", Collation: 45, Collations: collations}

	collations = map[uint16]backend.Collation{
		8: {Name: "latin1_swedish_ci", Charset: "latin1"}, 28: {Name: "gbk_chinese_ci", Charset: "gbk"}, 45: {Name: "utf8mb4_general_ci", Charset: "utf8mb4"},
		255: {Name: "utf8mb4_0900_ai_ci", Charset: "utf8mb4"},
	}
)

// server answers what is asked on a connection: variables by name, and FOUND_ROWS() and LAST_INSERT_ID() as others.
type server struct {
	mu    sync.Mutex
	rows  map[string]string // by "@@session.x", or what follows SELECT
	asked []string
}

// connect returns a connection to a server that answers with rows: the value of what is selected, NULL for "NULL", an error of an unknown
// variable for what is not there. INSERT with a number makes that id.
func connect(t *testing.T, info backend.Info, rows map[string]string) (*backend.Conn, *server) {
	t.Helper()
	s := &server{rows: rows}
	c := dial(t, mysqltest.ScriptConfig{Handler: s.answer})
	c.Info = &info
	return c, s
}

// dial returns a connection to a server of the test's.
func dial(t *testing.T, config mysqltest.ScriptConfig) *backend.Conn {
	t.Helper()
	script := mysqltest.StartScript(t, config)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := backend.Dial(ctx, &backend.DialConfig{Addr: script.Addr, User: "u", MaxAllowedPacket: 1 << 20}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (s *server) answer(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(payload)
	s.asked = append(s.asked, text)
	if id, ok := strings.CutPrefix(text, "INSERT "); ok {
		made, _ := strconv.ParseUint(id, 10, 64)
		c.OKPacket(mysql.OKPacket{AffectedRows: 1, LastInsertID: made})
		return
	}
	what, ok := strings.CutPrefix(strings.TrimSuffix(text, " LIMIT 1"), "SELECT ")
	if cmd != mysql.ComQuery || !ok {
		c.OK()
		return
	}
	columns := strings.Split(what, ",")
	row := make([]any, len(columns))
	for k, column := range columns {
		value, known := s.rows[column]
		if !known {
			c.Error(1193, "Unknown system variable '%s'", column)
			return
		}
		if row[k] = value; value == "NULL" {
			row[k] = nil
		}
	}
	c.Rows(columns, row)
}

// set changes the value of what is selected.
func (s *server) set(what, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[what] = value
}

// questions returns what was asked since it was called last.
func (s *server) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// resolved returns the state of a new session on a server.
func resolved(info backend.Info) State {
	st := New(255, 0)
	st.Resolve(&info)
	return st
}

// assignments reads a SET.
func assignments(t *testing.T, text string) []sqltext.Assignment {
	t.Helper()
	list, ok := sqltext.ParseSet(text, sqltext.Mode{})
	if !ok {
		t.Fatalf("%s cannot be read", text)
	}
	return list
}
