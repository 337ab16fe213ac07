package plan

import (
	"fmt"
	"slices"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// TestScratchKeys: a scratch table has the primary key of its table where the query groups it on MySQL, if rows of several shards
// cannot be equal in it.
func TestScratchKeys(t *testing.T) {
	keyed := func(of map[string][]string) Catalog {
		return func(t *router.Table) (_, _ []mysql.ColumnDefinition41) {
			list := slices.Clone(testColumns[t.Name])
			for k := range list {
				if list[k].Flags &^= primaryKeyFlag; slices.Contains(of[t.Name], list[k].Name) {
					list[k].Flags |= primaryKeyFlag
				}
			}
			return list, nil
		}
	}
	ids := map[string][]string{"u": {"id"}, "h": {"id"}}
	for _, test := range []struct {
		sql  string
		keys map[string][]string
		want string
	}{
		{"select u.id, u.name from u join h on h.a = u.age group by u.id", map[string][]string{"u": {"id", "price"}}, "[[] []]"}, // not collected
		{"select u.id, u.name, h.id, h.a from u join h on h.a = u.age group by u.id, h.id", ids, "[[id] [id]]"},
		{"select u.id, u.name from u join h on h.a = u.age group by u.id", map[string][]string{"u": {"age"}}, "[[] []]"}, // ages on all shards
		{"select u.id, u.name, u.age from u join h on h.a = u.age group by u.id, u.age", map[string][]string{"u": {"id", "age"}}, "[[id age] []]"},
		{"select u.id, u.age from u join h on h.a = u.age group by u.id, u.tag", map[string][]string{"u": {"id", "tag"}}, "[[] []]"}, // a text
		{"select u.id, u.name from u join h on h.a = u.age", ids, "[[] []]"},
		{"select u.id from u join (select a, max(id) id from h group by a) q on q.a = u.age", ids, "[[] [id]]"},
		{"select refs.a, count(p.at) from refs left join p on p.id = refs.a where refs.a > 3 group by refs.a", map[string][]string{"refs": {"n"}}, "[[] []]"}, // n is not collected
	} {
		for _, m := range []sqltext.Mode{mysql8, {MariaDB: true, ServerVersion: 101100}} {
			r := testRouter(t)
			st, err := parse(test.sql, r, m)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Build(st, m, r, "kingshard", keyed(test.keys))
			if err != nil || p.Operator.Name() != "finish" || isPartial(p) {
				t.Fatalf("%s: %v, %v", test.sql, p, err)
			}
			route, err := p.Route(nil)
			if err != nil {
				t.Fatal(err)
			}
			var keys [][]string
			for _, s := range route.Finishing.Scratch {
				keys = append(keys, s.Key)
			}
			want := test.want
			if m.MariaDB {
				want = "[[] []]"
			}
			if got := fmt.Sprint(keys); got != want {
				t.Errorf("%s: %s, not %s", test.sql, got, want)
			}
		}
	}
}
