package mysql

import "testing"

// TestRenameError renames tables in errors. One that is missing is named as the server knows it, once.
func TestRenameError(t *testing.T) {
	names := []TableName{
		{FromSchema: "shop", FromTable: "u_0003", Schema: "shop", Table: "u", Node: "n1"},
		{FromSchema: "shop_1", FromTable: "v_1", Schema: "shop", Table: "v"},
		{FromSchema: "shop", FromTable: "s", Schema: "shop", Table: "s", Node: "n1"},
	}
	for _, test := range []struct {
		code    uint16
		in, out string
		missing bool
	}{
		{1146, "Table 'shop.u_0003' doesn't exist", "Table 'shop.u' doesn't exist: its sub-table shop.u_0003 is missing on node n1", true},
		{1932, "Table 'shop.u_0003' doesn't exist in engine", "Table 'shop.u' doesn't exist in engine: its sub-table shop.u_0003 is missing on node n1", true},
		{1146, "Table 'shop_1.v_1' doesn't exist", "Table 'shop.v' doesn't exist: its sub-table shop_1.v_1 is missing", true},
		{1146, "Table 'shop.s' doesn't exist", "Table 'shop.s' doesn't exist", false},
		{1146, "Table 'shop.other' doesn't exist", "Table 'shop.other' doesn't exist", false},
		{1054, "Unknown column 'u_0003.x' in 'field list'", "Unknown column 'u.x' in 'field list'", false},
	} {
		e := &SQLError{Code: test.code, Message: test.in}
		RenameError(e, names)
		if e.Message != test.out || MissingPart(e) != test.missing {
			t.Errorf("%d %s: %s, missing part %v", test.code, test.in, e.Message, MissingPart(e))
		}
	}
}
