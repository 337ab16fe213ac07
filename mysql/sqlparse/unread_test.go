package sqlparse

import (
	"testing"

	"kingshard/mysql/sqltext"
)

func TestUnread(t *testing.T) {
	maria := sqltext.Mode{MariaDB: true, ServerVersion: 101100}
	for _, c := range []struct {
		text      string
		mode      sqltext.Mode
		readable  bool
		returning bool
	}{
		{"insert into users (id, a) values (1, 2) as new on duplicate key update a = new.a + 1", mysql8, true, false},
		{"insert into users (id, a) values (1, ?), (?, 4) as users(m, n) on duplicate key update a = n", mysql8, true, false},
		{"insert into users set id = 1 as `new` on duplicate key update a = new.a", mysql8, true, false},
		{"insert into users select id, 1 from users as u on duplicate key update a = 1", mysql8, true, false},
		{"insert into users (id) values (1) as new on duplicate key update a = new.a", maria, false, false},
		{"insert into users (id) values (1) as new(", mysql8, false, false},
		{"insert into users (id, a) value (1, 2) on duplicate key update id = value(id), a = Value (users.a) + values(a)", maria, true, false},
		{"insert into users (id, a) values (1, 2) on duplicate key update value = value + 1, a = shop.value(1)", maria, true, false},
		{"insert into users (id, a) values (1, 2) on duplicate key update a = value(a)", mysql8, false, false},
		{"insert into users (id) values (1) returning id, a + 1", maria, true, true},
		{"insert into users (id) values (1) on duplicate key update a = 1 returning *", maria, true, true},
		{"replace into users (id) values (1) returning id", maria, true, true},
		{"delete from users where id = 1 returning id", maria, true, true},
		{"delete from users where returning = 1", maria, false, false},
		{"delete from users where users.returning = 1", maria, true, false},
		{"delete from users where id = 1 returning users.id", maria, true, true},
		{"insert into users (id) values (1) returning `users`.`id`, users.*, shop . users . a + users.b", maria, true, true},
		{"insert into users (id) values (1) returning other.id", maria, false, false},
		{"delete from users where id = 1 returning users.id + (select 1)", maria, false, false},
		{"insert into shop.users (id) values (1) returning other.users.id", maria, false, false},
		{"delete from users where id = 1 returning a + ?", maria, false, false},
		{"delete from users where id = 1 returning id", mysql8, false, false},
		{"explain delete from users where id = 1 returning id", maria, true, false},
		{"EXPLAIN FORMAT=JSON insert into users (id) values (1) returning users.id, other.id", maria, true, false},
		{"desc replace into users (id) values (1) returning *", maria, true, false},
		{"explain delete from users where id = 1 returning id", mysql8, false, false},
		{"explain delete from users where id = 1 returning (select 1)", maria, false, false},
		{"explain insert into users (id, a) values (1, 2) as new on duplicate key update a = new.a", mysql8, true, false},
		{"alter table if exists users add constraint fk foreign key (a) references users (id)", maria, true, false},
		{"ALTER ONLINE IGNORE TABLE IF EXISTS users DROP FOREIGN KEY IF EXISTS fk", maria, true, false},
		{"alter table if exists users add b int", mysql8, false, false},
	} {
		st, err := Parse(c.text, c.mode, watchedNames("users"))
		if (err == nil) != c.readable {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if err == nil && (st.Returning != c.returning || st.Text != c.text) {
			t.Errorf("%s: returning %v, text %q", c.text, st.Returning, st.Text)
		}
	}
}
