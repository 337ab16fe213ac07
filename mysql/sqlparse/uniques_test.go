package sqlparse

import (
	"fmt"
	"testing"
)

func TestUniques(t *testing.T) {
	for text, want := range map[string]string{
		"create table u (a int primary key, b int unique, c char(3) unique key, unique (b, c), unique key k (c(2), `A`), unique index (b), key (b))": "[{ [b] false} { [c] false} { [b c] false} {k [A] true} { [b] false}]",
		"create table u (a int, constraint s unique (a))": "[{s [a] false}]",
		"create table u (a serial)":                       "[{ [a] false}]",
		"alter table u add unique k (a), add column b int unique, modify c int unique, add key (a), drop index k2": "[{k [a] false} { [b] false} { [c] false}]",
		"alter table u add column (b int unique, unique (b, c))":                                                   "[{ [b] false} { [b c] false}]",
		"alter table u add unique f ((a + 1))":                                                                     "[{f [] true}]",
		"create unique index i on u (a, b)":                                                                        "[{i [a b] false}]",
		"create index i on u (a, b)":                                                                               "[]",
	} {
		st, err := Parse(text, mysql8, watchedNames("u"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := fmt.Sprint(st.Definition.Uniques); got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

func TestMadeColumns(t *testing.T) {
	const text = "create table u (a int(11) zerofill, b bigint unsigned, c tinyint(1), d decimal(10,2) unsigned, e numeric, f varchar(20) collate utf8mb4_bin, g char binary, h nchar(3), " +
		"i varbinary(9), j binary, k datetime(3), l date, m year, n timestamp(2), o enum('a','b'), p float, q text, r json, s bool, t time, u serial)"
	const want = "[{a int unsigned true false { }} {b bigint unsigned true false { }} {c tinyint true false { }} {d decimal(10,2) unsigned true false { }} {e decimal(10,0) true false { }} " +
		"{f varchar(20) true true {utf8mb4_bin }} {g char(1) true true {_bin }} {h char(3) true true { utf8mb3}} {i varbinary(9) true false { }} {j binary(1) true false { }} " +
		"{k datetime(3) true false { }} {l date true false { }} {m year true false { }} {n timestamp(2) false false { }} {o enum('a','b') false false { }} {p float false false { }} " +
		"{q text false true { }} {r json false false { }} {s tinyint true false { }} {t time false false { }} {u bigint unsigned true false { }}]"
	st, err := Parse(text, mysql8, watchedNames("u"))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(st.Definition.Makes); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
