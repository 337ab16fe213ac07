package session_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"kingshard/mysql/mysqltest"
)

// found are scripts that the differential tester found to be answered otherwise than by one server, each by a minimal one.
var found = []struct{ name, script string }{
	{"|| joins strings", "SET sql_mode = 'ANSI'; SELECT id FROM users WHERE id = 1 || 3 = 0"},
	{"|| joins strings in the oldest modes", "SET sql_mode = 'ORACLE'; SELECT id FROM users WHERE id = 1 || 3 = 0"},
	{"NOT binds as !", "SET sql_mode = 'HIGH_NOT_PRECEDENCE'; SELECT id FROM users WHERE NOT id <> 1"},
}

// TestFound runs the scripts of found on one server and through the proxy over three shards on two nodes.
func TestFound(t *testing.T) {
	data, err := os.ReadFile("testdata/shapes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Schema string }
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := []*mysqltest.RealServer{mysqltest.Shared(t, kind)}
			for range 2 {
				s, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: kind})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Stop() })
				servers = append(servers, s)
			}
			s := startShards(t, servers, []int{2, 1}, file.Schema)
			for _, f := range found {
				t.Run(f.name, func(t *testing.T) { s.same(t, f.script) })
			}
		})
	}
}

// same runs a script on both sides, from the first rows of the tables, and compares all answers and then the tables.
func (s *shards) same(t *testing.T, script string) {
	t.Helper()
	clients := []*mysqltest.RawClient{s.oracle, s.subject}
	for _, c := range clients {
		must(t, c, "SET sql_mode = DEFAULT")
	}
	s.fill(t)
	list := strings.Split(script, "; ")
	for _, table := range shapeTables {
		list = append(list, "SELECT * FROM "+table)
	}
	for _, sql := range list {
		var answers [2]string
		for k, c := range clients {
			r, err := c.Query(sql)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			answers[k] = fullAnswer(r, sql)
		}
		if answers[0] != answers[1] {
			t.Errorf("%s\n got %s\nwant %s", sql, answers[1], answers[0])
		}
	}
}

// fullAnswer shows all of an answer but how its columns are described.
func fullAnswer(r *mysqltest.RawResult, sql string) string {
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.OK != nil:
		return fmt.Sprintf("ok, %d rows, %d warnings, %q", r.OK.AffectedRows, r.Warnings, r.OK.Info)
	}
	var lines []string
	for _, row := range r.Rows {
		lines = append(lines, fmt.Sprintf("%q", row))
	}
	if !strings.Contains(sql, "ORDER BY") && !strings.HasPrefix(sql, "SHOW WARNINGS") {
		slices.Sort(lines)
	}
	return fmt.Sprintf("%d warnings\n%s", r.Warnings, strings.Join(lines, "\n"))
}
