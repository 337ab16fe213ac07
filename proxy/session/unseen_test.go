package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/session/state"
)

const unseenSchema = "CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20), age INT, created_at DATETIME)"

var unseenRows = []string{"(1, 'a', 31, '2024-01-01 10:00:00')", "(2, 'b', 30, '2024-05-04 10:00:00')", "(3, 'c', NULL, '2024-08-07')", "(4, 'a', 7, '2023-12-31 23:00:00')", "(5, 'b', 8, NULL)",
	"(6, 'c', 9, '2024-01-07')", "(7, 'a', 1, '2021-01-01')"}

// otherValue gives a value of a variable that is not the one given; false where tests set none: those that need a table or a
// right, or would end the test.
func otherValue(name, value string) (string, bool) {
	switch name {
	case "innodb_ft_user_stopword_table", "group_replication_consistency", "wsrep_sync_wait", "wsrep_dirty_reads", "default_table_encryption",
		"character_set_connection", "transaction_read_only", "autocommit":
		return "", false
	}
	if v, ok := map[string]string{
		"alter_algorithm": "'COPY'", "auto_increment_increment": "2", "auto_increment_offset": "2", "block_encryption_mode": "'aes-256-cbc'", "character_set_client": "latin1", "character_set_filesystem": "latin1",
		"character_set_results": "latin1", "collation_connection": "latin1_bin", "collation_server": "latin1_bin", "completion_type": "'CHAIN'",
		"default_collation_for_utf8mb4": "utf8mb4_general_ci", "default_regex_flags": "'DOTALL'", "default_storage_engine": "MyISAM",
		"default_tmp_storage_engine": "MyISAM", "enforce_storage_engine": "InnoDB", "explain_format": "TRADITIONAL", "lc_messages": "de_DE",
		"lc_time_names": "de_DE", "note_verbosity": "'basic'", "old_alter_table": "1", "old_mode": "''", "sql_mode": "'ANSI_QUOTES'",
		"system_versioning_alter_history": "KEEP", "system_versioning_asof": "'2001-01-01 00:00:00'", "terminology_use_previous": "BEFORE_8_0_26",
		"time_zone": "'+05:00'", "transaction_isolation": "'SERIALIZABLE'", "tx_isolation": "'SERIALIZABLE'", "updatable_views_with_limit": "NO",
		"max_join_size": "1000000", "sql_select_limit": "3", "lock_wait_timeout": "1000", "max_statement_time": "100", "max_execution_time": "100000",
		"explain_json_format_version": "1", "max_points_in_geometry": "100",
	}[name]; ok {
		return v, true
	}
	switch value {
	case "ON", "1":
		return "0", true
	case "OFF", "0":
		return "1", true
	}
	return value + " - 1", true
}

// unseenWay is a way to set a variable where no text shows it by itself. In its statements A is an assignment, Q that in a literal,
// N and V the name and the value, and I a number of its own. Those with a leading ! are prepared by the driver.
type unseenWay struct {
	name     string
	only     mysqltest.Kind
	setup    []string // of what stays
	run      []string
	fallible bool // the servers do not let every variable be set so
}

var unseenWays = []unseenWay{
	{name: "SET", run: []string{"SET A"}},
	{name: "SET @@session . x", run: []string{"SET @@session . /* a */ N = V"}},
	{name: "SET @@ local . `x`", run: []string{"SET @own = 1, @@local\n.`N` := V"}},
	{name: "COM_STMT_PREPARE of SET", run: []string{"!SET A"}},
	{name: "PREPARE", run: []string{"PREPARE u FROM 'SET Q'", "EXECUTE u"}},
	{name: "PREPARE of a variable", run: []string{"SET @text = 'SET Q'", "PREPARE u FROM @text", "EXECUTE u", "DEALLOCATE PREPARE u"}},
	{name: "CALL", setup: []string{"CREATE PROCEDURE u_pI() SET A"}, run: []string{"CALL u_pI()"}, fallible: true},
	{name: "COM_STMT_PREPARE of CALL", run: []string{"!CALL u_pI()"}, fallible: true},
	{name: "CALL of dynamic SQL", setup: []string{"CREATE PROCEDURE u_dI() BEGIN PREPARE d FROM 'SET Q'; EXECUTE d; END"}, run: []string{"CALL u_dI()"}, fallible: true},
	{name: "a function", setup: []string{"CREATE FUNCTION u_fI() RETURNS INT DETERMINISTIC BEGIN SET A; RETURN 1; END"}, run: []string{"SELECT u_fI()"}, fallible: true},
	{name: "COM_STMT_PREPARE of a function", run: []string{"!SELECT u_fI()"}, fallible: true},
	{name: "PREPARE of a function", run: []string{"PREPARE u FROM 'DO u_fI()'", "EXECUTE u"}, fallible: true},
	{
		name: "a trigger", setup: []string{"CREATE TABLE u_tI (a INT PRIMARY KEY)", "CREATE TRIGGER u_gI BEFORE INSERT ON u_tI FOR EACH ROW SET A"},
		run: []string{"REPLACE INTO u_tI VALUES (1)"}, fallible: true,
	},
	{name: "COM_STMT_PREPARE with a trigger", run: []string{"!REPLACE INTO u_tI VALUES (2)"}, fallible: true},
	{name: "EXECUTE IMMEDIATE", only: mysqltest.MariaDB, run: []string{"EXECUTE IMMEDIATE 'SET Q'"}},
	{name: "EXECUTE IMMEDIATE of an expression", only: mysqltest.MariaDB, run: []string{"EXECUTE IMMEDIATE CONCAT('SET Q', '')"}},
	{name: "EXECUTE IMMEDIATE of CALL", only: mysqltest.MariaDB, run: []string{"EXECUTE IMMEDIATE 'CALL u_pI()'"}, fallible: true},
	{name: "EXECUTE IMMEDIATE of a function", only: mysqltest.MariaDB, run: []string{"EXECUTE IMMEDIATE 'SELECT u_fI()'"}, fallible: true},
	{name: "a block", only: mysqltest.MariaDB, run: []string{"BEGIN NOT ATOMIC DECLARE v INT; SET v = 1; IF v THEN SET A; END IF; END"}},
	{name: "a block with an error", only: mysqltest.MariaDB, run: []string{"BEGIN NOT ATOMIC SET A; SIGNAL SQLSTATE '45000'; END"}},
	{name: "COM_STMT_PREPARE of a block", only: mysqltest.MariaDB, run: []string{"!IF 1 THEN SET A; END IF"}},
	{name: "SET STATEMENT", only: mysqltest.MariaDB, run: []string{"SET STATEMENT sort_buffer_size = 100000 FOR SET A"}},
	{name: "SET STATEMENT of the same", only: mysqltest.MariaDB, run: []string{"SET STATEMENT A FOR DO 1"}, fallible: true},
}

// send carries out a statement.
func (w *unseenWay) send(t *testing.T, c *mysqltest.RawClient, text string) (*mysqltest.RawResult, error) {
	text, prepare := strings.CutPrefix(text, "!")
	if !prepare {
		return c.Query(text)
	}
	st, err := c.Prepare(text)
	if err != nil {
		return nil, err
	}
	return st.Execute()
}

// unseenCase is a variable, the value that it is given, and a query over the shards that tells what it is.
type unseenCase struct {
	id                 int
	name, value, probe string
}

func (c *unseenCase) statements(list []string) (all []string) {
	for _, text := range list {
		a := c.name + " = " + c.value
		all = append(all, strings.NewReplacer("SET A", "SET "+a, "STATEMENT A", "STATEMENT "+a, "SET Q", "SET "+strings.ReplaceAll(a, "'", "''"), "N = V", c.name+" = "+c.value,
			"`N` := V", "`"+c.name+"` := "+c.value, "pI(", fmt.Sprintf("p%d(", c.id), "dI(", fmt.Sprintf("d%d(", c.id), "fI(", fmt.Sprintf("f%d(", c.id), "tI ", fmt.Sprintf("t%d ", c.id),
			"gI ", fmt.Sprintf("g%d ", c.id)).Replace(text))
	}
	return all
}

// unseenCases are behaviours that each variable decides, and the value of each.
func unseenCases(t *testing.T, c *mysqltest.RawClient) (list []unseenCase) {
	add := func(name, value, probe string) {
		list = append(list, unseenCase{len(list), name, value, probe})
	}
	for _, v := range [][3]string{
		{"time_zone", "'+05:00'", "SELECT id, FROM_UNIXTIME(id * 1000) FROM users ORDER BY id"},
		{"time_zone", "'-03:30'", "SELECT UNIX_TIMESTAMP(created_at) AS s, COUNT(*) FROM users GROUP BY s ORDER BY s"},
		{"div_precision_increment", "9", "SELECT id, id / 7 FROM users ORDER BY id"},
		{"div_precision_increment", "9", "SELECT AVG(age) FROM users"},
		{"sql_select_limit", "2", "SELECT id FROM users ORDER BY id"},
		{"sql_select_limit", "0", "SELECT id FROM users ORDER BY id"},
		{"sql_select_limit", "1", "SELECT name, COUNT(*) FROM users GROUP BY name ORDER BY name"},
		{"group_concat_max_len", "4", "SELECT name, GROUP_CONCAT(id ORDER BY id) FROM users GROUP BY name ORDER BY name"},
		{"lc_time_names", "'de_DE'", "SELECT id, DATE_FORMAT(created_at, '%W') FROM users ORDER BY id"},
		{"default_week_format", "3", "SELECT id, WEEK(created_at) FROM users ORDER BY id"},
		{"sql_mode", "'PIPES_AS_CONCAT'", "SELECT id || 1 FROM users ORDER BY id"},
		{"sql_mode", "'ANSI_QUOTES'", "SELECT \"name\" FROM users ORDER BY id"},
		{"sql_mode", "'NO_UNSIGNED_SUBTRACTION'", "SELECT CAST(1 AS UNSIGNED) - id FROM users WHERE id < 2 ORDER BY id"},
		{"collation_connection", "'utf8mb4_bin'", "SELECT id, 'a' = 'A' FROM users ORDER BY id"},
		{"block_encryption_mode", "'aes-256-ecb'", "SELECT id, HEX(AES_ENCRYPT(id, 'a')) FROM users ORDER BY id"},
		{"timestamp", "1000000000", "SELECT id, NOW(), UNIX_TIMESTAMP() FROM users ORDER BY id"},
		{"sql_auto_is_null", "1", "SELECT @@sql_auto_is_null, id FROM users ORDER BY id"},
	} {
		if r, err := c.Query("SET " + v[0] + " = " + v[1]); err == nil && r.Err == nil {
			add(v[0], v[1], v[2])
			must(t, c, "SET "+v[0]+" = DEFAULT")
		}
	}
	for _, row := range must(t, c, "SHOW SESSION VARIABLES").Rows {
		name := row[0].(string)
		value, _ := row[1].(string)
		if !slices.Contains(state.AnswerVariables, name) && name != "tx_isolation" {
			continue
		}
		if other, ok := otherValue(name, value); ok {
			add(name, other, "SELECT id, @@"+name+" FROM users ORDER BY id LIMIT 7")
		}
	}
	return list
}

// What is set within other statements, and in routines, triggers and functions, holds wherever the session's statements run.
func TestVariablesSetUnseen(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, unseenSchema)
			for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
				for _, row := range unseenRows {
					must(t, c, "INSERT INTO users VALUES "+row)
				}
			}
			login := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}
			sides := func() [2]*mysqltest.RawClient {
				return [2]*mysqltest.RawClient{dial(t, servers[0].Addr, login), dial(t, s.addr, login)}
			}
			probes, cases := unseenCases(t, dial(t, servers[0].Addr, login)), 0
			clients := sides()
			for _, c := range probes {
				for _, w := range unseenWays {
					for _, sql := range c.statements(w.setup) {
						for _, side := range clients {
							if r, err := side.Query(sql); err != nil || r.Err != nil && !w.fallible {
								t.Fatalf("%s: %v %v", sql, r, err)
							}
						}
					}
				}
			}
			for _, c := range probes {
				differs := false
				fresh := answered(clients[0].Query(c.probe))
				for _, w := range unseenWays {
					if w.only != "" && w.only != kind {
						continue
					}
					pair := sides()
					failed := false
					for _, sql := range c.statements(w.run) {
						want, got := answered(w.send(t, pair[0], sql)), answered(w.send(t, pair[1], sql))
						if got != want {
							t.Errorf("%s: %s gives %s\nnot %s", w.name, sql, got, want)
						}
						failed = failed || strings.HasPrefix(want, "error") && !strings.Contains(sql, "SIGNAL")
					}
					if failed && !w.fallible {
						t.Errorf("%s: %s = %s fails", w.name, c.name, c.value)
					}
					for _, probe := range []string{c.probe, "!" + c.probe} {
						want, got := answered(w.send(t, pair[0], probe)), answered(w.send(t, pair[1], probe))
						if got != want {
							t.Errorf("%s, %s = %s: %s gives %s\nnot %s", w.name, c.name, c.value, probe, got, want)
						}
						differs = differs || want != fresh
						cases++
					}
					pair[0].Close()
					pair[1].Close()
				}
				if !differs && c.name != "sql_mode" {
					t.Errorf("%s = %s changes nothing in %s", c.name, c.value, c.probe)
				}
			}
			t.Logf("%d variables, %d cases", len(probes), cases)
		})
	}
}
