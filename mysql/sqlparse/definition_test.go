package sqlparse

import (
	"fmt"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestDefinitions(t *testing.T) {
	for text, want := range map[string]string{
		"create table if not exists u (a int)":                                         "{1 false false false false false [] [] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"create temporary table u like v":                                              "{1 true false true false false [] [] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"create table u select 1":                                                      "{1 false true false false false [] [] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"create table u (a int constraint one check (a > 1))":                          "{1 false false false false false [] [] [] [{{33 36} one 1 true}] { } false [] {0 0} 0 [] [] [] false false}",
		"alter table u add constraint f foreign key (a) references v (a), rename to w": "{2 false false false false true [] [] [] [{{29 30} f 0 true}] { } false [] {0 0} 0 [] [] [] false false}",
		"alter table u drop column a, change b c int unsigned, rename column d to D":   "{2 false false false false false [{a true 0 { }} {b true 2 { }}] [] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"alter table u modify a text, modify b varbinary(5), modify c date, modify d datetime(3), modify e json, modify f bigint":                                                                      "{2 false false false false false [{a false 3 { }} {b false 4 { }} {c false 5 { }} {d false 5 { }} {e false 0 { }} {f false 1 { }}] [] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"create table u (a char(3) collate UTF8MB4_bin, b varchar(3) character set latin1, c text, d blob) default charset=utf8mb4 collate utf8mb4_general_ci":                                         "{1 false false false false false [] [] [] [] {utf8mb4_general_ci utf8mb4} false [{a {utf8mb4_bin }} {b { latin1}} {c { }}] {0 0} 0 [] [] [] false false}",
		"alter table u convert to character set utf8mb4 collate utf8mb4_bin":                                                                                                                           "{2 false false false false false [] [] [] [] {utf8mb4_bin utf8mb4} true [] {0 0} 0 [] [] [] false false}",
		"alter table u character set utf8mb4, modify a char(3) collate utf8mb4_bin":                                                                                                                    "{2 false false false false false [{a false 3 {utf8mb4_bin }}] [] [] [] { utf8mb4} false [] {0 0} 0 [] [] [] false false}",
		"create table u (a nchar(3), b NATIONAL varchar(3) binary, `C` nvarchar(3) collate utf8mb3_bin, d nchar varying(3) not null, e char(3) binary, f text character set latin1 binary, nchar int)": "{1 false false false false false [] [] [] [] { } false [{a { utf8mb3}} {b {utf8mb3_bin utf8mb3}} {C {utf8_bin utf8mb3}} {d { utf8mb3}} {e {_bin }} {f {latin1_bin latin1}}] {0 0} 0 [] [] [] false false}",
		"alter table u modify a nvarchar(3), change b b national character varying(3), modify c varchar(3) binary":                                                                                     "{2 false false false false false [{a false 3 { utf8mb3}} {b false 3 { utf8mb3}} {c false 3 {_bin }}] [] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"create table u (a int, b int as (a + 1) stored, c timestamp default now() on update now())":                                                                                                   "{1 false false false false false [] [b c] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"alter table u add b int generated always as (a), modify c datetime on update current_timestamp":                                                                                               "{2 false false false false false [{c false 5 { }}] [b c] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"create table u (a int auto_increment primary key) auto_increment=500 engine=innodb":                                                                                                           "{1 false false false false false [] [] [] [] { } false [] {0 0} 500 [] [] [] false false}",
		"alter table u auto_increment = 7, comment 'x'":                                                                                                                                                "{2 false false false false false [] [] [] [] { } false [] {0 0} 7 [] [] [] false false}",
		"create table u (a int references v (a) on delete set default, b int references v (b) on delete cascade, foreign key (c, d) references v (c, d) on update set null)":                           "{1 false false false false false [] [] [a c d] [] { } false [] {0 0} 0 [] [] [] true false}",
		"alter table u add foreign key (a) references v (a) on delete set null, add foreign key (b) references v (b)":                                                                                  "{2 false false false false false [] [] [a] [] { } false [] {0 0} 0 [] [] [] false false}",
		"drop table u": "{3 false false false false false [] [] [] [] { } false [] {11 12} 0 [] [] [] false false}",
		"DROP TEMPORARY TABLES IF EXISTS `a b` . `u` , v CASCADE": "{3 true false false true false [] [] [] [] { } false [] {32 47} 0 [] [] [] false false}",
		"drop view u":                      "{4 false false false false false [] [] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"rename table u to v":              "{5 false false false false true [] [] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"create unique index i on u (a)":   "{6 false false false false false [] [] [] [{{20 21} i 3 true}] { } false [] {0 0} 0 [] [] [] false false}",
		"drop index i on u":                "{7 false false false false false [] [] [] [{{11 12} i 3 false}] { } false [] {0 0} 0 [] [] [] false false}",
		"create view v as select 1 from u": "{8 false false false false false [] [] [] [] { } false [] {0 0} 0 [] [] [] false false}",
		"alter table u add foreign key (a, b) references v (a, b) on update cascade": "{2 false false false false false [] [] [] [] { } false [] {0 0} 0 [] [] [a b] false false}",
		"alter table u truncate partition p, q":                                      "{2 false false false false false [] [] [] [] { } false [] {0 0} 0 [] [] [] false true}",
		"alter table u exchange partition p with table v":                            "{2 false false false false false [] [] [] [] { } false [] {0 0} 0 [] [] [] false true}",
		"alter table u drop partition p":                                             "{2 false false false false false [] [] [] [] { } false [] {0 0} 0 [] [] [] false true}",
		"alter table u discard tablespace":                                           "{2 false false false false false [] [] [] [] { } false [] {0 0} 0 [] [] [] false true}",
	} {
		st, err := Parse(text, mysql8, watchedNames("u"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := withoutColumns(*st.Definition); st.Kind != DDL || got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

// withoutColumns prints a definition but for its columns and UNIQUE keys.
func withoutColumns(d Definition) string {
	d.Makes, d.Uniques = nil, nil
	return fmt.Sprint(d)
}

func TestMaintain(t *testing.T) {
	for text, want := range map[string]string{
		"analyze table u": `.u as "" at "u"; `,
		"OPTIMIZE NO_WRITE_TO_BINLOG TABLES d.u, `v`;":          `d.u as "" at "d.u"; .v as "" at "` + "`v`" + `"; `,
		"repair local table u extended use_frm":                 `.u as "" at "u"; `,
		"check table `u` for upgrade medium":                    `.u as "" at "` + "`u`" + `"; `,
		"checksum table u quick":                                `.u as "" at "u"; `,
		"analyze table u update histogram on v with 10 buckets": `.u as "" at "u"; `,
		"analyze table u persistent for columns (v) indexes ()": `.u as "" at "u"; `,
	} {
		st, err := Parse(text, sqltext.Mode{MariaDB: true}, watchedNames("u"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := show(st); st.Kind != Maintain || got != want {
			t.Errorf("%s: %v %s\nwant %s", text, st.Kind, got, want)
		}
	}
	for _, text := range []string{"check table", "check table u,", "optimize u", "repair table u."} {
		if st, err := Parse(text, mysql8, watchedNames("u")); err == nil {
			t.Errorf("%s was read: %+v", text, st)
		}
	}
}
