package state

import (
	"crypto/tls"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// A client that asks for status variables of TLS and compression means its own connection, not the one to the backend. MySQL manual: "Server
// Status Variables", those that begin with Ssl_ and with Compression.

// ConnectionStatus returns the status variables of a client's connection, by name in lower case.
func ConnectionStatus(conn *mysql.Conn) map[string]string {
	values := map[string]string{"ssl_cipher": "", "ssl_version": "", "ssl_cipher_list": "", "ssl_sessions_reused": "0", "ssl_default_timeout": "0"}
	algorithm, level := conn.Compression()
	values["compression"] = "ON"
	if algorithm == mysql.NoCompression {
		values["compression"] = "OFF"
	}
	values["compression_algorithm"] = [...]string{mysql.NoCompression: "", mysql.Zlib: "zlib", mysql.Zstd: "zstd"}[algorithm]
	values["compression_level"] = strconv.Itoa(level)
	t, ok := conn.Net.NetConn().(*tls.Conn)
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

// StatusRows puts the client's own values into the rows of SHOW STATUS. It is a mysql.RowChanger.
type StatusRows struct {
	// Values are those of the client's connection, as ConnectionStatus gives them.
	Values map[string]string
	// Binary says that rows are those of a prepared statement.
	Binary bool
}

// Column is for mysql.RowChanger.
func (r *StatusRows) Column(*mysql.ColumnDefinition41) {}

// Row is for mysql.RowChanger.
func (r *StatusRows) Row(b, row []byte) ([]byte, error) {
	c := mysql.NewCursor(row)
	if r.Binary {
		c.Bytes(2) // the header, and which are NULL: none
	}
	name := c.LenencBytes()
	if c.Err() != nil {
		return nil, c.Err()
	}
	value, ok := r.Values[strings.ToLower(string(name))]
	if !ok {
		return append(b, row...), nil
	}
	return mysql.AppendLenencString(append(b, row[:c.Pos()]...), value), nil
}

// ShowsStatus reports whether a SHOW is SHOW STATUS.
func ShowsStatus(text string, m sqltext.Mode) bool {
	l := sqltext.NewLexer(text, m)
	l.Next()
	t := l.Next()
	switch strings.ToLower(text[t.Pos:t.End]) {
	case "session", "local", "global":
		t = l.Next()
	}
	return strings.EqualFold(text[t.Pos:t.End], "status")
}

// notAlias are the words that may follow a table's name and are no alias.
var notAlias = map[string]bool{"where": true, "order": true, "group": true, "limit": true, "join": true, "inner": true, "left": true, "right": true,
	"cross": true, "natural": true, "on": true, "using": true, "union": true, "having": true, "for": true, "use": true, "force": true, "ignore": true,
	"straight_join": true, "into": true, "window": true, "except": true, "intersect": true, "lock": true, "procedure": true, "offset": true, "fetch": true}

// StatusTable returns the text of a query where it reads the values of the client's own connection from the table of status variables. db is
// the current database. The text is the same where the query does not, and where the servers' own values are right.
func StatusTable(text string, m sqltext.Mode, db string, conn *mysql.Conn) string {
	if !mentions(text, "session_status") {
		return text
	}
	_, secure := conn.Net.NetConn().(*tls.Conn)
	if algorithm, _ := conn.Compression(); !secure && algorithm == mysql.NoCompression {
		return text // the servers' own table has its columns' definitions too
	}
	var tokens []sqltext.Token
	l := sqltext.NewLexer(text, m)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		tokens = append(tokens, t)
	}
	word := func(i int) string {
		if i < 0 || i >= len(tokens) {
			return ""
		}
		return strings.ToLower(sqltext.UnquoteIdent(text[tokens[i].Pos:tokens[i].End], m))
	}
	var b strings.Builder
	kept := 0
	places := newTablePlaces()
	before := ""
	for i, t := range tokens {
		written := strings.ToLower(text[t.Pos:t.End])
		isTable := places.next(before, written, word(i))
		before = written
		if written == "." || i > 0 && word(i-1) == "." {
			continue // the first part of the name tells
		}
		first, schema := i, db
		if word(i+1) == "." {
			schema, i = word(i), i+2
		}
		if !isTable || i >= len(tokens) || word(i) != "session_status" || !isName(tokens[i]) || word(i+1) == "." || !isStatusSchema(schema) ||
			first == i && places.common["session_status"] {
			continue
		}
		b.WriteString(text[kept:tokens[first].Pos])
		writeStatusTable(&b, schema, conn)
		if !isAlias(tokens, i+1, word(i+1)) {
			b.WriteString(" AS session_status")
		}
		kept = tokens[i].End
	}
	if kept == 0 {
		return text
	}
	return b.String() + text[kept:]
}

// isAlias reports whether token i, which reads word, begins an alias of the table before it.
func isAlias(tokens []sqltext.Token, i int, word string) bool {
	if i >= len(tokens) || !isName(tokens[i]) {
		return false
	}
	return tokens[i].Kind == sqltext.KindQuotedIdent || !notAlias[word]
}

// writeStatusTable writes a derived table with the rows of session_status of a schema, where those of the client's connection are its own.
func writeStatusTable(b *strings.Builder, schema string, conn *mysql.Conn) {
	values := ConnectionStatus(conn)
	b.WriteString("(SELECT VARIABLE_NAME, CASE LOWER(VARIABLE_NAME)")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		b.WriteString(" WHEN '" + name + "' THEN " + Quote(values[name]))
	}
	b.WriteString(" ELSE VARIABLE_VALUE END AS VARIABLE_VALUE FROM " + schema + ".session_status)")
}

// isStatusSchema reports whether a database is one that has a table of status variables.
func isStatusSchema(db string) bool {
	return strings.EqualFold(db, "performance_schema") || strings.EqualFold(db, "information_schema")
}

// isName reports whether a token may be the name of a table.
func isName(t sqltext.Token) bool {
	return t.Kind == sqltext.KindWord || t.Kind == sqltext.KindQuotedIdent
}
