package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// planDump has definitions of tables of planConfig.
const planDump = `-- MySQL dump 10.13  Distrib 8.0.36
--
-- Host: localhost    Database: shop
-- ------------------------------------------------------
-- Server version	8.0.36
CREATE TABLE ` + "`users` (`id` bigint NOT NULL, `name` varchar(40) DEFAULT NULL, `age` int DEFAULT NULL, PRIMARY KEY (`id`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci" + `;
INSERT INTO users VALUES (1,'a',2);
CREATE TABLE ` + "`orders` (`id` bigint NOT NULL AUTO_INCREMENT, `user_id` bigint NOT NULL, `amount` decimal(10,2) DEFAULT NULL, PRIMARY KEY (`id`), KEY `u` (`user_id`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4" + `;
CREATE TABLE ` + "`events` (`day` date NOT NULL, `user_id` bigint DEFAULT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4" + `;
`

// planFiles are the configuration, the dump, and others by their names.
func planFiles(t *testing.T, others map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files := map[string]string{"ks.yaml": planConfig, "dump.sql": planDump}
	for name, text := range others {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// inDir puts a directory in the place of @.
func inDir(dir string, args []string) (out []string) {
	for _, a := range args {
		out = append(out, strings.ReplaceAll(a, "@", dir+"/"))
	}
	return out
}

func TestExplainWithDump(t *testing.T) {
	dir := planFiles(t, map[string]string{
		"other.sql": "-- Server version\t8.0.36\nUSE `other`;\nCREATE TABLE a (b INT);", "sub.sql": "-- Server version\t8.0.36\nCREATE TABLE users_0000 (id bigint NOT NULL, name varchar(40)) DEFAULT CHARSET=utf8mb4;",
	})
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"an order", []string{"-schema", "@dump.sql", "SELECT * FROM users WHERE id IN (1,2) ORDER BY name LIMIT 3"}, 0, "plan    merge\n"},
		{"without", []string{"SELECT * FROM users WHERE id IN (1,2) ORDER BY name LIMIT 3"}, 1, "plan    refuse\nreason  ORDER BY an expression whose type is not known: the columns of users are not known\n"},
		{"a join", []string{"-schema", "@dump.sql", "SELECT u.name, e.day FROM users u JOIN events e ON e.user_id = u.id"}, 0, "plan    gather\n"},
		{"of a table that no dump has", []string{"-schema", "@dump.sql", "SELECT * FROM places ORDER BY city"}, 1, "plan    refuse\nreason  ORDER BY an expression whose type is not known: the columns of places are not known; a condition"},
		{"of a sub-table", []string{"-schema", "@sub.sql", "-db", "shop", "SELECT * FROM users ORDER BY name"}, 0, "plan    merge\n"},
		{"several dumps", []string{"-schema", "@other.sql", "-schema", "@dump.sql", "SELECT * FROM users ORDER BY name"}, 0, "plan    merge\n"},
		{"JSON", []string{"-json", "-schema", "@dump.sql", "SELECT * FROM users WHERE id = 1"}, 0,
			"[\n  {\n    \"plan\": \"forward\",\n    \"node\": \"node2\",\n    \"shards\": [\n      \"shop.users_0001\"\n    ],\n    \"sql\": \"SELECT * FROM `users_0001` AS `users` WHERE id = 1\"\n  }\n]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, code := capture(t, inDir(dir, append([]string{"explain", "-config", "@ks.yaml", "-u", "app"}, c.args...))...)
			if code != c.code || !strings.HasPrefix(got, c.want) {
				t.Errorf("exit code %d, want %d\n%swant\n%s", code, c.code, got, c.want)
			}
		})
	}
}

const slowLog = `/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:
Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock
Time                 Id Command    Argument
# Time: 2024-03-01T10:20:30.000000Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 0.001000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1
use shop;
SET timestamp=1709288430;
SELECT name FROM users WHERE id IN (5);
# Time: 2024-03-01T10:20:30.000000Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 2.000000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1
SET timestamp=1709288430;
SELECT name FROM users WHERE id IN (1, 2, 3);
# Time: 2024-03-01T10:20:30.000000Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 0.500000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1
SET timestamp=1709288430;
SELECT u.name, e.day
  FROM users u JOIN events e ON e.user_id = u.id
 WHERE e.day > '2026-01-01';
# Time: 2024-03-01T10:20:30.000000Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 0.250000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1
SET timestamp=1709288430;
UPDATE users SET age = 1 WHERE name = 'secret';
# Time: 2024-03-01T10:20:30.000000Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 0.250000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1
SET timestamp=1709288430;
INSERT INTO users (name) VALUES ('secret');
# Time: 2024-03-01T10:20:30.000000Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 0.250000  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1
SET timestamp=1709288430;
FROB users 'secret';
# Time: 2024-03-01T10:20:30.000000Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 0.000010  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1709288430;
BEGIN;
# Time: 2024-03-01T10:20:30.000000Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 0.000010  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1709288430;
# administrator command: Quit;
# Time: 2024-03-01T10:20:30.000000Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 0.000010  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
use other;
SET timestamp=1709288430;
SELECT name FROM users WHERE id IN (5);
`

const slowReport = `slow.log: slow log of MySQL 8.0.36, 8 statements of 7 digests; columns from dumps
2024-03-01 10:20:30 UTC

REFUSED: an error of the proxy, before anything is sent

     COUNT   SHARE    TIME s  MAX s  STATEMENT
         1   12.5%     0.250  0.250  [shop] INSERT INTO users (name) VALUES (?)
                                       - insert or replace not contain sharding key: give a value for column
                                         id of users
                                       - first at line 31

UNREADABLE: they name a table with a rule, and the proxy cannot read them

     COUNT   SHARE    TIME s  MAX s  STATEMENT
         1   12.5%     0.250  0.250  [shop] FROB users ?
                                       - syntax that the proxy cannot read: near FROB users ?
                                       - first at line 36

FINISHED: rows or groups are collected in temporary tables, and a server runs the rest

     COUNT   SHARE    TIME s  MAX s  STATEMENT
         1   12.5%     0.500  0.500  [shop] SELECT u.name, e.day FROM users u JOIN events e ON e.user_id =
                                     u.id WHERE e.day > ?
                                       - users and events are not joined on their sharding keys
                                       - collects u (2 columns, the rows that others meet), e (2 columns, the
                                         rows that meet 1 condition)
                                       - what helps: e.user_id = u.id: with events beside users (key: user_id,
                                         colocate_with: users) each shard would answer for its own rows; or
                                         with users or events as a reference table, if it is small

SEVERAL NODES: changes on several nodes: transaction_mode says whether all keep them or none

     COUNT   SHARE    TIME s  MAX s  STATEMENT
         1   12.5%     0.250  0.250  [shop] UPDATE users SET age = ? WHERE name = ?
                                       - all 2 shards of 2 nodes
                                       - what helps: a condition id = … would ask one shard

MERGED: several shards are asked, and their rows merged as they come

     COUNT   SHARE    TIME s  MAX s  STATEMENT
         1   12.5%     2.000  2.000  [shop] SELECT name FROM users WHERE id IN (?)
                                       - all 2 shards
                                       - of 2 in all; the others: 1 one shard

ONE SHARD: forwarded to one server as they are, with the names of sub-tables

     COUNT   SHARE    TIME s  MAX s  STATEMENT
         1   12.5%     0.001  0.001  [shop] SELECT name FROM users WHERE id IN (?)
                                       - of 2 in all; the others: 1 merged (all 2 shards)

UNSHARDED: no table with a rule: forwarded to the default node as they are

     COUNT   SHARE    TIME s  MAX s  STATEMENT
         1   12.5%     0.000  0.000  [other] SELECT name FROM users WHERE id IN (?)

SESSION: settings, transactions and the like, which the proxy keeps for its client

     COUNT   SHARE    TIME s  MAX s  STATEMENT
         1   12.5%     0.000  0.000  [shop] BEGIN

CLASS               STATEMENTS    SHARE   DIGESTS     TIME s    SHARE     MAX s
refused                      1    12.5%         1      0.250     7.7%     0.250
unreadable                   1    12.5%         1      0.250     7.7%     0.250
finished                     1    12.5%         1      0.500    15.4%     0.500
several nodes                1    12.5%         1      0.250     7.7%     0.250
merged                       1    12.5%         1      2.000    61.5%     2.000
one shard                    1    12.5%         1      0.001    <0.1%     0.001
unsharded                    1    12.5%         1      0.000    <0.1%     0.000
session                      1    12.5%         1      0.000    <0.1%     0.000
all                          8   100.0%         7      3.251   100.0%     2.000

not shown: 1 command without a statement
`

// The report has the digests by class and count, and the sums, no value of a statement, and fits a terminal.
func TestExplainLog(t *testing.T) {
	const general = "2024-03-01T10:20:30.123456Z\t    8 Connect\troot@localhost on shop using Socket\n" +
		"2024-03-01T10:20:30.123456Z\t    8 Query\tSELECT name FROM users\n  ORDER BY name\n" +
		"2024-03-01T10:20:30.123456Z\t    8 Prepare\tSELECT name FROM users WHERE id = ?\n" +
		"2024-03-01T10:20:30.123456Z\t    8 Execute\tSELECT name FROM users WHERE id = 7\n" +
		"2024-03-01T10:20:30.123456Z\t    8 Query\tSET GLOBAL max_connections = 5; SELECT 1; SET @x = (SELECT MAX(id) FROM users)\n" +
		"2024-03-01T10:20:30.123456Z\t    8 Quit\t\n"
	dir := planFiles(t, map[string]string{"slow.log": slowLog, "general.log": general})
	t.Chdir(dir)
	out, code := capture(t, "explain", "-config", "ks.yaml", "-u", "app", "-schema", "dump.sql", "-log", "slow.log")
	if code != 0 || out != slowReport {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for _, line := range strings.Split(out, "\n") {
		if n := utf8.RuneCountInString(line); n > reportWidth {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	out, code = capture(t, "explain", "-config", "ks.yaml", "-u", "app", "-schema", "dump.sql", "-log", "general.log", "-json")
	var rep jsonReport
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 {
		t.Fatal(err, code)
	}
	var got []string
	for _, d := range rep.Digests {
		got = append(got, fmt.Sprintf("%s|%s|%s|%d|%s", d.Class, d.DB, d.Statement, d.Statements, d.Shards))
	}
	want := []string{
		"finished|shop|SET @x = (SELECT MAX(id) FROM users)|1|collects users (1 column of all rows)", "merged|shop|SELECT name FROM users ORDER BY name|1|all 2 shards", "one shard|shop|SELECT name FROM users WHERE id = ?|1|",
		"unsharded|shop|SELECT ?|1|", "administration|shop|SET GLOBAL max_connections = ?|1|",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || rep.Log != "general" || rep.Seconds != nil || rep.Statements != 5 || rep.Prepared != 1 || rep.Commands != 2 || rep.Columns != "dumps" ||
		rep.First != "2024-03-01T10:20:30.123456Z" || rep.Last != rep.First || strings.Join(rep.Digests[0].Tables, ", ") != "users" || rep.Digests[3].Tables != nil {
		t.Errorf("%+v\n%s\nwant\n%s", rep, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A log comes by standard input, and of each class so many digests are shown.
func TestExplainLogTop(t *testing.T) {
	dir := planFiles(t, nil)
	var log strings.Builder
	for k := range 5 {
		for range k + 1 {
			fmt.Fprintf(&log, "2024-03-01T10:20:30.123456Z\t    8 Query\tSELECT c%d FROM t\n", k)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = stdin; _ = r.Close() }()
	go func() { _, _ = io.WriteString(w, log.String()); _ = w.Close() }()
	out, code := capture(t, inDir(dir, []string{"explain", "-config", "@ks.yaml", "-u", "app", "-top", "2", "-log", "-"})...)
	for _, want := range []string{"standard input: general log, 15 statements of 5 digests", "-schema or -servers tells them", "SELECT c4 FROM t", "SELECT c3 FROM t", "         6   40.0%  and 3 digests more"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, no %q in\n%s", code, want, out)
		}
	}
	if strings.Contains(out, "c2 FROM") {
		t.Errorf("more than two\n%s", out)
	}
}

// What is beyond the bounds is counted all the same.
func TestExplainLogBounds(t *testing.T) {
	dir := planFiles(t, nil)
	file, err := os.Create(filepath.Join(dir, "general.log"))
	if err != nil {
		t.Fatal(err)
	}
	for k := range digestsMax + 10 {
		fmt.Fprintf(file, "2024-03-01T10:20:30.123456Z\t    8 Query\tSELECT c%d FROM t\n", k)
	}
	fmt.Fprintf(file, "2024-03-01T10:20:30.123456Z\t    8 Query\tSELECT '%s' FROM users\n", strings.Repeat("x", statementMax))
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	out, code := capture(t, inDir(dir, []string{"explain", "-config", "@ks.yaml", "-u", "app", "-json", "-log", "@general.log"})...)
	var rep jsonReport
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 {
		t.Fatal(err, code)
	}
	if rep.Statements != digestsMax+11 || rep.Beyond != 11 || len(rep.Digests) != digestsMax || rep.Classes[0].Class != "too long" || rep.Classes[0].Statements != 1 {
		t.Errorf("%d statements, %d beyond, %d digests, %+v", rep.Statements, rep.Beyond, len(rep.Digests), rep.Classes)
	}
}

func TestExplainErrors(t *testing.T) {
	dir := planFiles(t, map[string]string{
		"empty": "", "binary": "\x00\x01\x02", "page.html": "<html>\n", "other.sql": "-- Server version\t8.0.36\nUSE other;\nCREATE TABLE a (b INT);",
		"started.log": "/usr/sbin/mysqld, Version: 8.0.36 (MySQL). started with:\nTcp port: 3306  Unix socket: x\nTime                 Id Command    Argument\n",
		"dead.yaml":   strings.ReplaceAll(planConfig, "192.0.2.1:3306", "127.0.0.1:1"),
		"quit.log":    "2024-03-01T10:20:30.123456Z\t    8 Quit\t\n",
	})
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-schema", "@none.sql", "SELECT 1"}, 1, "no such file"},
		{[]string{"-schema", "@empty", "SELECT 1"}, 1, "empty: it is empty"},
		{[]string{"-schema", "@binary", "SELECT 1"}, 1, "binary: it is no text"},
		{[]string{"-schema", "@page.html", "SELECT 1"}, 1, `this is no SQL: "<html>"`},
		{[]string{"-schema", "@other.sql", "SELECT 1"}, 1, "the dumps have none of the tables with a rule (shop.countries, shop.events, shop.orders, shop.places, shop.users); they have other.a. -db names"},
		{[]string{"-schema", "@dump.sql", "-servers", "SELECT 1"}, 2, "-schema or -servers"},
		{[]string{"-config", "@dead.yaml", "-servers", "SELECT 1"}, 1, "127.0.0.1:1 of node node1: "},
		{[]string{"-log", "@none.log"}, 1, "no such file"},
		{[]string{"-log", "@empty"}, 1, "empty: it is empty"},
		{[]string{"-log", "@binary"}, 1, "binary: it is no text"},
		{[]string{"-log", "@dump.sql"}, 1, "neither a slow log nor a general log"},
		{[]string{"-log", "@started.log"}, 1, "no statement of a client is in it"},
		{[]string{"-log", "@quit.log"}, 1, "no statement of a client is in it"},
		{[]string{"-log", "@quit.log", "SELECT 1"}, 2, "a statement or -log"},
		{[]string{"-log", "@quit.log", "-top", "-1"}, 2, "-top"},
		{[]string{"-log", "@quit.log", "-html", "-json"}, 2, "-json or -html"},
		{[]string{"-html", "SELECT 1"}, 2, "-log names it"},
		{[]string{"-log", "@quit.log", "-html"}, 1, "no statement of a client is in it"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			stderr := os.Stderr
			os.Stderr = w
			out, code := capture(t, inDir(dir, append([]string{"explain", "-config", "@ks.yaml", "-u", "app"}, c.args...))...)
			os.Stderr = stderr
			_ = w.Close()
			said, _ := io.ReadAll(r)
			if code != c.code || out != "" || !strings.Contains(string(said), c.want) {
				t.Errorf("exit code %d, want %d; printed %q and said %q, want %q", code, c.code, out, said, c.want)
			}
		})
	}
}
