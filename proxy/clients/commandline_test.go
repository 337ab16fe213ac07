package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// commandLine is one family of command line programs.
type commandLine struct {
	name                      string
	client, admin, dump, show string // paths
}

// commandLines finds the programs of MariaDB and of MySQL 9.
func commandLines(t *testing.T) map[mysqltest.Kind]commandLine {
	t.Helper()
	const cure = "run mysql/mysqltest/install/mariadb.sh"
	server, err := mysqltest.Find(mysqltest.MySQL9)
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(server.Server)
	return map[mysqltest.Kind]commandLine{
		mysqltest.MariaDB: {
			name: "mariadb", client: tool(t, "mariadb", cure), admin: tool(t, "mariadb-admin", cure), dump: tool(t, "mariadb-dump", cure),
			show: tool(t, "mariadb-show", cure),
		},
		mysqltest.MySQL9: {
			name: "mysql9", client: filepath.Join(bin, "mysql"), admin: filepath.Join(bin, "mysqladmin"), dump: filepath.Join(bin, "mysqldump"),
		},
	}
}

// options are those of every program to connect with.
func (c commandLine) options(e endpoint) []string {
	args := []string{"--no-defaults", "-h" + e.host, fmt.Sprintf("-P%d", e.port), "-uroot", "-proot", "--protocol=tcp", "--default-character-set=utf8mb4"}
	if c.name == "mysql9" {
		// For the login by caching_sha2_password without TLS to a server that has not seen the account yet.
		args = append(args, "--get-server-public-key")
	}
	return args
}

// masks are what differs between any two runs: ids, times, counts, and the TLS cipher, which two TLS libraries agree upon.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(?m)^(Connection id:\s+)\d+`), "${1}N"},
	{regexp.MustCompile(`(?m)^(TCP port:\s+)\d+`), "${1}N"},
	{regexp.MustCompile(`(?m)^(Uptime:\s+).*`), "${1}N"},
	{regexp.MustCompile(`(?m)^(Threads: ).*`), "${1}N"},
	{regexp.MustCompile(`(?m)^(SSL:\s+Cipher in use is ).*`), "${1}N"},
	{regexp.MustCompile(`(?m)^(Current user:\s+root@\S+)`), "N"},
}

func masked(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return text
}

// TestCommandLine runs a script of statements and client commands by the mariadb and mysql programs, each on both
// kinds of servers where it can log in to them.
func TestCommandLine(t *testing.T) {
	programs := commandLines(t)
	for _, c := range []struct{ program, server mysqltest.Kind }{
		{mysqltest.MariaDB, mysqltest.MariaDB}, {mysqltest.MariaDB, mysqltest.MySQL9}, {mysqltest.MySQL9, mysqltest.MySQL9},
	} {
		program := programs[c.program]
		t.Run(program.name+" on "+string(c.server), func(t *testing.T) {
			server := mysqltest.Shared(t, c.server)
			transcripts := make(map[string]string)
			for _, e := range []endpoint{direct(server), startProxy(t, server)} {
				transcripts[e.name] = runCommandLine(t, server, program, e)
			}
			same(t, transcripts["direct"], transcripts["proxy"])
		})
	}
}

// runCommandLine gives the transcript of everything that the program is asked to do.
func runCommandLine(t *testing.T, server *mysqltest.RealServer, c commandLine, e endpoint) string {
	t.Helper()
	freshDB(t, server, "kingshard_cl")
	script := testdata(t, "commandline", "session.sql")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(t.TempDir(), "rows.tsv")
	if err := os.WriteFile(rows, []byte("1\tone\n2\t\\N\n3\tdrei ü\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	do := func(stdin string, args ...string) {
		out, errs, err := try(t, program{path: c.client, args: append(c.options(e), args...), stdin: stdin})
		errs = strings.ReplaceAll(errs, "mysql: [Warning] Using a password on the command line interface can be insecure.\n", "")
		fmt.Fprintf(&b, "## %s: %v\n%s%s", strings.Join(args, " "), err, masked(out), masked(errs))
	}
	do(string(text), "--table", "--comments", "--force", "--unbuffered", "kingshard_cl")
	do("DROP TABLE t; DROP PROCEDURE p;\nsource "+script+"\n", "--comments", "--force", "--verbose", "kingshard_cl")
	do("", "--comments", "-e", "SELECT 1; SELECT COUNT(*) FROM t; /*node1*/ SELECT 2", "kingshard_cl")
	do("", "-e", "SELECT * FROM no_such_table; SELECT 'not reached'", "kingshard_cl")
	do("", "-E", "-e", "SELECT * FROM t", "kingshard_cl")
	do("", "--xml", "-e", "SELECT id, v FROM t", "kingshard_cl")
	do("", "--batch", "--skip-column-names", "--column-type-info", "-e", "SELECT id, v, n, at, b FROM t", "kingshard_cl")
	do("", "--quick", "--auto-rehash", "-e", "SELECT COUNT(*) FROM t a, t b", "kingshard_cl")
	do("", "--compress", "-e", "SELECT REPEAT('x', 50000)", "kingshard_cl")
	do("", "--init-command=SET @i = 7", "-e", "SELECT @i")
	do("", "--local-infile=1", "-v", "-v", "-v", "-e", "CREATE TABLE l (id INT, v VARCHAR(20) CHARACTER SET utf8mb4); LOAD DATA LOCAL INFILE '"+rows+
		"' INTO TABLE l CHARACTER SET utf8mb4; SELECT * FROM l", "kingshard_cl")
	do("", "-e", "SELECT 1", "no_such_db")
	transcript := strings.ReplaceAll(b.String(), filepath.Dir(rows), "DIR")
	return regexp.MustCompile(`\(\d+\.\d+ sec\)|\d+ min \d+\.\d+ sec`).ReplaceAllString(transcript, "(T)")
}

// TestAdmin pings, and asks for the status, the version, the process list and the variables.
func TestAdmin(t *testing.T) {
	for kind, c := range commandLines(t) {
		t.Run(c.name, func(t *testing.T) {
			e := startProxy(t, mysqltest.Shared(t, kind))
			for _, a := range []struct {
				args []string
				want string
			}{
				{[]string{"ping"}, "mysqld is alive"},
				{[]string{"status"}, `Uptime: \d+ +Threads: \d+ +Questions: \d+`},
				{[]string{"version"}, `(?s)Server version\s+\S+.*Connection\s+127\.0\.0\.1 via TCP/IP.*Threads: \d+`},
				{[]string{"processlist"}, `\| *\d+ *\| root *\| 127\.0\.0\.1 *\| +\| Query .*(?i)processlist`},
				{[]string{"variables"}, `max_allowed_packet`},
				{[]string{"extended-status"}, `Threads_connected`},
				{[]string{"create", "kingshard_admin"}, `^$`},
				{[]string{"-f", "drop", "kingshard_admin"}, `Database "kingshard_admin" dropped`},
			} {
				out := run(t, program{path: c.admin, args: append(c.options(e), a.args...)})
				if !regexp.MustCompile(a.want).MatchString(out) {
					t.Errorf("%s: %s", strings.Join(a.args, " "), lastLines(out, 20))
				}
			}
		})
	}
}

// TestDump dumps a schema with all kinds of objects directly and through the proxy, and restores the dump both ways: the
// dumps are the same and so are the copies.
func TestDump(t *testing.T) {
	for kind, c := range commandLines(t) {
		t.Run(c.name, func(t *testing.T) {
			server := mysqltest.Shared(t, kind)
			e := startProxy(t, server)
			freshDB(t, server, "kingshard_dump")
			schema, err := os.ReadFile(testdata(t, "commandline", "schema.sql"))
			if err != nil {
				t.Fatal(err)
			}
			client := func(e endpoint, text, db string) {
				run(t, program{path: c.client, args: append(c.options(e), "--max-allowed-packet=64M", db), stdin: text})
			}
			dump := func(e endpoint, db string) string {
				args := append(c.options(e), "--routines", "--triggers", "--events", "--hex-blob", "--single-transaction", "--skip-dump-date", "--max-allowed-packet=64M", db)
				if kind == mysqltest.MySQL9 {
					// By default the dump would turn off the binary log and set GTIDs, which no client may do through the proxy.
					args = append([]string{args[0], "--set-gtid-purged=OFF"}, args[1:]...)
				}
				return run(t, program{path: c.dump, args: args})
			}
			heading := regexp.MustCompile(`(?m)^-- (Host: .*|Dumping (events|routines) for database .*)`)
			compare := func(a, b string) {
				same(t, heading.ReplaceAllString(a, ""), heading.ReplaceAllString(b, ""))
			}
			client(e, string(schema), "kingshard_dump")
			first := dump(direct(server), "kingshard_dump")
			for _, object := range []string{"CREATE TABLE `parent`", "TRIGGER", "PROCEDURE `fill`", "FUNCTION `twice`", "EVENT", "VIEW `counted`", "PARTITION"} {
				if !strings.Contains(first, object) {
					t.Errorf("no %s in the dump", object)
				}
			}
			compare(first, dump(e, "kingshard_dump"))
			copies := make(map[string]string)
			for _, e := range []endpoint{direct(server), e} {
				freshDB(t, server, "kingshard_copy")
				client(e, first, "kingshard_copy")
				copies[e.name] = dump(direct(server), "kingshard_copy")
			}
			compare(copies["direct"], copies["proxy"])
		})
	}
}
