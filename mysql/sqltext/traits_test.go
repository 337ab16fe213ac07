package sqltext

import "testing"

func TestTraits(t *testing.T) {
	check(t, mysql84, []want{
		{"select @a", Select, UserVarRead},
		{"select@a", Select, UserVarRead},
		{"select @a:=1", Select, UserVarWrite},
		{"select @a := @a + 1", Select, UserVarRead | UserVarWrite},
		{"select @`a b` := 1, @'c' := 2, @\"d\" := 3", Select, UserVarWrite},
		{"select a into @x from t", Select, UserVarWrite},
		{"select a, b from t into @x, @y", Select, UserVarWrite},
		{"select @z, a into @x from t", Select, UserVarRead | UserVarWrite},
		{"select a from t where b = @x", Select, UserVarRead},
		{"select 1 into x", Select, Doubt},
		{"select 1 into outfile 'x'", Select, IntoOutfile},
		{"select 1 into dumpfile 'x'", Select, IntoOutfile},
		{"select * from t into/**/outfile 'x'", Select, IntoOutfile},
		{"insert into t select 1", Insert, 0},
		{"load data infile 'x' into table t (a, @b) set c = @b", LoadData, UserVarRead | UserVarWrite},
		{"set @a = 1", Set, 0},
		{"set @a := 1, @b = 2", Set, 0},
		{"set @a = @b", Set, UserVarRead},
		{"set @a = @b := 2", Set, UserVarWrite},
		{"set @a = (@b := 2), c = @d", Set, UserVarRead | UserVarWrite},
		{"set a = @@b", Set, SysVarRead},
		{"set @@a = 1, @@session.b = 2", Set, 0},
		{"set global a = 1, session b = @@c", Set, SysVarRead},
		{"set @a = if(1, @@b, 2), @@c = 3", Set, SysVarRead},
		{"update t set a := 1", Update, 0},
		{"select a := 1", Select, SetsState | Doubt},
		{"select @@a := 1", Select, SysVarRead | SetsState | Doubt},
		{"select * from t for update", Select, ForUpdate},
		{"select * from t for/* */share of t skip locked", Select, ForUpdate},
		{"select * from t lock in share mode", Select, ForUpdate},
		{"(select * from t) for update", Select, ForUpdate},
		{"select t.lock in (1) from t", Select, 0},
		{"select substring(a from 1 for 2) from t", Select, 0},
		{"select * from t use index for join (i), u ignore key for order by (k)", Select, 0},
		{"select get_lock('a', 1)", Select, GetLock | EffectFunction},
		{"select GET_LOCK ('a', 1)", Select, GetLock | EffectFunction},
		{"select `get_lock`('a', 1)", Select, GetLock | EffectFunction},
		{"select release_lock('a')", Select, ReleaseLock | EffectFunction},
		{"select release_all_locks()", Select, ReleaseLock | EffectFunction},
		{"select is_free_lock('a'), is_used_lock('b')", Select, EffectFunction},
		{"select get_lock from t", Select, 0},
		{"select 'get_lock(1)', \"f(1)\" -- g(1)", Select, 0},
		{"select /* get_lock('a',1) */ 1", Select, 0},
		{"select sql_calc_found_rows a from t limit 1", Select, CalcFoundRows},
		{"select sql_calc_found_rows (a) from t", Select, CalcFoundRows},
		{"select found_rows()", Select, FoundRows},
		{"select row_count()", Select, RowCount},
		{"select last_insert_id()", Select, LastInsertID},
		{"select last_insert_id( /* none */ )", Select, LastInsertID},
		{"select last_insert_id(5)", Select, LastInsertIDSet},
		{"update t set id = last_insert_id(id + 1)", Update, LastInsertIDSet},
		{"insert into t values (last_insert_id())", Insert, LastInsertID},
		{"select connection_id()", Select, ConnectionID},
		{"select user(), session_user(), system_user(), current_user(), current_user", Select, CurrentUser},
		{"select user from mysql.user", Select, SystemSchema},
		{"select t.current_user from t", Select, 0},
		{"select @@warning_count", Select, SysVarWarningCount},
		{"select @@session.error_count", Select, SysVarWarningCount},
		{"select @@local.`Warning_Count`", Select, SysVarWarningCount},
		{"select @@identity, @@last_insert_id", Select, SysVarIdentity},
		{"select @@pseudo_thread_id", Select, SysVarPseudoThread},
		{"select @@global.pseudo_thread_id", Select, SysVarRead},
		{"select @@ks_transaction_mode, @@session.`KS_read_consistency`", Select, SysVarOwn},
		{"select @@global.ks_transaction_mode, @@ks_, @@k", Select, SysVarRead},
		{"select @@version, @@session.sql_mode, @@global.x, @@`x`", Select, SysVarRead},
		{"select @@global.validate_password.length", Select, SysVarRead},
		{"select @@session .x", Select, SysVarRead},
		{"select @@session . warning_count, @@local /* a */ .`identity`", Select, SysVarWarningCount | SysVarIdentity},
		{"select @@", Select, Doubt},
		{"select @@ x", Select, Doubt},
		{"select @", Select, Doubt},
		{"select now(), count(*), coalesce(a, b), if(a, b, c) from t", Select, 0},
		{"select count (*) from t", Select, EffectFunction},
		{"select f(1)", Select, EffectFunction},
		{"select f (1)", Select, EffectFunction},
		{"select f/* */(1)", Select, EffectFunction},
		{"select db.f(1)", Select, EffectFunction},
		{"select db . count(1)", Select, EffectFunction},
		{"select `f`(1)", Select, EffectFunction},
		{"select `db`.`f`(1)", Select, EffectFunction},
		{"select f\u00fc(1)", Select, EffectFunction | Doubt},
		{"select a from t where f(a) = 1", Select, EffectFunction},
		{"select * from t order by f(a)", Select, EffectFunction},
		{"select sleep(1), benchmark(1, 1)", Select, 0},
		{"select benchmark(1, get_lock('a', 1))", Select, GetLock | EffectFunction},
		{"select uuid()", Select, 0},
		{"select uuid_short()", Select, EffectFunction},
		{"select load_file('x')", Select, EffectFunction},
		{"select master_pos_wait('x', 1)", Select, EffectFunction},
		{"select source_pos_wait('x', 1)", Select, EffectFunction},
		{"select wait_for_executed_gtid_set('x')", Select, EffectFunction},
		{"select nvl(a, 1)", Select, EffectFunction},
		{"select a in (1), not (b), a and (c), b or (d), exists (select 1)", Select, 0},
		{"select * from a join b using (id) left join (c) on (1)", Select, 0},
		{"select * from (select 1 as x) as t (y)", Select, 0},
		{"select sum(a) over (partition by b order by c rows between 1 preceding and current row) from t", Select, 0},
		{"select sum(a) over w from t window w as (partition by b)", Select, 0},
		{"select cast(a as decimal(10,2)), cast(b as char (10)), convert(c, datetime(6)) from t", Select, 0},
		{"select * from t partition (p0) use index (i)", Select, 0},
		{"select a member of ('[1]')", Select, 0},
		{"select of(1)", Select, EffectFunction},
		{"select match (a) against ('x' in boolean mode) from t", Select, 0},
		{"select * from json_table('[]', '$[*]' columns (a int path '$.a', nested path '$.b' columns (c varchar(10) path '$'))) as j", Select, 0},
		{"select * from t, lateral (select t.a) as l", Select, 0},
		{"select case when (a) then (b) else (c) end from t", Select, 0},
		{"select interval (1) day + a from t", Select, 0},
		{"select group_concat(distinct (a) order by (b) separator ',') from t", Select, 0},
		{"select a from t group by (a) with rollup having (a) limit 1", Select, 0},
		{"select * from t where (a, b) = row(1, 2)", Select, 0},
		{"select extract(day from f(a))", Select, EffectFunction},
		{"insert into t (a) values (f(1))", Insert, EffectFunction},
		{"update t set a = f(1)", Update, EffectFunction},
		{"select ?", Select, Param},
		{"insert into t values (?, ?)", Insert, Param},
		{"select ?a", Select, Doubt},
		{"select /*+ set_var(sql_mode='') */ 1", Select, Hint},
		{"select /*+ qb_name(`x*/`) */ 1", Select, Hint | Doubt},
		{"select a->'$.b', a->>'$.c' from t", Select, 0},
		{"select a<=>b, a<<1, a>>1, a<>b, a!=b, a&&b, a||b, !a, ~a, a^b, a%b from t", Select, 0},
		{"show grants for current_user()", Show, CurrentUser},
		{"show tables where f(1)", Show, EffectFunction},
		{"explain select get_lock('a', 1)", Explain, GetLock | EffectFunction},
		{"explain select 1 into outfile 'x'", Explain, IntoOutfile},
		{"select * from t procedure analyse()", Select, EffectFunction},
	})
}

func TestReadOnly(t *testing.T) {
	for _, sql := range []string{
		"select 1", "select 1;", "(select 1)", "with c as (select 1) select * from c", "table t", "values row(1)", "show tables",
		"show warnings", "show processlist", "desc t", "help 'x'", "explain select 1", "explain analyze select 1",
		"explain format=json table t", "select @a, @@b, now()", "select sql_calc_found_rows 1", "select last_insert_id()",
		"select /*master*/ 1", "select ?", "/*!80000 select */ 1",
	} {
		if !Classify(sql, mysql84).ReadOnly() {
			t.Errorf("%q is not read-only", sql)
		}
	}
	for _, sql := range []string{
		"", "insert into t values (1)", "update t set a = 1", "explain update t set a = 1", "explain analyze delete t from t",
		"explain for connection 1", "explain into @x select 1", "select 1 for update", "select 1 lock in share mode",
		"select 1 into outfile 'x'", "select 1 into @x", "select @x := 1", "select get_lock('a', 1)", "select release_lock('a')",
		"select f()", "select last_insert_id(1)", "select 1; drop table t", "select 1; select 2", "select 'a", "select /* a",
		"select \x01", "set a = 1", "call p()", "do 1", "begin", "select 1 /*!80000 for update */", "select 1 /*! into @x */",
		"with c as (select 1) update t set a = 1", "with c as (select f()) select * from c", "use db", "flush tables",
		"select 1 /*!99999 , 2 */ for update", "analyze table t", "handler t read first", "show tables where f()",
	} {
		if Classify(sql, mysql84).ReadOnly() {
			t.Errorf("%q is read-only", sql)
		}
	}
	if Classify("set statement a = 1 for select 1", maria).ReadOnly() {
		t.Error("SET STATEMENT is read-only")
	}
	if !Classify("analyze select 1", maria).ReadOnly() || Classify("analyze delete from t", maria).ReadOnly() {
		t.Error("ANALYZE is read-only with a query only")
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct {
		sql, node string
		master    bool
	}{
		{"/*node2*/ select 1", "node2", false},
		{"/*node2*/select 1", "node2", false},
		{"  \n/*node-2.a_b*/ update t set a = 1", "node-2.a_b", false},
		{"/*node1*/ /*node2*/ select 1", "node1", false},
		{"/* app */ /*node2*/ select 1", "", false},
		{"/* node2 */ select 1", "", false},
		{"/**/ select 1", "", false},
		{"/*node$*/ select 1", "", false},
		{"/*n\u00f6de*/ select 1", "", false},
		{"select /*node2*/ 1", "", false},
		{"select '/*node2*/', `/*master*/`", "", false},
		{"-- /*node2*/\nselect 1", "", false},
		{"/*master*/ select 1", "", true},
		{"/*MASTER*/select 1", "", true},
		{"select /*master*/ 1", "", true},
		{"select/*Primary*/1", "", true},
		{"(select /*master*/ 1)", "", true},
		{"/*node2*/ select /*master*/ 1", "node2", true},
		{"/* app */ /*master*/ select 1", "", true},
		{"select /* app */ /*master*/ 1", "", true},
		{"select 1 /*master*/", "", false},
		{"select a from t where /*master*/ b = 1", "", false},
		{"select /* master */ 1", "", false},
		{"select 1; select /*master*/ 2", "", false},
		{"select 1; /*node2*/ select 2", "", false},
	} {
		i := Classify(c.sql, mysql84)
		if i.NodeHint != c.node || i.Has(MasterHint) != c.master {
			t.Errorf("%q: node %q, master %v", c.sql, i.NodeHint, i.Has(MasterHint))
		}
	}
}
