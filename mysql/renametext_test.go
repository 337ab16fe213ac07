package mysql

import "testing"

// otherTables are two of one name, in different schemas; one has a constraint that refers to a table of a statement.
type otherTables struct{}

func (otherTables) Named(node, schema, table string) (TableName, bool) {
	name, ok := map[[3]string]string{{"n1", "shop", "w_0001"}: "w", {"n1", "depot", "w_0001"}: "ware"}[[3]string{node, schema, table}]
	return TableName{FromSchema: schema, FromTable: table, Schema: schema, Table: name}, ok
}

func (otherTables) Constraint(node, schema, own string) (string, bool) {
	return TableConstraint(own, "x", "x_2024_03")
}

// Values that a message quotes stay, though they read as a table; names are those of their schema.
func TestRenameText(t *testing.T) {
	names := []TableName{{FromSchema: "shop", FromTable: "u_0003", Schema: "shop", Table: "u", Node: "n1", Others: otherTables{}}}
	for _, c := range []struct {
		code    uint16
		in, out string
	}{
		{1062, "Duplicate entry 'u_0003' for key 'u_0003.PRIMARY'", "Duplicate entry 'u_0003' for key 'u.PRIMARY'"},
		{1105, "XPATH syntax error: 'u_0003('", "XPATH syntax error: 'u_0003('"},
		{1105, "Unknown XPATH variable at: '$u_0003'", "Unknown XPATH variable at: '$u_0003'"},
		{1139, "Got error 'missing ) in u_0003' from regexp", "Got error 'missing ) in u_0003' from regexp"},
		{1139, "Regex error 'u_0003'", "Regex error 'u_0003'"},
		{1231, "Variable 'sql_mode' can't be set to the value of 'u_0003'", "Variable 'sql_mode' can't be set to the value of 'u_0003'"},
		{1298, "Unknown or incorrect time zone: 'u_0003'", "Unknown or incorrect time zone: 'u_0003'"},
		{1525, "Incorrect DATE value: 'u_0003'", "Incorrect DATE value: 'u_0003'"},
		{1557, "Upholding foreign key constraints for table 'u_0003', entry 'u_0003', key 1 would lead to a duplicate entry", "Upholding foreign key constraints for table 'u', entry 'u_0003', key 1 would lead to a duplicate entry"},
		{1761, "Foreign key constraint for table 'shop.u_0003', record 'u_0003' would lead to a duplicate entry in table 'u_0003', key 'x'",
			"Foreign key constraint for table 'shop.u', record 'u_0003' would lead to a duplicate entry in table 'u', key 'x'"},
		{1912, "Incorrect value 'u_0003' for option 'x'", "Incorrect value 'u_0003' for option 'x'"},
		{1916, "Got overflow when converting 'u_0003' to INT. Value truncated.", "Got overflow when converting 'u_0003' to INT. Value truncated."},
		{1917, "Truncated value 'u_0003' when converting to INT", "Truncated value 'u_0003' when converting to INT"},
		{1918, "Encountered illegal value 'u_0003' when converting to INT", "Encountered illegal value 'u_0003' when converting to INT"},
		{3140, `Invalid JSON text: "u_0003" at position 0 in value for column 'u_0003.j'.`, `Invalid JSON text: "u_0003" at position 0 in value for column 'u.j'.`},
		{3141, `Invalid JSON text in argument 1 to function json_extract: "u_0003" at position 0.`, `Invalid JSON text in argument 1 to function json_extract: "u_0003" at position 0.`},
		// Schemas.
		{1146, "Table 'shop.w_0001' doesn't exist", "Table 'shop.w' doesn't exist"},
		{1146, "Table 'depot.w_0001' doesn't exist", "Table 'depot.ware' doesn't exist"},
		{1146, "Table 'other.w_0001' doesn't exist", "Table 'other.w_0001' doesn't exist"},
		{1146, "Table 'other.u_0003' doesn't exist", "Table 'other.u_0003' doesn't exist"},
		{1054, "Unknown column 'w_0001.x' in 'field list'", "Unknown column 'w.x' in 'field list'"},
		{1451, "Cannot delete or update a parent row: a foreign key constraint fails (`depot`.`w_0001`, CONSTRAINT `w_0001_ibfk_1` FOREIGN KEY (`u`) REFERENCES `shop`.`u_0003` (`id`))",
			"Cannot delete or update a parent row: a foreign key constraint fails (`depot`.`ware`, CONSTRAINT `ware_ibfk_1` FOREIGN KEY (`u`) REFERENCES `shop`.`u` (`id`))"},
		{1451, "a foreign key constraint fails (`other`.`w_0001`, CONSTRAINT `x`)", "a foreign key constraint fails (`other`.`w_0001`, CONSTRAINT `x`)"},
		{1451, "a foreign key constraint fails (`depot`.`w_0001`, CONSTRAINT `fk user$477eef38` FOREIGN KEY (`u`) REFERENCES `shop`.`u_0003` (`id`))",
			"a foreign key constraint fails (`depot`.`ware`, CONSTRAINT `fk user` FOREIGN KEY (`u`) REFERENCES `shop`.`u` (`id`))"},
		{3819, "Check constraint 'positive-n$0003' is violated.", "Check constraint 'positive-n' is violated."},
		{3780, "in foreign key constraint 'of the reference$2024_03' are incompatible.", "in foreign key constraint 'of the reference' are incompatible."},
		{3819, "Check constraint 'positive$0004' is violated.", "Check constraint 'positive$0004' is violated."},
		{1062, "Duplicate entry 'x$0003' for key 'u_0003.x'", "Duplicate entry 'x$0003' for key 'u.x'"},
		{1826, "Duplicate foreign key constraint name 'auth_user_user_permi_permission_id_1fbb5f2c_fk_auth_pe\\CABB\\C76A\\CB16\\C99F\\C3AA$0003'",
			"Duplicate foreign key constraint name 'auth_user_user_permi_permission_id_1fbb5f2c_fk_auth_permission_i'"},
		{3819, "Check constraint 'u_0003_chk_1' is violated.", "Check constraint 'u_chk_1' is violated."},
	} {
		if got := RenameText(c.code, c.in, names); got != c.out {
			t.Errorf("%d %s: %s", c.code, c.in, got)
		}
	}
}
