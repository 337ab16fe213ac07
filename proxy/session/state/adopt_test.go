package state

import (
	"slices"
	"strings"
	"testing"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
)

// What a SET sets is kept as the server has it, or the connection is; each kind of variable in its way.
func TestAdopt(t *testing.T) {
	session := map[string]string{
		"@@session.character_set_client": "gbk", "@@session.character_set_results": "NULL", "@@session.collation_connection": "gbk_chinese_ci",
		"@@session.autocommit": "0", "@@session.sql_mode": "ANSI_QUOTES", "@@session.time_zone": "+01:00", "@@session.max_execution_time": "100",
		"@@session.transaction_isolation": "READ-COMMITTED", "@@session.collation_server": "utf8mb4_bin", "@@session.init_connect": "a'b",
		"@@session.lc_messages": "a'b", "@@session.timestamp": "5.000000", "@@session.foreign_key_checks": "1", "@@session.character_set_filesystem": "binary",
		"@@session.div_precision_increment": "4",
	}
	for _, c := range []struct {
		text  string
		want  string // what is kept, by name
		bound Bound
		asked int // questions
	}{
		{"SET NAMES gbk", "character_set_client='gbk' character_set_results=NULL collation_connection='gbk_chinese_ci'", 0, 1},
		{"SET CHARACTER SET gbk", "character_set_client='gbk' collation_connection='gbk_chinese_ci'", 0, 1},
		{"SET character_set_results = NULL", "character_set_results=NULL", 0, 1},
		{"SET autocommit = 1 - 1", "autocommit=0", 0, 1},
		{"SET sql_mode = concat('ANSI', '_QUOTES')", "sql_mode='ANSI_QUOTES'", 0, 1},
		{"SET time_zone = '+01:00', max_execution_time = 100", "time_zone='+01:00' max_execution_time=100", 0, 1},
		{"SET SESSION transaction_isolation = 'READ-COMMITTED'", "transaction_isolation='READ-COMMITTED'", 0, 1},
		{"SET SESSION tx_isolation = 'READ-COMMITTED'", "transaction_isolation='READ-COMMITTED'", 0, 1},
		{"SET character_set_server = utf8mb4", "collation_server='utf8mb4_bin'", 0, 1},
		{"SET character_set_filesystem = binary", "character_set_filesystem='binary'", 0, 1},
		{"SET div_precision_increment = DEFAULT", "div_precision_increment=", 0, 0},
		{"SET foreign_key_checks = DEFAULT", "foreign_key_checks=1", 0, 1},
		{"SET timestamp = 5", "timestamp=5.000000", 0, 2},
		{"SET timestamp = 5, time_zone = '+01:00'", "timestamp=5.000000 time_zone='+01:00'", 0, 3},
		{"SET no_such = 1", "no_such=", BoundVariable, 1},
		{"SET init_connect = 'x'", "init_connect=", BoundVariable, 1},
		{"SET character_set_database = gbk", "character_set_database=", BoundVariable, 0},
		{"SET profiling = 1", "profiling=", BoundVariable, 0},
		{"SET insert_id = 7", "insert_id=", BoundInsertID, 0},
		{"SET rand_seed1 = 7", "rand_seed1=", BoundRandSeed, 0},
		{"SET ROLE admin", "", BoundVariable, 0},
		{"SET TRANSACTION READ ONLY", "transaction_read_only=", BoundNextTransaction, 0},
		{"SET @a = 1, @B = 'x', @c = NULL", "@`a`=1 @`b`='x' @`c`=", 0, 0},
		{"SET @a = 1 + 1", "@`a`=", BoundUserVariable, 0},
		{"SET @a = 1 + 1, @b = 1", "@`a`= @`b`=", BoundUserVariable, 0},
		{"SET @b = 1, @a = 1 + 1", "@`a`= @`b`=1", BoundUserVariable, 0},
		{`SET @a = 'it''s'`, "@`a`=", BoundUserVariable, 0},
		{"SET @`é` = 1", "@`é`=", BoundUserVariable, 0},
		{"SET @a = '" + strings.Repeat("x", literalMax) + "'", "@`a`=", BoundUserVariable, 0},
		{"SET @a = 1, autocommit = 0, insert_id = 3", "@`a`=1 autocommit=0", BoundInsertID, 1},
	} {
		conn, server := connect(t, mysql84, session)
		st := resolved(mysql84)
		bound, err := st.Adopt(conn, assignments(t, c.text), false)
		if err != nil || bound != c.bound {
			t.Errorf("%s: bound %b, %v", c.text, bound, err)
		}
		for _, one := range strings.Fields(c.want) {
			if name, want, _ := strings.Cut(one, "="); st.Value(name) != want {
				t.Errorf("%s: %s is %s, want %s", c.text, name, st.Value(name), want)
			}
		}
		if asked := server.questions(); len(asked) != c.asked {
			t.Errorf("%s asks %q", c.text, asked)
		}
		if st.Autocommit != (st.Value("autocommit") == "1") || st.Mode.ANSIQuotes != (st.Value("sql_mode") == "'ANSI_QUOTES'") ||
			st.Mode.Charset == sqltext.GBK != (st.Value("character_set_client") == "'gbk'") {
			t.Errorf("%s: %+v", c.text, st.Mode)
		}
		if st.HeldVariable != "" {
			t.Errorf("%s: %s is on its connection alone", c.text, st.HeldVariable)
		}
	}
	conn, _ := connect(t, mysql84, session)
	st := resolved(mysql84)
	if bound, err := st.Adopt(conn, assignments(t, "SET lc_messages = 'x'"), false); err != nil || bound != BoundVariable || st.HeldVariable != "lc_messages" {
		t.Errorf("a variable that changes answers, and that no text carries: %b %v %q", bound, err, st.HeldVariable)
	}
	if bound, err := st.Adopt(conn, assignments(t, "SET @a = 1"), true); err != nil || bound != 0 || st.Value("@`a`") != "" {
		t.Errorf("a user variable is kept where the connection has others: %b %v", bound, err)
	}
	if _, err := st.Adopt(conn, assignments(t, "SET last_insert_id = 5"), false); err != nil || !st.InsertID.Doubtful() {
		t.Errorf("LAST_INSERT_ID() is not in doubt behind a SET of it: %v", err)
	}
	conn.Close()
	if _, err := st.Adopt(conn, assignments(t, "SET autocommit = 1"), false); err == nil {
		t.Error("the connection's failure is not told")
	}
}

// A clock that goes on is no timestamp that was set.
func TestTimestampGoesOn(t *testing.T) {
	conn, _ := connect(t, mysql84, map[string]string{"@@session.timestamp": "now"})
	st := resolved(mysql84)
	st.Set("timestamp", "5")
	if err := st.ReadTimestamp(conn); err != nil || st.Value("timestamp") != "" {
		t.Errorf("%q, %v", st.Value("timestamp"), err)
	}
}

// A SET whose effects nobody sees leaves what its text says.
func TestBoundUnseen(t *testing.T) {
	for text, want := range map[string]Bound{
		"SET autocommit = 1, NAMES utf8": 0, "SET @a = 1": BoundUserVariable, "SET TRANSACTION READ ONLY": BoundNextTransaction, "SET insert_id = 1": BoundInsertID,
		"SET rand_seed2 = 1, @a = 1": BoundRandSeed | BoundUserVariable, "SET = 1": BoundUserVariable,
	} {
		if got := BoundUnseen(text, sqltext.Mode{}); got != want {
			t.Errorf("%s: %b, want %b", text, got, want)
		}
	}
}

// Behind what may have set variables unseen, those that differ from a new session's are kept, and those that were set before.
func TestLearn(t *testing.T) {
	rows := map[string]string{"@@session.timestamp": "now"}
	for _, name := range AnswerVariables {
		rows["@@session."+name], rows["@@global."+name] = "0", "0"
	}
	rows["@@session.autocommit"], rows["@@global.autocommit"] = "0", "1"
	rows["@@session.sql_mode"], rows["@@global.sql_mode"] = "ANSI_QUOTES", "ANSI_QUOTES"
	rows["@@session.lc_time_names"] = "de_DE"
	delete(rows, "@@session.wsrep_sync_wait")
	rows["FOUND_ROWS()"] = "3"
	conn, server := connect(t, mysql84, rows)
	instance := new(backend.Instance)
	st := resolved(mysql84)
	st.Set("div_precision_increment", "7")
	st.Found.doubt = true
	bound, err := st.Learn(conn, instance)
	if err != nil || bound != 0 {
		t.Fatalf("%b, %v", bound, err)
	}
	for name, want := range map[string]string{"autocommit": "0", "sql_mode": "'ANSI_QUOTES'", "lc_time_names": "'de_DE'", "div_precision_increment": "0", "unique_checks": ""} {
		if st.Value(name) != want {
			t.Errorf("%s is %s, want %s", name, st.Value(name), want)
		}
	}
	if st.Autocommit || !st.Mode.ANSIQuotes || st.Found.Rows() != 3 {
		t.Errorf("%+v", st)
	}
	if asked := server.questions(); asked[0] != "SELECT FOUND_ROWS() LIMIT 1" {
		t.Errorf("FOUND_ROWS() is asked for behind %q", asked[0])
	}
	server.set("@@session.lc_messages", "a'b")
	if bound, err = st.Learn(conn, instance); err != nil || bound != BoundVariable || st.HeldVariable != "lc_messages" {
		t.Errorf("%b, %v, %q", bound, err, st.HeldVariable)
	}
	if asked := server.questions(); slices.ContainsFunc(asked, func(q string) bool { return strings.Contains(q, "wsrep_sync_wait") }) {
		t.Error("a variable that the server has not is asked for again")
	}
}
