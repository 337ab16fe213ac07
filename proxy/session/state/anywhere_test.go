package state

import (
	"strings"
	"testing"

	"kingshard/backend"
	"kingshard/config"
)

// A SET that any server judges alike does not wait for one in particular.
func TestJudgedAnywhere(t *testing.T) {
	for text, want := range map[string]string{
		"SET NAMES utf8mb4":                      "default_collation_for_utf8mb4 character_set_collations",
		"SET NAMES utf8mb4 COLLATE utf8mb4_bin":  "",
		"SET character_set_results = NULL":       "default_collation_for_utf8mb4 character_set_collations",
		"SET tx_isolation = 'SERIALIZABLE'":      "transaction_isolation tx_isolation",
		"SET SESSION transaction_read_only = 1":  "transaction_read_only tx_read_only",
		"SET sql_mode = 'ANSI'":                  "sql_mode",
		"SET sql_mode = CONCAT(@@sql_mode, ',')": "sql_mode",
		"SET time_zone = '+00:00'":               "time_zone",
		"SET autocommit = 0":                     "autocommit",
	} {
		a := assignments(t, text)[0]
		if got := strings.Join(LeansOn(&a), " "); !JudgedAnywhere(&a) || got != want {
			t.Errorf("%s: %v, leans on %s", text, JudgedAnywhere(&a), got)
		}
	}
	for _, text := range []string{"SET NAMES DEFAULT", "SET time_zone = 'Europe/Berlin'", "SET @a = 1", "SET timestamp = 1", "SET last_insert_id = 1", "SET insert_id = 1",
		"SET character_set_database = utf8", "SET session_track_schema = 1", "SET default_storage_engine = 'InnoDB'", "SET autocommit = DEFAULT", "SET profiling = 1",
		"SET sql_mode = (SELECT 1)", "SET autocommit = @@autocommit", "SET lc_messages = 'a\"b'", "SET TRANSACTION READ ONLY"} {
		if a := assignments(t, text)[0]; JudgedAnywhere(&a) {
			t.Errorf("%s is judged anywhere", text)
		}
	}
	if !OfVersion(1064) || OfVersion(1045) {
		t.Error("errors")
	}
}

// A variable is the same on two servers where the session's setting has it, or where new sessions begin with the same.
func TestSameOn(t *testing.T) {
	nodes, err := backend.Open(&config.Config{Nodes: []config.Node{{Name: "n", Master: "127.0.0.1:1", Slave: "127.0.0.1:2@1", MaxConnsLimit: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes["n"].Close()
	a, b, away := nodes["n"].Primary, nodes["n"].Replicas[0], new(backend.Instance)
	a.SetInfo(&mysql84)
	b.SetInfo(&mysql84)
	st := resolved(mysql84)
	for name, want := range map[string]bool{"sql_mode": true, "autocommit": true, "time_zone": false, "timestamp": false, "gtid_next": false, "collation_database": false} {
		if got := st.SameOn(a, b, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !st.SameOn(away, b, "time_zone") || !st.SameOn(away, b, "collation_database") || st.SameOn(away, b, "timestamp") {
		t.Error("a server that was never reached is taken to be like the others")
	}
	if st.SetDB("d"); st.SameOn(away, b, "collation_database") {
		t.Error("a database's collation is its server's")
	}
	st.Set("transaction_isolation", "'SERIALIZABLE'")
	if !st.SameOn(a, b, "tx_isolation") {
		t.Error("a variable that is set is the same, by its old name, too")
	}
}
