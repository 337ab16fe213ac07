package mysqltest

import (
	"fmt"
	"time"

	"kingshard/mysql"
)

// ScriptConn is one client of a scripted server. Its fields and methods are for the handler, one call at a time.
type ScriptConn struct {
	ID       uint32 // connection id of the greeting, from 1
	User, DB string
	Response mysql.HandshakeResponse41 // what the client said of itself
	// Status goes into every OK and end packet. With mysql.ServerMoreResultsExists set, another result is to follow.
	Status   mysql.Status
	Warnings uint16
	// Conn has the lower-level means: WritePacket, Capabilities, Flush.
	Conn *mysql.Conn

	server *ScriptServer
}

// OK queues an OK packet with Status and Warnings.
func (c *ScriptConn) OK() { c.OKPacket(mysql.OKPacket{}) }

// OKPacket queues an OK packet, Status and Warnings of c added to those of p.
func (c *ScriptConn) OKPacket(p mysql.OKPacket) {
	p.Status |= c.Status
	p.Warnings += c.Warnings
	c.Conn.WriteOK(&p)
}

// Error queues an ERR packet with the SQLSTATE that belongs to the code.
func (c *ScriptConn) Error(code uint16, format string, args ...any) {
	c.Conn.WriteError(mysql.NewSQLError(code, format, args...))
}

// Rows queues a whole text result set. Columns are strings by name; values are written with fmt.Sprint, nil is NULL,
// []byte goes as it is.
func (c *ScriptConn) Rows(columns []string, rows ...[]any) {
	c.Columns(Strings(columns...)...)
	for _, row := range rows {
		c.Row(row...)
	}
	c.End()
}

// BinaryRows queues a whole binary result set, as COM_STMT_EXECUTE is answered. Values are as for Rows.
func (c *ScriptConn) BinaryRows(columns []string, rows ...[]any) {
	c.Columns(Strings(columns...)...)
	for _, row := range rows {
		c.BinaryRow(row...)
	}
	c.End()
}

// Strings makes definitions of VARCHAR columns in utf8mb4.
func Strings(names ...string) []mysql.ColumnDefinition41 {
	defs := make([]mysql.ColumnDefinition41, len(names))
	for i, name := range names {
		defs[i] = mysql.ColumnDefinition41{
			Catalog: "def", Schema: "test", Table: "t", OrgTable: "t", Name: name, OrgName: name, Charset: 45, Length: 1020, Type: mysql.TypeVarString,
		}
	}
	return defs
}

// Columns queues the first half of a result set: count, definitions and, where negotiated, the EOF packet behind.
func (c *ScriptConn) Columns(columns ...mysql.ColumnDefinition41) {
	c.header(columns)
	c.between()
}

// Cursor queues the answer to a COM_STMT_EXECUTE that opened a cursor: columns and one end packet, with
// ServerStatusCursorExists.
func (c *ScriptConn) Cursor(columns ...mysql.ColumnDefinition41) {
	c.header(columns)
	c.Conn.WriteEnd(&mysql.OKPacket{Status: c.Status | mysql.ServerStatusCursorExists, Warnings: c.Warnings})
}

func (c *ScriptConn) header(columns []mysql.ColumnDefinition41) {
	b := mysql.AppendLenenc(c.Conn.StartPacket(), uint64(len(columns)))
	if c.Conn.Capabilities.Has(mysql.ClientOptionalResultsetMetadata) {
		b = append(b, 1)
	}
	c.Conn.EndPacket(b)
	c.definitions(columns)
}

func (c *ScriptConn) definitions(columns []mysql.ColumnDefinition41) {
	for i := range columns {
		c.Conn.EndPacket(columns[i].AppendTo(c.Conn.StartPacket()))
	}
}

// between queues the EOF packet behind definitions, where that was negotiated.
func (c *ScriptConn) between() {
	if !c.Conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
		eof := mysql.EOFPacket{Status: c.Status}
		c.Conn.EndPacket(eof.AppendTo(c.Conn.StartPacket()))
	}
}

// Row queues one text row; values are as for Rows.
func (c *ScriptConn) Row(values ...any) {
	b := c.Conn.StartPacket()
	for _, v := range values {
		if v == nil {
			b = append(b, 0xfb)
			continue
		}
		b = mysql.AppendLenencString(b, bytesOf(v))
	}
	c.Conn.EndPacket(b)
}

// BinaryRow queues one binary row of string columns; values are as for Rows.
func (c *ScriptConn) BinaryRow(values ...any) {
	b := append(c.Conn.StartPacket(), 0)
	bitmap := len(b)
	b = append(b, make([]byte, (len(values)+9)/8)...)
	for i, v := range values {
		if v == nil {
			b[bitmap+(i+2)/8] |= 1 << ((i + 2) % 8)
			continue
		}
		b = mysql.AppendLenencString(b, bytesOf(v))
	}
	c.Conn.EndPacket(b)
}

func bytesOf(v any) []byte {
	if b, ok := v.([]byte); ok {
		return b
	}
	return fmt.Append(nil, v)
}

// End queues the packet that ends rows, with Status and Warnings.
func (c *ScriptConn) End() {
	c.Conn.WriteEnd(&mysql.OKPacket{Status: c.Status, Warnings: c.Warnings})
}

// Prepared queues the answer to COM_STMT_PREPARE for a statement with that many parameters and those columns.
func (c *ScriptConn) Prepared(id uint32, params int, columns ...string) {
	c.PreparedColumns(id, params, Strings(columns...)...)
}

// PreparedColumns is Prepared for columns that are not all strings.
func (c *ScriptConn) PreparedColumns(id uint32, params int, columns ...mysql.ColumnDefinition41) {
	p := mysql.StmtPrepareOK{StatementID: id, Params: uint16(params), Columns: uint16(len(columns)), Warnings: c.Warnings, MetadataFollows: true}
	c.Conn.EndPacket(p.AppendTo(c.Conn.StartPacket(), c.Conn.Capabilities))
	marks := make([]string, params)
	for i := range marks {
		marks[i] = "?"
	}
	for _, definitions := range [][]mysql.ColumnDefinition41{Strings(marks...), columns} {
		if len(definitions) > 0 {
			c.definitions(definitions)
			c.between()
		}
	}
}

// LocalInfile asks the client for a file and reads all that it sends. The answer is still to be queued.
func (c *ScriptConn) LocalInfile(name string) ([]byte, error) {
	c.Conn.EndPacket(append(append(c.Conn.StartPacket(), mysql.LocalInfileHeader), name...))
	if err := c.Conn.Flush(); err != nil {
		return nil, err
	}
	var content []byte
	for {
		p, err := c.Conn.ReadPacket()
		if err != nil || len(p) == 0 {
			return content, err
		}
		content = append(content, p...)
	}
}

// Raw sends bytes as they are, packet headers being the caller's, behind what is queued. Not for compressed connections.
func (c *ScriptConn) Raw(b []byte) {
	if c.Conn.Flush() == nil {
		_, _ = c.Conn.Net.NetConn().Write(b)
	}
}

// Cut sends what is queued and closes the connection.
func (c *ScriptConn) Cut() {
	_ = c.Conn.Flush()
	c.Conn.Close()
}

// Delay sends what is queued and waits, less long if the server is closed.
func (c *ScriptConn) Delay(d time.Duration) {
	_ = c.Conn.Flush()
	select {
	case <-time.After(d):
	case <-c.server.closed:
	}
}
