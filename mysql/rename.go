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

// RenameText puts the destination's names into a message of a server.
func RenameText(text string, names []TableName) string {
	for _, n := range names {
		if n.FromTable != n.Table {
			text = strings.ReplaceAll(text, n.FromTable, n.Table)
		}
	}
	return text
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
		f.dst.EndPacket(def.AppendTo(f.dst.StartPacket()))
	}
	return false, nil
}

// priKeyFlag marks the columns of a primary key. MySQL manual: "Column Definition Flags".
const priKeyFlag = 2
