package serverlog

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// TestLogsOfServers reads what servers write of known statements on two connections in two databases, and across a restart.
func TestLogsOfServers(t *testing.T) {
	for _, kind := range mysqltest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			server, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{Kind: kind, Settings: map[string]string{
				"log_output": "FILE", "slow_query_log": "1", "long_query_time": "0", "slow_query_log_file": "slow.log", "general_log": "1", "general_log_file": "general.log"}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Stop() }()
			var want []string
			connect := func(db string) *mysqltest.RawClient {
				c, err := mysqltest.DialRaw(server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: db})
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			run := func(c *mysqltest.RawClient, db, sql string) {
				if _, err := c.Exec(sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
				want = append(want, db+": "+sql)
			}
			c := connect("")
			for _, sql := range []string{"CREATE DATABASE one", "CREATE DATABASE two", "CREATE TABLE one.t (a INT)"} {
				if _, err := c.Exec(sql); err != nil {
					t.Fatal(err)
				}
			}
			_ = c.Close()
			one, two := connect("one"), connect("two")
			run(one, "one", "SELECT 'marked 1'")
			run(two, "two", "SELECT 'marked 2',\n\t5\n# User@Host, almost\n")
			run(one, "one", "INSERT INTO t VALUES ('3') -- marked 3")
			run(one, "one", "use two /* marked 4 */")
			run(one, "two", "SELECT 'marked 5;'")
			if _, err := two.Command(2, "one"); err != nil { // COM_INIT_DB
				t.Fatal(err)
			}
			run(two, "one", "SELECT /* marked 6 */ COUNT(*) FROM t")
			written := func(name, what string) {
				file := find(t, server.Dir, name)
				mysqltest.WaitFor(t, name+" to be written", func() bool {
					data, err := os.ReadFile(file)
					return err == nil && strings.Contains(string(data), what)
				})
			}
			written("slow.log", "marked 6") // behind the answer
			_, _ = one.Close(), two.Close()
			if err := server.Restart(context.Background()); err != nil {
				t.Fatal(err)
			}
			again := connect("two")
			run(again, "two", "SELECT 'marked 7'")
			_ = again.Close()
			for _, name := range []string{"slow.log", "general.log"} {
				file := find(t, server.Dir, name)
				written(name, "marked 7")
				f, err := os.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				r := NewReader(f, 1000)
				var got []string
				for {
					e, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					if e.Kind != Statement || !strings.Contains(e.Text, "marked") && !strings.Contains(e.Text, "almost") {
						continue
					}
					if age := time.Since(e.At); age > 26*time.Hour || age < -26*time.Hour { // of any zone
						t.Errorf("%s: %s is said to be of %s", name, e.Text, e.At)
					}
					if r.Slow() && e.Time <= 0 {
						t.Errorf("%s: no time of %s", name, e.Text)
					}
					got = append(got, e.DB+": "+e.Text)
				}
				expected := slices.Clone(want)
				if r.Slow() {
					expected[3] = "two: use two /* marked 4 */" // it is written once it is done
				}
				for k := range expected {
					expected[k] = strings.TrimSpace(expected[k])
				}
				for k := range got {
					got[k] = strings.TrimSpace(got[k])
				}
				slices.Sort(got) // a slow log has statements of several connections in any order
				slices.Sort(expected)
				if !slices.Equal(got, expected) {
					t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(expected, "\n"))
				}
				if got, want := r.Server().MariaDB, kind == mysqltest.MariaDB; got != want || r.Server().ServerVersion < 50600 {
					t.Errorf("%s: %+v", name, r.Server())
				}
			}
		})
	}
}

// find gives the path of a file below a directory.
func find(t *testing.T, dir, name string) (path string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == name {
			path = p
		}
		return nil
	})
	if err != nil || path == "" {
		t.Fatalf("no %s below %s: %v", name, dir, err)
	}
	return path
}
