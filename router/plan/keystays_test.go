package plan

import (
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/router"
)

// Rows whose key the server sets when they change are not changed: nobody would find them afterwards.
func TestKeysThatChangeByThemselves(t *testing.T) {
	r := testRouter(t)
	moving := func(t *router.Table) (columns, invisible []mysql.ColumnDefinition41) {
		columns = slices.Clone(testColumns[t.Name])
		if t.Name == "dd" {
			columns[0].Flags |= onUpdateNow
		}
		return columns, nil
	}
	for sql, refused := range map[string]bool{
		"update dd set a = 1 where d = '2014-09-05'": true, "update dd set a = 1": true, "update dd x set x.a = 2 where x.d = '2014-09-05' limit 1": true,
		"update dd, ref set dd.a = 1 where dd.a = ref.id": true, "insert into dd (d, a) values ('2014-09-05', 1) on duplicate key update a = 2": true,
		"create table dd (d datetime on update current_timestamp, a int)": true, "alter table dd modify d datetime null on update now()": true,
		"alter table dd change D d datetime default now() on update now()": true, "create table h (id bigint generated always as (a + 1) stored, a int)": true,
		"create table dd (d datetime, a int, seen timestamp on update now(), b int as (a + 1))": false, "alter table dd add seen datetime on update now()": false,
		"insert into dd (d, a) values ('2014-09-05', 1)": false, "delete from dd where d = '2014-09-05'": false, "select * from dd": false, "update h set a = 1 where id = 1": false,
	} {
		for name, c := range map[string]Catalog{"moving": moving, "typed": typed} {
			_, err := build(sql, r, c)
			if want := refused && (name == "moving" || strings.Contains(sql, " table ")); IsRefusal(err) != want || err != nil && !want {
				t.Errorf("%s: %s: %v", name, sql, err)
			}
		}
	}
}
