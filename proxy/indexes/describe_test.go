package indexes_test

import (
	"context"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/indexes"
)

// An index of columns that the server changes by itself, or of rows that it deletes, is not built.
func TestBuildRefuses(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			r := newRig(t, kind)
			r.exec("CREATE TABLE indexed.cities (name VARCHAR(20) COLLATE utf8mb4_bin PRIMARY KEY, id BIGINT NOT NULL UNIQUE, part INT NOT NULL UNIQUE)")
			city := r.table.Indexes[1]
			refer := func(column, refers, does string) []string {
				return []string{"ALTER TABLE indexed.users_0000 ADD CONSTRAINT k FOREIGN KEY (" + column + ") REFERENCES indexed.cities (" + refers + ") " + does, "ALTER TABLE indexed.users_0000 DROP FOREIGN KEY k"}
			}
			for _, c := range []struct {
				alter []string
				want  string
			}{
				{refer("city", "name", "ON DELETE SET NULL"), "the column city of users, whose index city has its values"},
				{refer("city", "name", "ON UPDATE CASCADE"), "the column city of users"},
				{refer("id", "id", "ON UPDATE CASCADE"), "the column id of users"},
				{refer("part", "part", "ON DELETE CASCADE"), "ON DELETE CASCADE in users"},
				{[]string{"ALTER TABLE indexed.users_0000 DROP KEY k, DROP COLUMN city, ADD COLUMN city DATETIME ON UPDATE CURRENT_TIMESTAMP"}, "the column city of users"},
				{[]string{"ALTER TABLE indexed.users_0000 DROP COLUMN city, ADD COLUMN city INT AS (part + 1) VIRTUAL"}, "the column city of users"},
			} {
				r.exec(c.alter[0])
				if err := r.states.Build(context.Background(), city, indexes.Options{Nodes: r.nodes}); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v", c.alter[0], err)
				}
				r.exec(c.alter[1:]...)
			}
			if r.states.Record(city).State != indexes.Missing {
				t.Error("a state has changed")
			}
		})
	}
}
