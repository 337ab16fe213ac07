package session

import (
	"crypto/tls"
	"regexp"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// A client that asks for status variables of TLS means its own connection, not the one to the backend. MySQL manual: "Server Status
// Variables", those that begin with Ssl_.

// tlsStatus are the status variables of the client's connection, by name in lower case.
func (s *Session) tlsStatus() map[string]string {
	values := map[string]string{"ssl_cipher": "", "ssl_version": "", "ssl_cipher_list": "", "ssl_sessions_reused": "0", "ssl_default_timeout": "0"}
	t, ok := s.conn.NetConn().(*tls.Conn)
	if !ok {
		return values
	}
	state := t.ConnectionState()
	var list []string
	for _, suite := range tls.CipherSuites() {
		list = append(list, suite.Name)
	}
	values["ssl_cipher"] = tls.CipherSuiteName(state.CipherSuite)
	values["ssl_version"] = strings.Replace(tls.VersionName(state.Version), "TLS ", "TLSv", 1)
	values["ssl_cipher_list"] = strings.Join(list, ":")
	values["ssl_default_timeout"] = "7200"
	if state.DidResume {
		values["ssl_sessions_reused"] = "1"
	}
	return values
}

// statusRows puts the client's own values into the rows of SHOW STATUS. It is a mysql.RowChanger.
type statusRows struct {
	values map[string]string
	binary bool
}

// Column is for mysql.RowChanger.
func (r *statusRows) Column(*mysql.ColumnDefinition41) {}

// Row is for mysql.RowChanger.
func (r *statusRows) Row(b, row []byte) ([]byte, error) {
	c := mysql.NewCursor(row)
	if r.binary {
		c.Bytes(2) // the header, and which are NULL: none
	}
	name := c.LenencBytes()
	if c.Err() != nil {
		return nil, c.Err()
	}
	value, ok := r.values[strings.ToLower(string(name))]
	if !ok {
		return append(b, row...), nil
	}
	return mysql.AppendLenencString(append(b, row[:c.Pos()]...), value), nil
}

// sslStatus has SHOW STATUS tell of the client's own TLS connection.
func (s *Session) sslStatus(q *query) {
	l := sqltext.NewLexer(q.text, s.mode())
	l.Next()
	t := l.Next()
	switch strings.ToLower(q.text[t.Pos:t.End]) {
	case "session", "local", "global":
		t = l.Next()
	}
	if strings.EqualFold(q.text[t.Pos:t.End], "status") {
		q.rows = &statusRows{s.tlsStatus(), q.st != nil}
	}
}

// statusTable finds the table of status variables in a query, and what follows its name.
var statusTable = regexp.MustCompile("(?i)\\b(performance_schema|information_schema)\\s*\\.\\s*`?session_status\\b`?(\\s*\\.|\\s+(?:as\\s+)?`?([a-z_0-9]+))?")

// notAlias are the words that may follow a table's name and are no alias.
var notAlias = map[string]bool{"where": true, "order": true, "group": true, "limit": true, "join": true, "inner": true, "left": true, "right": true,
	"cross": true, "natural": true, "on": true, "using": true, "union": true, "having": true, "for": true, "use": true, "force": true, "ignore": true, "straight_join": true, "into": true, "window": true}

// sslStatusTable has a query of a client with TLS read the client's own values from the table of status variables.
func (s *Session) sslStatusTable(q *query) {
	if _, ok := s.conn.NetConn().(*tls.Conn); !ok || !mentionsFast(q.text, "session_status") {
		return
	}
	q.text = statusTable.ReplaceAllStringFunc(q.text, func(found string) string {
		m := statusTable.FindStringSubmatch(found)
		if strings.HasSuffix(strings.TrimSpace(found), ".") {
			return found
		}
		var b strings.Builder
		b.WriteString("(SELECT VARIABLE_NAME, CASE LOWER(VARIABLE_NAME)")
		for name, value := range s.tlsStatus() {
			b.WriteString(" WHEN '" + name + "' THEN " + quote(value))
		}
		b.WriteString(" ELSE VARIABLE_VALUE END AS VARIABLE_VALUE FROM " + m[1] + ".session_status)")
		if m[3] == "" || notAlias[strings.ToLower(m[3])] {
			b.WriteString(" AS session_status")
		}
		return b.String() + m[2]
	})
}
