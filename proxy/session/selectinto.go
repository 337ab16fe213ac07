package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// Codes of SELECT ... INTO. MySQL manual: "Server Error Message Reference".
const (
	erTooManyRows        = 1172
	erWrongNumberColumns = 1222
	erNoData             = 1329
	erIntoInside         = 3962
)

// selectInto runs SELECT ... INTO @a, @b on sharded tables: the query without the clause, whose row then becomes the values
// of the session's variables. handled is false for every other query.
func (s *Session) selectInto(q *query) (handled, failed bool, err error) {
	into, ok := sqlparse.CutInto(q.text, s.client.mode())
	if !ok {
		return false, false, nil
	}
	text := into.Text
	if at, ok := sqlparse.LimitAt(text, s.client.mode()); ok {
		text = text[:at] + " LIMIT 2 " + text[at:] // a third row says no more than the second
	}
	inner := query{text: text, info: sqltext.Classify(text, s.client.mode()), attributes: q.attributes, verdict: q.verdict}
	a, handled, err := s.ask(&inner)
	switch {
	case !handled || err != nil:
		return handled, true, err
	case a.err != nil:
		return true, true, a.err
	case len(a.columns) != len(into.Names):
		return true, true, &mysql.SQLError{Code: erWrongNumberColumns, State: "21000", Message: "The used SELECT statements have a different number of columns"}
	}
	if a, err = inFull(s.ask, s.client.mode(), &inner, text, a); err != nil {
		return true, true, err
	}
	if a.err != nil {
		return true, true, a.err
	}
	if a.rows > 0 {
		if err := s.assign(&into, &a); err != nil {
			return true, true, err
		}
	}
	if a.rows > 1 {
		return true, true, &mysql.SQLError{Code: erTooManyRows, State: "42000", Message: "Result consisted of more than one row"}
	}
	s.client.txn.LastOnHeld = false
	s.warnOfInto(into.Before, a.rows)
	s.client.state.Diagnostics.RowCount = int64(a.rows)
	s.client.state.Found.Found(uint64(a.rows))
	done := mysql.OKPacket{Status: s.client.status(), AffectedRows: uint64(a.rows), Warnings: uint16(s.client.state.Diagnostics.WarningCount)}
	s.client.task().countWarned(&done, s.client.mode())
	s.client.state.Diagnostics.WarningCount = int(done.Warnings)
	s.client.conn.WriteOK(&done)
	return true, false, nil
}

// warnOfInto makes the warnings that servers give of the clause, by the word behind it and the number of rows.
func (s *Session) warnOfInto(before string, rows int) {
	d := &s.client.state.Diagnostics
	d.Warnings, d.ErrorCount = slices.DeleteFunc(d.Warnings, func(w state.Warning) bool { return w.Code != KSCrossShard }), 0 // the proxy's own stays
	warn := func(code uint16, message string) {
		s.client.state.Diagnostics.Warnings = append(s.client.state.Diagnostics.Warnings, state.Warning{Level: "Warning", Code: code, Message: message})
	}
	switch {
	case s.client.mode().MariaDB && before != "from":
		warn(state.ERDeprecated, "'<select expression> INTO <destination>;' is deprecated and will be removed in a future release. "+
			"Please use 'SELECT <select list> INTO <destination> FROM...' instead")
	case !s.client.mode().MariaDB && (before == "for" || before == "lock"):
		warn(erIntoInside, "The INTO clause is deprecated inside query blocks of query expressions and will be removed in a future release. "+
			"Please move the INTO clause to the end of statement instead.")
	}
	if rows == 0 {
		warn(erNoData, "No data - zero rows fetched, selected, or processed")
	}
	s.client.state.Diagnostics.WarningCount = len(s.client.state.Diagnostics.Warnings)
}

// ask runs a query on sharded tables and gives its answer to the proxy, every text in its own character set.
func (s *Session) ask(q *query) (a answer, handled bool, err error) {
	const results = "character_set_results"
	had := s.client.state.Value(results)
	s.client.state.Set(results, "NULL")
	s.client.sink = newSink(int(s.client.snap.Config.MaxAllowedPacket) + 1<<20)
	defer func() {
		s.client.sink = nil
		if had == "" {
			s.client.state.Unset(results)
		} else {
			s.client.state.Set(results, had)
		}
	}()
	handled, _, err = s.sharded(q)
	if !handled && err == nil {
		if q.node == nil {
			return a, false, nil // of no sharded table
		}
		_, err = s.exchanges.forward(q)
	}
	if err != nil {
		return a, true, err
	}
	a, ok, _ := s.client.sink.read(nil)
	if !ok {
		return a, true, newError(KSRefusedSharding, "SELECT ... INTO of a row that is longer than max_allowed_packet")
	}
	return a, true, nil
}

// out is where answers go.
func (c *client) out() *mysql.Conn {
	if c.sink != nil {
		return c.sink.conn
	}
	return c.conn
}

// assign gives variables the values of a row.
func (s *Session) assign(into *sqlparse.Into, a *answer) error {
	if err := admitVariables(into.Names); err != nil {
		return err
	}
	var list []userVariable
	info := s.client.schema.Default.Info()
	for k, name := range into.Names {
		d := &a.columns[k]
		list = append(list, userVariable{name, variableLiteral(d, a.first[k], info)})
	}
	var held []txn.Lease
	if s.client.txn.Pins.Has(txn.PinUserVariable) {
		held = []txn.Lease{{Pooled: s.client.txn.Held(), Kept: true}}
	}
	if err := s.exchanges.several().shards.keepVariables(held, list); err != nil {
		return s.leases.lost(s.client.txn.Held(), err)
	}
	return nil
}

// variableLiteral writes the value of a column so that a user variable set to it is what the column would have made of it.
func variableLiteral(d *mysql.ColumnDefinition41, cell value.Cell, info *backend.Info) string {
	if cell == nil {
		return nullOf(d)
	}
	text := string(cell)
	switch {
	case d.Type == mysql.TypeDouble:
		if !strings.ContainsAny(text, "eE") {
			text += "e0"
		}
	case d.Type == mysql.TypeNewDecimal || d.Type == mysql.TypeDecimal:
		if !strings.Contains(text, ".") {
			text += "."
		}
	case d.Type == mysql.TypeBit:
		n := uint64(0)
		for _, b := range cell {
			n = n<<8 | uint64(b)
		}
		text = fmt.Sprintf("CAST(%d AS UNSIGNED)", n)
	case isText(d):
		return collatedLiteral(d, cell, info)
	case d.Type == mysql.TypeDate || d.Type == mysql.TypeDatetime || d.Type == mysql.TypeTimestamp || d.Type == mysql.TypeTime:
		text = "_latin1'" + text + "'"
	case d.Flags&mysql.UnsignedFlag != 0 || d.Type == mysql.TypeYear:
		text = "CAST(" + text + " AS UNSIGNED)"
	}
	return text
}

// nullString is the NULL of a text.
const nullString = "CAST(NULL AS CHAR)"

// nullOf writes a NULL by which a user variable gets the type that a column of numbers gives it: comparisons go by that.
func nullOf(d *mysql.ColumnDefinition41) string {
	switch d.Type {
	case mysql.TypeFloat, mysql.TypeDouble:
		return "NULL + 0e0"
	case mysql.TypeNewDecimal, mysql.TypeDecimal:
		return "CAST(NULL AS DECIMAL(65," + strconv.Itoa(int(min(d.Decimals, 30))) + "))"
	case mysql.TypeYear, mysql.TypeBit:
		return "CAST(NULL AS UNSIGNED)"
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong:
		if d.Flags&mysql.UnsignedFlag != 0 {
			return "CAST(NULL AS UNSIGNED)"
		}
		return "CAST(NULL AS SIGNED)"
	}
	return nullString
}

// collatedLiteral writes a text with its character set and collation.
func collatedLiteral(d *mysql.ColumnDefinition41, cell value.Cell, info *backend.Info) string {
	if d.Type == mysql.TypeJSON {
		return textLiteral(cell, "utf8mb4") + " COLLATE utf8mb4_bin"
	}
	var c backend.Collation
	if d.Charset != binaryCollation && info != nil {
		c = info.Collations[d.Charset]
	}
	text := textLiteral(cell, c.Charset)
	if c.Name != "" {
		text += " COLLATE " + c.Name
	}
	return text
}
