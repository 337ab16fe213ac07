package querylog

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"kingshard/config"
)

// logged gives what sql.log holds after the statements.
func logged(t *testing.T, change func(*config.Config), statements ...*Statement) string {
	t.Helper()
	cfg := config.Default()
	cfg.LogPath = filepath.Join(t.TempDir(), "logs")
	cfg.Addr = "0.0.0.0:9696"
	if change != nil {
		change(cfg)
	}
	l := new(Log)
	if err := l.Open(cfg); err != nil {
		t.Fatal(err)
	}
	for _, st := range statements {
		l.Statement(st)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return read(t, filepath.Join(cfg.LogPath, "sql.log"))
}

func point() *Statement {
	st := statement("SELECT name FROM users\nWHERE mail = 'canary@example.org'", 1250*time.Microsecond)
	st.Start = time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	st.Conn, st.Backend, st.Wait, st.Rows, st.Bytes = 7, "10.0.0.1:3306", 10*time.Microsecond, 1, 20
	return st
}

func TestLines(t *testing.T) {
	const values = `conn=7 user="ks" client="10.0.0.9:5000" db="shop" backend="10.0.0.1:3306" plan="forward" shards=1 total_ms=1.250 wait_ms=0.010 exec_ms=0.625 rows=1 bytes=20 error=0 `
	failed := point()
	failed.ErrorCode, failed.Backend = 1064, ""
	for _, c := range []struct {
		name, want string
		change     func(*config.Config)
		st         *Statement
	}{
		{name: "text", want: `time="2026-01-02T03:04:05.678901Z" ` + values + `sql="SELECT name FROM users WHERE mail = ?"`},
		{name: "literals", want: `time="2026-01-02T03:04:05.678901Z" ` + values + `sql="SELECT name FROM users\nWHERE mail = 'canary@example.org'"`,
			change: func(c *config.Config) { c.LogLiterals = true }},
		{name: "json", want: `{"time":"2026-01-02T03:04:05.678901Z","conn":7,"user":"ks","client":"10.0.0.9:5000","db":"shop","backend":"10.0.0.1:3306",` +
			`"plan":"forward","shards":1,"total_ms":1.250,"wait_ms":0.010,"exec_ms":0.625,"rows":1,"bytes":20,"error":0,"sql":"SELECT name FROM users WHERE mail = ?"}`,
			change: func(c *config.Config) { c.LogFormat = "json" }},
		{name: "kingshard", want: `2026/01/02 03:04:05 - OK - 1.2ms - 10.0.0.9:5000->10.0.0.1:3306:SELECT name FROM users WHERE mail = ?`,
			change: func(c *config.Config) { c.LogSQLFormat = "kingshard" }},
		{name: "kingshard literals", want: `2026/01/02 03:04:05 - ERROR - 1.2ms - 10.0.0.9:5000->0.0.0.0:9696:SELECT name FROM users\nWHERE mail = 'canary@example.org'`,
			change: func(c *config.Config) { c.LogSQLFormat, c.LogLiterals = "kingshard", true }, st: failed},
	} {
		st := c.st
		if st == nil {
			st = point()
		}
		if got := logged(t, c.change, st); got != c.want+"\n" {
			t.Errorf("%s:\n got %swant %s", c.name, got, c.want)
		}
	}
}

// No byte of a statement can begin a line, or be taken for another value.
func TestLinesAreOne(t *testing.T) {
	var odd []string
	for k := range 0x200 {
		odd = append(odd, string(rune(k)))
	}
	odd = append(odd, "\xff\xfe", "\u2028", "\u202e", "\U000e0001", "\\", `" sql="x`, "\x1b[2J")
	text := "SELECT `" + strings.ReplaceAll(strings.Join(odd, ""), "`", "") + "`"
	for _, form := range []string{"text", "json", "kingshard"} {
		for _, literals := range []bool{false, true} {
			st := point()
			st.Text, st.User, st.DB = text, "u\n", "d\x00\""
			got := logged(t, func(c *config.Config) { c.LogSQLFormat, c.LogLiterals = form, literals }, st)
			if strings.Count(got, "\n") != 1 || strings.ContainsFunc(strings.TrimSuffix(got, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%s: %q", form, got)
			}
			if form == "json" {
				var v map[string]any
				if err := json.Unmarshal([]byte(got), &v); err != nil || literals && !strings.HasSuffix(v["sql"].(string), "\u202e\U000e0001\\\" sql=\"x\x1b[2J`") {
					t.Errorf("%v: %q", err, got)
				}
			}
		}
	}
}

func TestSlow(t *testing.T) {
	slow, fast := point(), point()
	slow.Total, slow.Text = 100*time.Millisecond, "SELECT slow"
	fast.Total, fast.Text = 99*time.Millisecond, "SELECT fast"
	if got := logged(t, func(c *config.Config) { c.SlowLogTime = 100 }, slow, fast); !strings.Contains(got, "SELECT slow") || strings.Contains(got, "fast") {
		t.Errorf("%s", got)
	}
	if got := logged(t, func(c *config.Config) { c.LogSQL = "off" }, slow, fast); got != "" {
		t.Errorf("off: %s", got)
	}
}

// Passwords are shown nowhere, with values or without; values only where they are asked for.
func TestSecretsAreNotLogged(t *testing.T) {
	for _, text := range []string{
		"SET PASSWORD = 'canary'", "SET PASSWORD FOR u@h = PASSWORD('canary')", "/* x */ set password = PASSWORD(\"canary\")",
		"CREATE USER u IDENTIFIED BY 'canary'", "CREATE USER u IDENTIFIED /**/ WITH sha256_password BY 'canary' REPLACE 'canary'",
		"ALTER USER u IDENTIFIED BY canary", "GRANT ALL ON *.* TO u IDENTIFIED BY PASSWORD '*canary'", "/*!50000 ALTER USER u IDENTIFIED BY 'canary' */",
		"CHANGE MASTER TO MASTER_USER='r', MASTER_PASSWORD='canary'", "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (PASSWORD 'canary')",
		"SELECT AES_ENCRYPT(a, 'canary') FROM t", "PREPARE s FROM \"ALTER USER u IDENTIFIED BY 'canary'\"", "CREATE USER u IDENTIFIED BY 'canary",
		"SELECT 1; SET PASSWORD = 'canary'", "UPDATE users SET password = 'canary' WHERE id = 1",
	} {
		for _, ansi := range []bool{false, true} {
			for _, form := range []string{"text", "json", "kingshard"} {
				st := point()
				st.Text, st.Mode.ANSIQuotes, st.Mode.ServerVersion = text, ansi, 80400
				got := logged(t, func(c *config.Config) { c.LogSQLFormat, c.LogLiterals = form, true }, st)
				if strings.Contains(got, "canary") || strings.Count(got, "\n") != 1 {
					t.Errorf("ansi %v: %s", ansi, got)
				}
			}
			l := open(t, 10)
			st := point()
			st.Text, st.Mode.ANSIQuotes = text, ansi
			l.Statement(st)
			if rows := l.Digests(); len(rows) != 1 || strings.Contains(fmt.Sprint(rows), "canary") {
				t.Errorf("ansi %v: %+v", ansi, rows)
			}
		}
	}
}

func TestLongStatements(t *testing.T) {
	st := point()
	st.Text = "SELECT '" + strings.Repeat("x", 1<<20) + "'"
	for _, literals := range []bool{false, true} {
		if got := logged(t, func(c *config.Config) { c.LogLiterals = literals }, st); len(got) > lineTextMax+500 || literals && !strings.HasSuffix(got, "xxx...\"\n") {
			t.Errorf("%d bytes", len(got))
		}
	}
}

func TestAudit(t *testing.T) {
	cfg := config.Default()
	cfg.LogPath = t.TempDir()
	l := new(Log)
	if err := l.Open(cfg); err != nil {
		t.Fatal(err)
	}
	l.Audit(Change{By: By{User: "root", From: "127.0.0.1:5"}, Action: "reload", Object: "nodes[n].master", Old: "a\n", New: "b"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(read(t, filepath.Join(cfg.LogPath, "audit.log")), " ")
	if want := `user="root" from="127.0.0.1:5" action="reload" object="nodes[n].master" old="a\n" new="b" error=""` + "\n"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if st := l.Stats(); st.Audit.Lines != 1 || st.SQL.Lines != 0 {
		t.Errorf("%+v", st)
	}
	new(Log).Audit(Change{}) // there is no file
}

// A stalled disk makes no statement wait.
func TestStalledLogDelaysNobody(t *testing.T) {
	cfg := config.Default()
	cfg.LogPath = t.TempDir()
	stalled := filepath.Join(cfg.LogPath, "sql.log")
	answer := stall(t, stalled)
	l := new(Log)
	if err := l.Open(cfg); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	const statements = 100_000
	go func() {
		defer close(done)
		for range statements {
			l.Statement(point())
		}
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("statements wait for the disk")
	}
	l.Reopen()
	if st := l.Stats(); st.SQL.Dropped == 0 || st.SQL.Lines != statements {
		t.Errorf("%+v", st)
	}
	if err := l.Close(); err == nil {
		t.Error("nobody was told that lines are missing")
	}
	answer(l.sql.Load().done)
	if rows := l.Digests(); len(rows) != 1 || rows[0].Count != statements {
		t.Errorf("%+v", rows)
	}
}

// BenchmarkStatement tells what a statement costs with everything off, with statistics, with a slow log that it is too fast for,
// and with its line written.
func BenchmarkStatement(b *testing.B) {
	for _, c := range []struct {
		name   string
		change func(*config.Config)
	}{
		{"off", func(c *config.Config) { c.Digests, c.LogSQL = 0, "off" }},
		{"digests", func(c *config.Config) { c.LogSQL = "off" }},
		{"digests+slow", func(c *config.Config) { c.SlowLogTime = 1000 }},
		{"digests+sql", func(*config.Config) {}},
		{"sql", func(c *config.Config) { c.Digests = 0 }},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := config.Default()
			cfg.LogPath, cfg.LogMaxSize, cfg.LogKeep = b.TempDir(), 64<<20, 1
			c.change(cfg)
			l := new(Log)
			if err := l.Open(cfg); err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			b.ReportAllocs()
			st := statement("SELECT name FROM users WHERE id = 42", time.Millisecond)
			for b.Loop() {
				l.Statement(st)
			}
		})
	}
}
