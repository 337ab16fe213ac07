package session_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
)

// startProxy runs a proxy in front of one server with a pool of conns connections and gives its address. more is added
// to the configuration.
func startProxy(t testing.TB, server *mysqltest.RealServer, conns int, more ...string) string {
	t.Helper()
	return startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
pool_wait_timeout: 5s
user_list:
  - {user: root, password: root}
  - {user: mysql_native_password, password: secret, auth_plugin: mysql_native_password}
  - {user: caching_sha2_password, password: secret, auth_plugin: caching_sha2_password}
  - {user: client_ed25519, password: secret, auth_plugin: client_ed25519}
nodes: [{name: n, max_conns_limit: %d, user: root, password: root, master: "%s"}]
schema_list:
  - {user: root, nodes: [n], default: n}
  - {user: mysql_native_password, nodes: [n], default: n}
  - {user: caching_sha2_password, nodes: [n], default: n}
  - {user: client_ed25519, nodes: [n], default: n}
`, conns, server.Addr)+strings.Join(more, ""))
}

// startProxyText runs a proxy on a configuration.
func startProxyText(t testing.TB, text string) string { return startProxyLog(t, text, io.Discard) }

// startProxyLog runs a proxy that logs all it can.
func startProxyLog(t testing.TB, text string, log io.Writer) string {
	t.Helper()
	cfg, faults := config.Parse([]byte(text), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	p, err := proxy.New(cfg, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return p.Addr().String()
}

// block is what one client does without the other coming in between: it ends with nothing held on the backend.
type block []string

// blocks makes a random program of session state.
func blocks(r *rand.Rand, n int) []block {
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	makers := []func() block{
		func() block {
			return block{"SET sql_mode = " + pick("''", "'ANSI_QUOTES'", "'NO_BACKSLASH_ESCAPES'", "'STRICT_TRANS_TABLES,PIPES_AS_CONCAT'", "DEFAULT"), "SELECT @@sql_mode"}
		},
		func() block { return block{"SELECT 'a\\nb', 'a' || 'b', @@sql_mode"} },
		func() block {
			return block{"SET NAMES " + pick("latin1", "utf8mb4", "utf8mb4 COLLATE utf8mb4_bin", "cp1250"), "SELECT @@character_set_client, @@character_set_results, @@collation_connection, 'e' = 'E'"}
		},
		func() block {
			return block{fmt.Sprintf("SET @v = %d, @w = 'text %d'", r.IntN(100), r.IntN(100)), "SELECT @v, @w, @never"}
		},
		func() block { return block{"SELECT @v, @w"} },
		func() block {
			return block{fmt.Sprintf("SET SESSION group_concat_max_len = %d", 100+r.IntN(1000)), "SELECT @@group_concat_max_len, @@session.sql_select_limit"}
		},
		func() block {
			return block{"SET @@session.sql_select_limit = " + pick("1", "2", "DEFAULT"), "SELECT v FROM t ORDER BY id"}
		},
		func() block {
			return block{"SET time_zone = " + pick("'+01:00'", "'-05:30'", "DEFAULT"), "SELECT @@time_zone"}
		},
		func() block {
			return block{"SET foreign_key_checks = " + pick("0", "1") + ", unique_checks = 0", "SELECT @@foreign_key_checks, @@unique_checks"}
		},
		func() block {
			return block{"USE " + pick("ks_state_1", "ks_state_2"), "SELECT DATABASE()", "SELECT COUNT(*) FROM t"}
		},
		func() block {
			return block{fmt.Sprintf("INSERT INTO t (v) VALUES ('%d'), ('%d')", r.IntN(9), r.IntN(9)), "SELECT ROW_COUNT(), LAST_INSERT_ID()"}
		},
		func() block { return block{"SELECT LAST_INSERT_ID()", "SELECT LAST_INSERT_ID() + 1 AS n, @@identity"} },
		func() block {
			return block{fmt.Sprintf("UPDATE t SET v = 'u' WHERE id <= %d", r.IntN(4)), "SELECT ROW_COUNT()"}
		},
		func() block {
			return block{pick("BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT"), "INSERT INTO t (v) VALUES ('tx')", "SAVEPOINT s", "DELETE FROM t", "ROLLBACK TO s", "SELECT COUNT(*), @@autocommit FROM t", pick("COMMIT", "ROLLBACK"), "SELECT COUNT(*) FROM t"}
		},
		func() block { return block{"START TRANSACTION READ ONLY", "INSERT INTO t (v) VALUES ('no')", "COMMIT"} },
		func() block {
			return block{"SET autocommit = 0", "INSERT INTO t (v) VALUES ('ac')", pick("COMMIT", "ROLLBACK"), "SELECT @@autocommit", "SET autocommit = 1", "SELECT COUNT(*) FROM t"}
		},
		func() block {
			return block{"SET SESSION TRANSACTION ISOLATION LEVEL " + pick("READ COMMITTED", "SERIALIZABLE", "REPEATABLE READ")}
		},
		func() block { return block{"SELECT CAST('x1' AS SIGNED)", "SHOW WARNINGS"} },
		func() block { return block{"SELECT CAST('y' AS SIGNED)", "SHOW COUNT(*) WARNINGS"} },
		func() block { return block{"SELECT * FROM missing_table", "SHOW ERRORS"} },
		func() block { return block{"SELEC 1"} },
		func() block { return block{"SET no_such_variable = 1"} },
		func() block { return block{"SELECT id FROM t LIMIT 2", "SELECT FOUND_ROWS()"} },
		func() block {
			return block{"SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 1", "SELECT FOUND_ROWS()", "SELECT 1"}
		},
		func() block { return block{"prepared"} },
	}
	program := make([]block, n)
	for k := range program {
		program[k] = makers[r.IntN(len(makers))]()
	}
	return program
}

// player is one client under test.
type player struct {
	conn *sql.Conn
	stmt *sql.Stmt
}

// play runs the program, each block by the client that turns names, and gives what the clients saw.
func play(t *testing.T, dsn string, program []block, turns []int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	players := make([]player, 2)
	for k := range players {
		if players[k].conn, err = db.Conn(ctx); err != nil {
			t.Fatal(err)
		}
		defer players[k].conn.Close()
		if players[k].stmt, err = players[k].conn.PrepareContext(ctx, "SELECT COUNT(*), ?, @@sql_mode FROM t WHERE id > ?"); err != nil {
			t.Fatal(err)
		}
	}
	var seen []string
	for k, b := range program {
		for _, text := range b {
			seen = append(seen, fmt.Sprintf("%d: %s -> %s", turns[k], text, players[turns[k]].run(ctx, text, k)))
		}
	}
	return seen
}

// run executes one statement and writes down everything that came back.
func (p player) run(ctx context.Context, text string, k int) string {
	var rows *sql.Rows
	var err error
	if text == "prepared" {
		rows, err = p.stmt.QueryContext(ctx, k, k%3)
	} else {
		rows, err = p.conn.QueryContext(ctx, text)
	}
	if err != nil {
		return describeError(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	out := []string{strings.Join(columns, ",")}
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for c := range values {
			into[c] = &values[c]
		}
		if err := rows.Scan(into...); err != nil {
			return err.Error()
		}
		out = append(out, fmt.Sprint(values))
	}
	if rows.Err() != nil {
		out = append(out, describeError(rows.Err()))
	}
	return strings.Join(out, " | ")
}

func describeError(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("error %d %s", e.Number, e.Message)
	}
	return "broken: " + err.Error()
}

// TestTwoClientsOnOneConnection runs random programs of state changes by two clients that share one backend connection,
// and by two clients with a connection each straight to the server: what they see must be the same.
func TestTwoClientsOnOneConnection(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			server := mysqltest.Shared(t, kind)
			addr := startProxy(t, server, 1)
			for seed := range uint64(15) {
				r := rand.New(rand.NewPCG(seed, 1))
				program := blocks(r, 60)
				turns := make([]int, len(program))
				for k := range turns {
					turns[k] = r.IntN(2)
				}
				resetTables(t, server)
				want := play(t, server.DSN("ks_state_1"), program, turns)
				resetTables(t, server)
				got := play(t, strings.Replace(server.DSN("ks_state_1"), server.Addr, addr, 1), program, turns)
				for k := range want {
					if got[k] != want[k] {
						t.Fatalf("seed %d, step %d:\n proxy  %s\n server %s\nbefore:\n %s", seed, k, got[k], want[k], strings.Join(want[max(0, k-12):k], "\n "))
					}
				}
			}
		})
	}
}

func resetTables(t *testing.T, server *mysqltest.RealServer) {
	t.Helper()
	db, err := server.DB("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, name := range []string{"ks_state_1", "ks_state_2"} {
		for _, text := range []string{
			"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name,
			"CREATE TABLE " + name + ".t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20))", "INSERT INTO " + name + ".t (v) VALUES ('a'), ('b'), ('c')",
		} {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
	}
}
