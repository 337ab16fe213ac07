package session_test

import (
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// TestShowWhere: WHERE of a SHOW is about the columns that it shows, whatever the client's sql_mode says of grouping. Laravel sets ONLY_FULL_GROUP_BY
// and asks so for the tables that it drops.
func TestShowWhere(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c, _ := metadataRig(t, kind, nil)
			for _, client := range []*mysqltest.RawClient{one, c} {
				must(t, client, "SET SESSION sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES'")
			}
			for _, sql := range []string{
				"SHOW FULL TABLES WHERE table_type = 'BASE TABLE'", "SHOW FULL TABLES FROM shop WHERE Table_type LIKE 'V%' OR Tables_in_shop = 'u'", "SHOW TABLES WHERE Tables_in_shop > 'p'",
				"SHOW TABLES WHERE LENGTH(Tables_in_shop) = 1 AND Tables_in_shop NOT IN ('v')", "SHOW TABLE STATUS WHERE Name IN ('u', 'w') AND Comment <> ''",
				"SHOW TABLE STATUS WHERE Engine IS NULL", "SHOW TRIGGERS WHERE `Table` = 'p'", "SHOW TRIGGERS WHERE Event = 'INSERT' AND Timing = 'BEFORE'", "SHOW OPEN TABLES WHERE `Table` = 'no'",
				"SHOW TABLES WHERE nothing = 1",
			} {
				compareShown(t, one, c, "", sql, func(d *mysql.ColumnDefinition41) {
					if kind != mysqltest.MariaDB { // its statistics decide whether the rows come from a temporary table, or from none
						d.Schema, d.Table, d.OrgTable, d.Flags = "", "", "", d.Flags&(mysql.BinaryFlag|mysql.UnsignedFlag|mysql.EnumFlag)
					}
				})
			}
		})
	}
}
