package mysql

import (
	"fmt"
	"strings"
)

// groupFlag marks a column that went through a temporary table of the server's own, where it has no keys. MySQL manual:
// "Column Definition Flags".
const groupFlag = 1 << 15

// Rename puts the destination's names into a definition.
func (p *ColumnDefinition41) Rename(names []TableName) {
	for k := range names {
		n := &names[k]
		// Columns of derived tables have no schema.
		if p.Schema != n.FromSchema && p.Schema != "" || p.OrgTable != n.FromTable && p.Table != n.FromTable {
			continue
		}
		if p.Schema != "" {
			p.Schema = n.Schema
		}
		if p.Table == n.FromTable {
			p.Table = n.Table
		}
		if p.OrgTable == n.FromTable {
			p.OrgTable = n.Table
			p.Flags &^= n.Hidden
			if p.Flags&groupFlag == 0 {
				p.Flags |= n.Flags[p.OrgName]
				if p.Flags&priKeyFlag != 0 {
					p.Flags |= n.KeyFlags[p.OrgName]
				}
			}
		}
		return
	}
}

// Codes of errors that say that a table is not there. MySQL and MariaDB manuals: "Server Error Message Reference", "MariaDB Error Codes".
const (
	erNoSuchTable         = 1146
	erNoSuchTableInEngine = 1932
)

// missing is in the message of an error about a table of which a part is not there.
const missing = ": its sub-table "

// RenameError puts the destination's names into an error of a server. That a table is not there is said of the one that the source knows, too,
// which may be one of many.
func RenameError(e *SQLError, names []TableName) {
	text := e.Message
	e.Message = RenameText(e.Code, text, names)
	if e.Code != erNoSuchTable && e.Code != erNoSuchTableInEngine {
		return
	}
	for k := range names {
		n := &names[k]
		if n.FromTable == n.Table || !strings.Contains(text, "'"+n.FromSchema+"."+n.FromTable+"'") {
			continue
		}
		e.Message += missing + n.FromSchema + "." + n.FromTable + " is missing"
		if n.Node != "" {
			e.Message += " on node " + n.Node
		}
		return
	}
}

// MissingPart reports whether an error, as RenameError leaves it, is about a table of which a part is not there.
func MissingPart(e *SQLError) bool {
	return (e.Code == erNoSuchTable || e.Code == erNoSuchTableInEngine) && strings.Contains(e.Message, missing)
}

// renameDefinitions forwards n column definitions with other names of tables, or others in their place. done is as for copyPackets.
func (f *forward) renameDefinitions(n int) (done bool, err error) {
	for k := range n {
		p, err := f.packet()
		if err != nil {
			return false, err
		}
		if len(p) > 0 && p[0] == ErrHeader {
			return true, f.err(p)
		}
		var def ColumnDefinition41
		if err := def.view(p); err != nil {
			return false, f.protocolError(fmt.Errorf("%w: column definition", err))
		}
		if len(f.o.Definitions) == n {
			def = f.replaced(k, def)
		}
		def.Rename(f.o.Rename)
		if f.o.Rows != nil {
			f.tellColumn(def)
		}
		f.dst.EndPacket(def.AppendTo(f.dst.StartPacket()))
	}
	return false, nil
}

// tellColumn tells Rows of a column. By value: only the copy goes to the heap.
func (f *forward) tellColumn(def ColumnDefinition41) { f.o.Rows.Column(&def) }

// priKeyFlag marks the columns of a primary key. MySQL manual: "Column Definition Flags".
const priKeyFlag = 2
