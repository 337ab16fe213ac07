package plan

import (
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/router"
)

// TestInvisibleCounter gives rows to a table whose AUTO_INCREMENT column a star does not stand for, as that of MySQL's
// sql_generate_invisible_primary_key.
func TestInvisibleCounter(t *testing.T) {
	r := testRouter(t)
	catalog := func(t *router.Table) (visible, invisible []mysql.ColumnDefinition41) {
		if t.Name == "seq" {
			return columns("id", bigint, "a", bigint), columns("my_row_id", counter)
		}
		return testColumns[t.Name], nil
	}
	for sql, refused := range map[string]bool{
		"insert into seq values (1, 2)": false, "insert into seq (id, a) values (1, 2), (2, 3)": false, "insert into seq set id = 1": false, "replace into seq (id, my_row_id) values (1, null)": false,
		"insert into seq (my_row_id, id) values (default, 1)": false, "insert into seq (id, a) select id, a from seq": false,
		"load data local infile 'x' into table seq": true, "load data local infile 'x' into table seq (id, a)": false,
		"insert into seq (my_row_id, id) values (7, 1), (8, 2)": false, "insert into seq (my_row_id, id) select my_row_id + 10, id from seq": false,
		"load data local infile 'x' into table seq (my_row_id, id)": false,
	} {
		_, err := build(sql, r, catalog)
		if !refused && err != nil || refused && (err == nil || !strings.Contains(err.Error(), "AUTO_INCREMENT column my_row_id")) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
