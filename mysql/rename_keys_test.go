package mysql

import "testing"

// TestRenameKeyFlags: flags that belong to a key are added where the source shows the key.
func TestRenameKeyFlags(t *testing.T) {
	names := []TableName{{FromSchema: "d", FromTable: "s", Schema: "d", Table: "t", KeyFlags: map[string]uint16{"id": 512}}}
	for flags, want := range map[uint16]uint16{3: 515, 1: 1, 3 | groupFlag: 3 | groupFlag} {
		def := ColumnDefinition41{Schema: "d", Table: "t", OrgTable: "s", Name: "g", OrgName: "id", Flags: flags}
		if def.Rename(names); def.Flags != want || def.OrgTable != "t" {
			t.Errorf("flags %d: %d of %s, not %d", flags, def.Flags, def.OrgTable, want)
		}
	}
}
