package session

import (
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
)

// Own answers a statement of the proxy's own. A result of nil with a nil error says that the statement is none: the
// server gets it. The texts must not be kept but as copies.
type Own func(c *Caller, text string, m sqltext.Mode) (*OwnResult, error)

// Caller is who sent a statement of the proxy's own.
type Caller struct {
	ID         uint32 // of the session
	User, Host string
	DB         string
	Rights     account.Rights
	// Process lets the user see other users' statements as they were sent.
	Process bool
	// Plans are those of the user's sharded tables; nil where there are none.
	Plans *Plans
	// Default is the name of the default node of the user's schema; "" without a schema.
	Default string
	// Version is what the greeting says of the server.
	Version string
	// AdminOnly tells the admin port.
	AdminOnly bool
	// Cancelled is closed when the statement is to end: by KILL, or as its session does.
	Cancelled func() <-chan struct{}
}

// OwnResult is what a statement of the proxy's own gives: rows or, without columns, OK.
type OwnResult struct {
	Columns []OwnColumn
	Rows    [][]OwnCell
}

// OwnColumn is a column of an OwnResult.
type OwnColumn struct {
	Name    string
	Numeric bool
	YesNo   bool // YES or NO, in a column that clients see as an ENUM
}

// OwnCell is a value of an OwnResult.
type OwnCell struct {
	Text string
	Null bool
}

// ours answers the statements of the proxy's own.
type ours struct{ client *client }

// own answers the proxy's own statements. handled is false for everything else.
func (ou ours) own(q *query) (handled bool, err error) {
	if ou.client.shared.Own == nil || !mayBeOwn(q.text, ou.client.mode()) {
		return false, nil
	}
	r, err := ou.client.shared.Own(ou.caller(), q.text, ou.client.mode())
	if r != nil {
		ou.writeOwn(r)
	}
	return r != nil || err != nil, err
}

// mayBeOwn tells whether a text begins as one of the proxy's own statements.
func mayBeOwn(text string, m sqltext.Mode) bool {
	l := sqltext.NewLexer(text, m)
	t := l.Next()
	word := text[t.Pos:t.End]
	if strings.EqualFold(word, "show") {
		t = l.Next()
		return strings.EqualFold(text[t.Pos:t.End], "ks")
	}
	return strings.EqualFold(word, "ks") || strings.EqualFold(word, "admin")
}

func (ou ours) caller() *Caller {
	c := &Caller{
		ID: ou.client.id, User: ou.client.entry.Name(), Host: ou.client.entry.Host(), DB: ou.client.state.DB(), Rights: ou.client.account.Rights, Process: ou.client.account.Process,
		Plans: ou.client.schema.Plans, Version: ou.client.snap.serverVersion(), AdminOnly: ou.client.entry.AdminOnly(), Cancelled: ou.client.entry.Cancelled,
	}
	if ou.client.schema.Default != nil {
		c.Default = ou.client.schema.Default.Name
	}
	return c
}

func (ou ours) writeOwn(r *OwnResult) {
	if len(r.Columns) == 0 {
		ou.client.writeOK()
		return
	}
	names, types := make([]string, len(r.Columns)), make([]mysql.ColumnType, len(r.Columns))
	for k, c := range r.Columns {
		names[k], types[k] = c.Name, mysql.TypeVarString
		switch {
		case c.Numeric:
			types[k] = numericType(r.Rows, k)
		case c.YesNo:
			types[k] = mysql.TypeEnum
		}
	}
	rows := make([][]string, len(r.Rows))
	for k, row := range r.Rows {
		rows[k] = make([]string, len(row))
		for n, cell := range row {
			rows[k][n] = cell.Text
			if cell.Null {
				rows[k][n] = nullText
			} else if cell.Text == nullText {
				rows[k][n] = ""
			}
		}
	}
	ou.client.state.Diagnostics.RowCount = 0
	ou.client.writeRows(names, types, rows)
}

// numericType is the type of a column of numbers: drivers read what is called a BIGINT as one, and fail at 0.5.
func numericType(rows [][]OwnCell, k int) mysql.ColumnType {
	for _, row := range rows {
		if strings.ContainsAny(row[k].Text, ".eE") {
			return mysql.TypeDouble
		}
	}
	return mysql.TypeLongLong
}
