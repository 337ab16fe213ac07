package sqltext

import (
	"strings"
	"testing"
)

const anyCall = ConnectionID | LastInsertID | RowCount | FoundRows | CurrentUser | SysVarIdentity | SysVarWarningCount |
	SysVarPseudoThread

func TestFunctions(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want Traits
		out  string
	}{
		{"select connection_id()", anyCall, "connection_id()"},
		{"select connection_id();", anyCall, "connection_id()"},
		{"select CONNECTION_ID ( )  ", anyCall, "CONNECTION_ID ( )"},
		{"select distinct connection_id(), row_count() from t", anyCall, "connection_id() row_count()"},
		{"select sql_no_cache high_priority user()", anyCall, "user()"},
		{"select connection_id() as c, row_count() d, found_rows() `e`, user() 'f'", anyCall, "connection_id() row_count() found_rows() user()"},
		{"select connection_id() + 1, 1 + connection_id(), (connection_id())", anyCall, "connection_id() connection_id() connection_id()"},
		{"select a, connection_id() from t where b = connection_id()", anyCall, "connection_id() connection_id()"},
		{"select (select connection_id()), concat(user(), 'x')", anyCall, "connection_id() user()"},
		{"select connection_id() union select row_count()", anyCall, "connection_id() row_count()"},
		{"(select connection_id()) union (select 2)", anyCall, "connection_id()"},
		{"with c as (select connection_id()) select row_count() from c", anyCall, "connection_id() row_count()"},
		{"select connection_id() limit 1", anyCall, "connection_id()"},
		{"select connection_id() into @x", anyCall, "connection_id()"},
		{"select connection_id() for update", anyCall, "connection_id()"},
		{"select connection_id() where 1", anyCall, "connection_id()"},
		{"select current_user, current_user(), session_user(), system_user(), user()", anyCall,
			"current_user current_user() session_user() system_user() user()"},
		{"select t.current_user, user, `user`() from t", anyCall, ""},
		{"select last_insert_id(), last_insert_id(5)", anyCall, "last_insert_id()"},
		{"select last_insert_id(), row_count()", RowCount, "row_count()"},
		{"select @@identity, @@session.last_insert_id, @@global.identity", anyCall, "@@identity @@session.last_insert_id"},
		{"select @@warning_count, @@error_count c, @@pseudo_thread_id + 1, @@autocommit", anyCall,
			"@@warning_count @@error_count @@pseudo_thread_id"},
		{"insert into t values (connection_id(), last_insert_id())", anyCall, "connection_id() last_insert_id()"},
		{"insert into t select connection_id()", anyCall, "connection_id()"},
		{"update t set a = user() where b = current_user", anyCall, "user() current_user"},
		{"set @a = connection_id(), @@identity = @@warning_count", anyCall, "connection_id() @@warning_count"},
		{"set @@session.identity = 5, pseudo_thread_id = 6", anyCall, ""},
		{"do row_count()", anyCall, "row_count()"},
		{"call p(connection_id())", anyCall, "connection_id()"},
		{"explain select connection_id()", anyCall, "connection_id()"},
		{"create table t as select connection_id()", anyCall, "connection_id()"},
		{"create table t (a int default (connection_id()))", anyCall, ""},
		{"create view v as select connection_id()", anyCall, ""},
		{"create procedure p() select connection_id()", anyCall, ""},
		{"create definer = current_user view v as select 1", anyCall, ""},
		{"grant all on *.* to current_user()", anyCall, ""},
		{"alter user user() identified by 'x'", anyCall, ""},
		{"select 'connection_id()', \"user()\", `row_count()` -- user()", anyCall, ""},
		{"select db.connection_id(), connection_id", anyCall, ""},
		{"select connection_id(), 'open", anyCall, ""},
		{"select connection_id(/*!50000 ) */", anyCall, ""},
		{"select connection_id(1)", anyCall, ""},
		{"select connection_id(); select row_count()", anyCall, "connection_id()"},
		{"select 1", anyCall, ""},
		{"", anyCall, ""},
	} {
		var out []string
		for _, s := range Functions(c.sql, mysql84, c.want) {
			if c.sql[s.Pos:s.End] != s.Text {
				t.Errorf("%q: %q at %d is not %q", c.sql, c.sql[s.Pos:s.End], s.Pos, s.Text)
			}
			out = append(out, s.Text)
		}
		if got := strings.Join(out, " "); got != c.out {
			t.Errorf("%q:\n got %s\nwant %s", c.sql, got, c.out)
		}
	}
}

func TestFunctionsTellWhat(t *testing.T) {
	got := Functions("select user(), row_count(), @@error_count", mysql84, anyCall)
	want := []Traits{CurrentUser, RowCount, SysVarWarningCount}
	if len(got) != len(want) {
		t.Fatalf("%d spans", len(got))
	}
	for k, s := range got {
		if s.What != want[k] {
			t.Errorf("%s is %s", s.Text, s.What.names())
		}
	}
}
