package session_test

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// namesConfig has a table of each kind of place and one that refers to it: u and uc on both nodes, s and sc on the one that is not the
// default, r and rc copied, p and pc without a rule.
const namesConfig = `
addr: 127.0.0.1:0
user_list: [{user: app, password: app}]
nodes:
  - {name: n0, max_conns_limit: 8, user: root, password: root, master: "%[1]s"}
  - {name: n1, max_conns_limit: 8, user: root, password: root, master: "%[2]s"}
schema_list:
  - user: app
    nodes: [n0, n1]
    default: n0
    shard:
      - {db: shop, table: u, key: id, type: hash, nodes: [n0, n1], locations: [2, 2]}
      - {db: shop, table: uc, key: u, colocate_with: u}
      - {db: shop, table: s, type: single, nodes: [n1]}
      - {db: shop, table: sc, type: single, nodes: [n1]}
      - {db: shop, table: r, type: reference}
      - {db: shop, table: rc, type: reference}
`

// namesTables are made for each of u, s, r and p, which # stands for.
var namesTables = []string{
	"CREATE TABLE # (id INT PRIMARY KEY, name VARCHAR(10) NOT NULL DEFAULT 'x', n BIGINT UNSIGNED NOT NULL, d DECIMAL(5,2), e ENUM('a','b'), g BIGINT GENERATED ALWAYS AS (n + 1) VIRTUAL, " +
		"j JSON, day DATE, c CHAR(3) CHARACTER SET latin1, UNIQUE KEY one (name, id), CHECK (n < 1000), CHECK (d < 100))",
	"CREATE TABLE #c (id INT, u INT NOT NULL, PRIMARY KEY (u, id), FOREIGN KEY (u) REFERENCES # (id))",
	"INSERT INTO # (id, name, n, d, e, j, day, c) VALUES (1, 'a', 1, 1, 'a', '{\"x\": 1}', '2020-01-01', 'x'), (2, 'b', 2, 2, 'b', NULL, NULL, 'y'), (3, 'c', 3, 3, 'a', '[1]', '2020-02-02', NULL), " +
		"(4, 'd', 4, 4, NULL, '1', '2021-01-01', 'z'), (5, 'e', 5, 5, 'b', '\"u_0003\"', NULL, 'w')",
	"INSERT INTO #c VALUES (1, 1), (1, 3), (2, 4)",
}

// namesRig gives clients of one server and of a proxy, with the tables.
func namesRig(t *testing.T, kind mysqltest.Kind) (one, c *mysqltest.RawClient) {
	t.Helper()
	servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
	for k, server := range servers {
		d := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
		must(t, d, "DROP DATABASE IF EXISTS shop")
		must(t, d, "CREATE DATABASE shop CHARACTER SET utf8mb4")
		if k == 0 {
			one = d
			must(t, d, "USE shop")
		}
	}
	c = dial(t, startProxyLog(t, fmt.Sprintf(namesConfig, servers[1].Addr, servers[2].Addr), io.Discard), mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
	for _, table := range namedTables {
		for _, sql := range namesTables {
			sql = forTable(sql, table)
			must(t, one, sql)
			must(t, c, sql)
		}
	}
	return one, c
}

var namedTables = []string{"u", "s", "r", "p"}

// forTable puts a table's name in the place of #.
func forTable(sql, table string) string { return strings.ReplaceAll(sql, "#", table) }

// namesFaults are statements that fail, or warn, for many reasons that servers tell with names in them. # stands for a table.
var namesFaults = []string{
	// Columns and tables that are not there.
	"select nothing from #", "select #.nothing from # where id = 3", "select shop.#.nothing from #", "select id from # where nothing = 1", "select id from # order by nothing", "select count(*) from # group by nothing",
	"select count(*) from # having nothing > 1", "select a.nothing from # a", "select * from # a join # b on a.nothing = b.id", "select #.id from # a", "select nowhere.id from #", "select id from # join # b using (id, nothing)",
	"select * from (select nothing from #) d", "select (select nothing from # limit 1)", "select d.nothing from (select id from #) d", "select id from # union select nothing from #",
	"select * from #, nowhere", "select * from # join shop.nowhere n on n.id = #.id", "select * from # where id in (select id from nowhere)", "select * from nodb.#", "select nothing.* from #",
	"insert into # (nothing) values (1)", "insert into # (id, n, nothing) values (9, 9, 9)", "update # set nothing = 1", "update # set name = nothing where id = 3", "update # set n = n + 1 where nothing = 1",
	"delete from # where nothing = 1", "delete from # where id = 3 and #.nothing = 1", "delete nowhere from # join #c on #c.u = #.id", "update # join #c on #c.u = #.id set #.nothing = 1",
	"insert into # (id, n) values (nothing, 1)", "insert into # (id, n) values (8, 1) on duplicate key update nothing = 1", "replace into # (id, nothing) values (1, 1)", "insert into # (id, n) select nothing, 1 from #",
	"insert into #c select nothing, 1 from #", "truncate nowhere", "drop table nowhere", "drop view #", "alter table # drop nothing", "alter table # drop key nothing", "alter table # add key k (nothing)",
	// Ambiguous, twice.
	"select id from # a, # b", "select id from # join #c on #c.u = #.id", "select * from #, #", "select * from # a, #c a", "select * from # a join # b on id = 1 where a.id = 3 and b.id = 3",
	"insert into # (id, id) values (1, 1)", "select id x, n x from # order by x", "select 1 from (select id, id from #) d", "select * from (select 1 from #)", "update # a, # b set n = 1",
	// Keys and values.
	"insert into # (id, n) values (1, 1)", "insert into # (id, n) values (3, 1)", "insert into # (id, n) values (10, 1), (11, 1), (3, 1), (1, 1)", "insert into # (id, n, name) select id, n, name from #",
	"insert into # (id, n) values (4, 1) on duplicate key update n = 2000", "update # set id = id", "update # set name = null where id = 3", "update # set name = null", "insert into # (id, name, n) values (9, null, 1)", "insert into # (id) values (9)", "insert into # (id, name, n) values (9, 'u_0003 is much too long', 1)",
	"insert into # (id, n) values ('u_0003', 1)", "insert into # (id, n) values (9, 'u_0003')", "update # set n = 'u_0003'", "update # set n = 'u_0003' where id = 3", "insert into # (id, n) values (9, -1)", "insert into # (id, n) values (9, 1000)", "insert into # (id, n, d) values (9, 1, 100)",
	"update # set n = n + 998", "update # set d = d + 97 where id = 3", "insert into # (id, n, d) values (9, 1, 123456)", "insert into # (id, n, e) values (9, 1, 'u_0003')", "insert into # (id, n, j) values (9, 1, 'u_0003')", "insert into # (id, n, day) values (9, 1, 'u_0003')",
	"insert into # (id, n, c) values (9, 1, '☃')", "insert into # (id, n, g) values (9, 1, 1)", "update # set g = 1", "update # set g = 1 where id = 3", "insert into # values (9, 1)", "insert into # (id, n) values (9)", "insert into # (id, n) values (9, 1), (10)",
	"update # set n = n - 10", "update # set n = n - 10 where id = 3", "select n - 10 from #", "select n - 10 from # where id = 3", "select #.n - 10, count(*) from # group by 1", "select a.n - 10 from # a join # b on a.name = b.name", "select * from (select n - 10 from #) d",
	"select sum(n) - 100 from #", "select cast(sum(n) as unsigned) - 100 from #", "select max(n) - 100 from #", "select name, max(n) - 100 from # group by name", "select count(*) from # where n - 10 > 1", "select id from # order by n - 10",
	"select * from # where n = 'u_0003'", "select id + name from #", "select id + name from # where id = 3", "select sum(name) from #", "select cast(name as date) from # where id = 3", "delete from # where name = 17", "update # set n = n where name = 17", "select json_extract(name, '$') from #",
	"select a.name + 1 from # a join # b on a.name = b.name", "select json_extract(j, 'u_0003') from #", "select exp(id * 1000) from #", "select exp(id * 1000) from # where id = 3", "select pow(max(id), 10000) from #", "select st_geomfromtext(name) from #", "select name like 'a' escape 'xx' from #",
	// Values that messages quote.
	"select id from # where day = date 'u_0003'", "select timestamp 'u_0003', id from #", "select name regexp '(u_0003' from #", "select name regexp 'u_0003)[' from # where id = 3", "select json_extract('u_0003', '$') from #",
	"select json_extract(concat(name, 'u_0003'), '$') from # where id = 3", "select extractvalue('<a/>', 'u_0003(') from #", "select extractvalue('<a/>', '$u_0003') from # where id = 3", "select updatexml('<a/>', 'u_0003(', 'x') from #",
	"update # set j = concat('u_0003', name) where id = 3", "select cast('u_0003' as inet6) from #", "select cast('u_0003' as uuid) from # where id = 3",
	// Foreign keys.
	"insert into #c values (9, 9)", "insert into #c values (9, 3), (9, 99)", "update #c set u = u where id = 1", "delete from #", "delete from # where id = 3", "delete from # where id in (1, 3, 4)", "delete from # order by id limit 2", "replace into # (id, n) values (3, 7)", "truncate #", "drop table #",
	"alter table #c drop foreign key nothing", "alter table # modify id varchar(3)",
	// Shapes.
	"select id from # where id = (select id from #)", "select (select id, n from #) from #", "select id, n from # union select id from #", "select name, n from # group by name", "select count(*), name from #", "select #.name, max(id) from #", "select name from # group by n having d > 1",
	"select a.name, count(*) from # a group by a.id + 1", "select distinct name from # order by n", "select sum(count(*)) from #", "select id from # where sum(n) > 1", "select nofunction(id) from #", "select nodb.nofunction(id) from #", "select substr() from #", "select * from # use index (nothing)", "select * from # force index (nothing) where id = 3",
	"select * from # partition (p0)", "select match (name) against ('x') from #", "select name collate latin1_bin from #", "select concat(name collate utf8mb4_bin, name collate utf8mb4_general_ci) = 'x' from #", "select id from # limit -1", "select default(n) from #", "select default(nothing) from #", "select values(nothing) from #",
	"select id into nothing from #", "insert into # (id, n) values (default(nothing), 1)", "select id from # procedure nothing()", "select id from # for update of nothing", "select row(id, n) from #", "select id from # where (id, n) = 1", "select * from # where id = 3 order by 17", "select count(*) from # group by 17",
	"select id, count(*) over w from #", "select lag(id) from #", "select name from # group by name with rollup having nothing = 1", "with x as (select nothing from #) select * from x", "with x (a, b) as (select id from #) select * from x", "select * from # natural join nowhere",
	"delete from # using # a", "update # set n = (select max(n) from #)", "delete from # where id = (select max(id) from #)", "insert into # (id, n) values ((select max(id) from #), 1)", "update (select id from #) d set id = 1", "delete from (select 1) d", "select * from # for update nowait skip locked",
	// Definitions.
	"create table # (id int)", "create table # like #", "create table # as select 1", "create view # as select 1", "alter table # add name int", "alter table # add key one (n)", "alter table # add primary key (n)", "alter table # change nothing x int", "alter table # alter nothing set default 1", "alter table # rename column nothing to x",
	"alter table # rename to #c", "rename table # to #c", "create index one on # (n)", "drop index nothing on #", "create index k on # (nothing)", "alter table # add constraint #_d check (d < 7)", "alter table # drop constraint nothing", "alter table # add check (nothing < 3)",
	"alter table # modify d int not null default 'u_0003'", "alter table # modify name varchar(1000000)", "alter table # engine nothing", "alter table # add foreign key (n) references nowhere (id)", "alter table # drop partition p0", "alter table # order by nothing", "alter table # add g int generated always as (nothing)",
	"create trigger x before insert on # for each row set new.nothing = 1", "create trigger x before insert on nowhere for each row set @a = 1", "drop trigger nothing", "alter view # as select 1", "show create view #", "show columns from # where nothing = 1", "show index from # where nothing = 1", "describe # nothing", "analyze table #, nowhere", "check table nowhere",
	"explain select nothing from #", "explain update # set nothing = 1", "explain select * from nowhere", "lock tables nowhere read", "do (select nothing from #)", "set @a = (select nothing from #)", "call #()", "optimize table nowhere", "checksum table nowhere",
	"select * from # where id = 3 and nofunction(name)", "insert into # (id, n) values (3, nofunction(1))", "update # set n = nofunction(1) where id = 3", "insert into # set id = 3, nothing = 4", "insert ignore into # (id, n) values (3, 1)", "insert ignore into # (id, n) values (1, 1), (2, 1), (3, 1), (4, 1)", "insert ignore into #c values (9, 9)", "insert ignore into # (id, n) values (9, 'u_0003')",
	"update ignore # set id = 1 where id = 1", "update ignore # set name = 'longer than ten'", "update ignore # set d = 1000 where id = 3", "delete ignore from #", "delete ignore from # where id = 3", "load data local infile 'x' into table nowhere", "insert into # (id, n) values (9, 1) returning nothing", "delete from # where id = 9 returning nothing",
	"table # order by nothing", "values row(1), row(1, 2)", "select id, g + 18446744073709551615 from #", "select id from # where id in (select id, n from #)", "select -n - 9223372036854775807 - 2 from #", "select abs(-9223372036854775808 - n) from #", "select id div 0 from #", "insert into # (id, n) values (9, 1 / 0)", "update # set n = id / 0", "update # set d = d / 0 where id = 3",
}

// restoreNamed gives a table the rows that it had.
func restoreNamed(t *testing.T, c *mysqltest.RawClient, table string) {
	t.Helper()
	for _, sql := range []string{"DELETE FROM #c", "DELETE FROM #", namesTables[2], namesTables[3]} {
		must(t, c, forTable(sql, table))
	}
}

// proxyName is what no client knows: a physical table, or a name that only the proxy gave.
var proxyName = regexp.MustCompile(`\w*_000\d\w*|\bks_[a-z]+_?\d+`)

// leaked gives the names in a proxy's answer that are neither in the statement nor in one server's answer.
func leaked(sql, want, got string) (names []string) {
	for _, name := range proxyName.FindAllString(got, -1) {
		if !strings.Contains(sql+want, name) {
			names = append(names, name)
		}
	}
	return names
}

// otherFaults are statements on the table with several sub-tables whose error is another one than one server's: each server tells of its first
// row, MySQL folds the sum of two constants, and both name a group's value after a table of their own.
var otherFaults = map[string]bool{
	"insert into u (id, n, name) select id, n, name from u": true, "update u set n = n where name = 17": true, "delete from u where name = 17": true,
	"select -n - 9223372036854775807 - 2 from u": true, "select name, max(n) - 100 from u group by name": true,
	// The place of the syntax error is that in the text of a server.
	"select * from (select 1 from u)": true, "select values(nothing) from #": true, "table # order by nothing": true,
	// EXPLAIN of them is the proxy's own.
	"explain select nothing from #": true, "explain update # set nothing = 1": true,
}

// fault runs a statement and gives its error and what SHOW WARNINGS says of it, row numbers apart, each once.
func fault(t *testing.T, c *mysqltest.RawClient, sql string) (failure string, warnings string, changed bool) {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	failure = "none"
	if r.Err != nil {
		failure = fmt.Sprintf("%d %s %s", r.Err.Code, r.Err.State, r.Err.Message)
	}
	var rows []string
	for _, row := range must(t, c, "SHOW WARNINGS").Rows {
		rows = append(rows, warnedRow.ReplaceAllString(fmt.Sprint(row...), ""))
	}
	slices.Sort(rows)
	return failure, strings.Join(slices.Compact(rows), "\n"), r.OK != nil
}

var warnedRow = regexp.MustCompile(` at row \d+$`)

// TestNamesInErrors compares errors and warnings of a proxy with those of one server, on tables of each kind of place: they have the
// client's names, and values that clients sent stay as they are.
func TestNamesInErrors(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c := namesRig(t, kind)
			cases, refused := 0, 0
			for _, mode := range []string{"strict", "loose"} {
				if mode == "loose" {
					must(t, one, "SET sql_mode = ''")
					must(t, c, "SET sql_mode = ''")
				}
				for _, table := range namedTables {
					for _, form := range namesFaults {
						sql := forTable(form, table)
						if class := sql[:6]; mode == "loose" && class != "insert" && class != "update" && class != "select" {
							continue
						}
						cases++
						want, warned, changed := fault(t, one, sql)
						got, shown, also := fault(t, c, sql)
						if names := leaked(sql, want+warned, got+shown); names != nil {
							t.Errorf("%s %s: %v leak: %s\n%s", mode, sql, names, got, shown)
						}
						switch {
						case strings.HasPrefix(got, "90"):
							refused++
						case otherFaults[form] || otherFaults[sql]:
						case got != want:
							t.Errorf("%s %s: %s\ninstead of %s", mode, sql, got, want)
						case got == "none" && shown != warned:
							t.Errorf("%s %s: warnings\n%s\ninstead of\n%s", mode, sql, shown, warned)
						}
						if changed || also {
							restoreNamed(t, one, table)
							restoreNamed(t, c, table)
						}
					}
				}
			}
			if refused > cases/10 {
				t.Errorf("%d of %d are refused", refused, cases)
			}
		})
	}
}
