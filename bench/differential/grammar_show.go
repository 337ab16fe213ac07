package differential

import "strings"

// show makes a statement that shows what a table or database is, as drivers ask for it.
func (g *grammar) show() *statement {
	t := g.anyTable()
	c := pickOne(g.dice, t.columns)
	text := pickOne(g.dice, []string{
		"SHOW COLUMNS FROM %[1]s", "SHOW FULL COLUMNS FROM %[1]s", "SHOW FIELDS IN %[1]s", "DESCRIBE %[1]s", "DESC %[1]s %[2]s", "EXPLAIN %[1]s", "SHOW COLUMNS FROM %[1]s LIKE '%[2]s'",
		"SHOW FULL COLUMNS FROM %[1]s WHERE Field = '%[2]s'", "SHOW COLUMNS FROM %[1]s WHERE `Null` = 'YES'", "SHOW CREATE TABLE %[1]s", "SHOW TABLES", "SHOW FULL TABLES",
		"SHOW TABLES LIKE '%[1]s'", "SHOW FULL TABLES LIKE '%[1]s'", "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'", "SELECT * FROM %[1]s LIMIT 0", "SELECT %[2]s FROM %[1]s WHERE 1 = 0",
		"SELECT table_name, table_type, engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '%[1]s'",
		"SELECT column_name, ordinal_position, column_type, is_nullable, data_type, character_set_name, collation_name, column_key, extra FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '%[1]s' ORDER BY ordinal_position",
		"SELECT index_name, seq_in_index, column_name, non_unique FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = '%[1]s' ORDER BY index_name, seq_in_index",
		"SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_schema = DATABASE() AND table_name = '%[1]s'",
		"SELECT column_name, ordinal_position FROM information_schema.key_column_usage WHERE table_schema = DATABASE() AND table_name = '%[1]s' ORDER BY 2",
		"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()", "SHOW TABLES IN {db} LIKE 'none'", "SHOW DATABASES LIKE '{db}'",
		"SHOW VARIABLES LIKE 'sql_mode'", "SHOW VARIABLES LIKE 'time_zone'", "SHOW SESSION VARIABLES WHERE Variable_name IN ('autocommit', 'character_set_client', 'collation_connection')",
		"SHOW COLLATION LIKE 'utf8mb4_g%%'", "SHOW CHARACTER SET LIKE 'latin1'", "SELECT @@sql_mode, @@time_zone, @@autocommit, @@collation_connection, @@character_set_results",
		"SELECT DATABASE() = SCHEMA(), @@session.group_concat_max_len", "SHOW WARNINGS", "SHOW ERRORS", "SHOW COUNT(*) WARNINGS", "SHOW TRIGGERS LIKE '%[1]s'", "SHOW PROCEDURE STATUS LIKE 'none'",
	})
	text = strings.NewReplacer("%[1]s", t.name, "%[2]s", c.name, "%%", "%").Replace(text)
	s := &statement{root: databaseIn(text), exact: true}
	s.prepared = g.one(4)
	return s
}
