package plan

import (
	"testing"

	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
)

// The names that columns of RETURNING are qualified by are those of the shard.
func TestReturningNames(t *testing.T) {
	r := testRouter(t)
	maria := sqltext.Mode{MariaDB: true, ServerVersion: 101100}
	for text, want := range map[string]string{
		"INSERT INTO h (id, a) VALUES (5, ?) RETURNING h.id, `h`.a + h . id AS h": "INSERT INTO `h_0005` (id, a) VALUES (5, ?) RETURNING `h_0005`.id, `h_0005`.a + `h_0005` . id AS h",
		"DELETE FROM h WHERE id = 5 AND a = ? RETURNING kingshard.h.*":            "DELETE FROM `h_0005` WHERE id = 5 AND a = ? RETURNING `kingshard`.`h_0005`.*",
		"REPLACE INTO kingshard.v (id, a) VALUES (1, ?) RETURNING v.a":            "REPLACE INTO `kingshard_01`.`v` (id, a) VALUES (1, ?) RETURNING `kingshard_01`.`v`.a",
	} {
		st, err := parse(text, r, maria)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		p, err := Build(st, maria, r, "kingshard", typed)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		route, err := p.Route([]value.Value{value.NewInt(1)})
		if err != nil || route.One == nil || route.One.Text != want {
			t.Errorf("%s: %+v, %v", text, route.One, err)
		}
	}
}
