package proxy_test

import (
	"fmt"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// unquotePrefix reads the Go string that a text begins with, and gives what is behind it.
func unquotePrefix(text string) (value, rest string, err error) {
	prefix, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", fmt.Errorf("%q: %w", text, err)
	}
	value, err = strconv.Unquote(prefix)
	return value, text[len(prefix):], err
}

// shownMax is the longest text in bytes that is shown whole.
const shownMax = 200

// shownText shows a text as a word, in quotes where it needs them.
func shownText(s string) string {
	if len(s) > shownMax {
		return fmt.Sprintf("%s...(%d bytes)", shownText(s[:16]), len(s))
	}
	if s == "" || s == "NULL" || strings.ContainsAny(s, ` "\`) || strconv.Quote(s) != `"`+s+`"` {
		return strconv.Quote(s)
	}
	return s
}

// shownValues shows values as words; nil is NULL.
func shownValues(values []any) string {
	var list []string
	for _, v := range values {
		if v == nil {
			list = append(list, "NULL")
			continue
		}
		list = append(list, shownText(fmt.Sprint(v)))
	}
	return strings.Join(list, " ")
}

// shortFlags are flags in the manual's spelling without what all of them begin with.
func shortFlags(s mysql.Status) string {
	text := strings.NewReplacer("SERVER_STATUS_", "", "SERVER_", "").Replace(s.String())
	if text == "" {
		return "none"
	}
	return text
}

// shownOK shows an OK packet, or one that ends rows in the form of one.
func shownOK(name string, ok *mysql.OKPacket) string {
	b := name
	if ok.AffectedRows != 0 {
		b += fmt.Sprintf(" affected=%d", ok.AffectedRows)
	}
	if ok.LastInsertID != 0 {
		b += fmt.Sprintf(" id=%d", ok.LastInsertID)
	}
	if ok.Warnings != 0 {
		b += fmt.Sprintf(" warnings=%d", ok.Warnings)
	}
	b += " status=" + shortFlags(ok.Status)
	if len(ok.Info) > 0 {
		b += " info=" + shownText(string(ok.Info))
	}
	for c := mysql.NewCursor(ok.StateChanges); c.Len() > 0 && c.Err() == nil; {
		kind := c.Uint8()
		data := mysql.NewCursor(c.LenencBytes())
		var parts []string
		if kind == trackGTIDs {
			data.Uint8() // how they are written, of which there is one way
		}
		for data.Len() > 0 && data.Err() == nil {
			parts = append(parts, shownText(string(data.LenencBytes())))
		}
		b += fmt.Sprintf(" track:%s=%s", trackNames[kind], strings.Join(parts, "="))
	}
	return b
}

// trackNames are the kinds of changes of a session's state by their numbers. MySQL manual: "enum_session_state_type".
var trackNames = map[byte]string{0: "variable", 1: "schema", 2: "state", trackGTIDs: "gtids", 4: "characteristics", 5: "transaction"}

const trackGTIDs = 3

func shownError(e *mysql.SQLError) string {
	return fmt.Sprintf("ERR %d %s %s", e.Code, e.State, e.Message)
}

// columnTypes are the names of the types that scripts use. MySQL manual: "field_types.h".
var columnTypes = map[string]mysql.ColumnType{
	"LONG": mysql.TypeLong, "LONGLONG": mysql.TypeLongLong, "DOUBLE": mysql.TypeDouble, "NEWDECIMAL": mysql.TypeNewDecimal,
	"VAR_STRING": mysql.TypeVarString, "BLOB": mysql.TypeBlob,
}

func typeName(t mysql.ColumnType) string {
	for name, of := range columnTypes {
		if of == t {
			return name
		}
	}
	return fmt.Sprintf("type %#02x", byte(t))
}

// shownColumn shows a definition: its name by which clients know it, that of the table and column below where they are others, its type.
func shownColumn(d *mysql.ColumnDefinition41) string {
	path := func(parts ...string) string { return strings.TrimLeft(strings.Join(parts, "."), ".") }
	b := "column " + path(d.Schema, d.Table, d.Name)
	if below := path(d.OrgTable, d.OrgName); below != "" && (d.OrgTable != d.Table || d.OrgName != d.Name) {
		b += " of " + below
	}
	b += " " + typeName(d.Type)
	if d.Flags != 0 {
		b += fmt.Sprintf(" flags=%#x", d.Flags)
	}
	return b
}

// reader shows the packets of a response in their order.
type reader struct {
	client  *mysqltest.RawClient
	packets [][]byte
	columns []mysql.ColumnDefinition41 // of the result set
	binary  bool
	lines   []string
}

func (r *reader) say(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// take gives the next packet; nil behind the last, where the connection was cut.
func (r *reader) take() []byte {
	if len(r.packets) == 0 {
		return nil
	}
	p := r.packets[0]
	r.packets = r.packets[1:]
	return p
}

// response shows the packets of the response to a command.
func (r *reader) response(cmd mysql.Command) []string {
	switch cmd {
	case mysql.ComStatistics:
		if p := r.take(); p != nil {
			r.say("text %s", shownText(string(p)))
		}
	case mysql.ComStmtPrepare:
		r.prepared()
	case mysql.ComFieldList:
		r.fields()
	case mysql.ComStmtFetch:
		r.rows()
	default:
		for len(r.packets) > 0 {
			r.result()
		}
	}
	for p := r.take(); p != nil; p = r.take() {
		r.say("packet %q", p)
	}
	return r.lines
}

// end shows a packet that ends something: OK, ERR or EOF.
func (r *reader) end(p []byte) {
	caps := r.client.Conn.Capabilities
	switch {
	case p[0] == mysql.ErrHeader:
		e := new(mysql.SQLError)
		if err := e.Decode(p); err != nil {
			r.say("malformed ERR %q", p)
			return
		}
		r.say("%s", shownError(e))
	default:
		var ok mysql.OKPacket
		name, err := "OK", ok.Decode(p, caps)
		if p[0] == mysql.EOFHeader {
			name, err = "EOF", ok.DecodeEnd(p, caps)
			if len(p) >= 7 {
				name = "EOF in the form of OK"
			}
		}
		if err != nil {
			r.say("malformed %s %q", name, p)
			return
		}
		r.say("%s", shownOK(name, &ok))
	}
}

// definitions shows n definitions of columns and, between sides that have it, the EOF packet behind them.
func (r *reader) definitions(n int) (list []mysql.ColumnDefinition41) {
	for range n {
		p := r.take()
		if p == nil {
			return list
		}
		var d mysql.ColumnDefinition41
		if err := d.Decode(p); err != nil {
			r.say("malformed definition %q", p)
			return list
		}
		list = append(list, d)
		r.say("%s", shownColumn(&d))
	}
	if n > 0 && !r.client.Conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
		if p := r.take(); p != nil {
			r.end(p)
		}
	}
	return list
}

func (r *reader) result() {
	p := r.take()
	switch p[0] {
	case mysql.OKHeader, mysql.ErrHeader, mysql.EOFHeader:
		r.end(p)
		return
	case mysql.LocalInfileHeader:
		r.say("LOCAL INFILE %s", shownText(string(p[1:])))
		return
	}
	c := mysql.NewCursor(p)
	n := int(c.Lenenc())
	r.say("columns %d", n)
	r.columns = r.definitions(n)
	r.rows()
}

// rows shows rows and what ends them.
func (r *reader) rows() {
	for p := r.take(); p != nil; p = r.take() {
		if p[0] == mysql.ErrHeader || p[0] == mysql.EOFHeader && len(p) < 1<<24-1 {
			r.end(p)
			return
		}
		values, err := mysqltest.Values(p, r.columns, r.binary)
		if err != nil {
			r.say("malformed row %q", p)
			continue
		}
		r.say("row %s", shownValues(values))
	}
}

func (r *reader) prepared() {
	p := r.take()
	if p == nil || p[0] == mysql.ErrHeader {
		if p != nil {
			r.end(p)
		}
		return
	}
	var ok mysql.StmtPrepareOK
	if err := ok.Decode(p, r.client.Conn.Capabilities); err != nil {
		r.say("malformed %q", p)
		return
	}
	r.say("prepared parameters=%d columns=%d warnings=%d", ok.Params, ok.Columns, ok.Warnings)
	r.definitions(int(ok.Params))
	r.columns = r.definitions(int(ok.Columns))
}

func (r *reader) fields() {
	for p := r.take(); p != nil; p = r.take() {
		if p[0] == mysql.ErrHeader || p[0] == mysql.EOFHeader {
			r.end(p)
			return
		}
		var d mysql.ColumnDefinition41
		if err := d.Decode(p); err != nil {
			r.say("malformed definition %q", p)
			continue
		}
		r.say("%s", shownColumn(&d))
	}
}
