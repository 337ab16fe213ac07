package dump

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqltext"
)

// show lists the tables of a schema, with the names of their columns, or why they are not known.
func (s *Schema) show() string {
	var b strings.Builder
	for _, t := range s.All() {
		fmt.Fprintf(&b, "%s.%s", t.DB, t.Name)
		for _, c := range t.Columns {
			b.WriteString(" " + c.Name)
		}
		if t.Unknown != "" {
			b.WriteString(": " + t.Unknown)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"in the given database", "CREATE TABLE t (a INT); CREATE TABLE other.u (b INT)", "given.t a\nother.u b\n"},
		{"the header names the server", "-- MySQL dump 10.13\n--\n-- Host: localhost    Database: shop\n-- Server version\t8.0.36-28.1\nCREATE TABLE t (a INT);", "given.t a\n"},
		{"USE", "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;\n\nUSE `shop`;\nCREATE TABLE t (a INT);\nUSE crm;\nCREATE TABLE t (b INT);", "crm.t b\nshop.t a\n"},
		{"rows are skipped", "CREATE TABLE t (a TEXT);\nINSERT INTO `t` VALUES ('); CREATE TABLE no (a INT);','it''s \\'; CREATE TABLE no (a INT);');\nREPLACE INTO t VALUES\n(1),\n(2);\nCREATE TABLE u (a INT);", "given.t a\ngiven.u a\n"},
		{"comments", "# a ; CREATE TABLE no (a INT);\n-- ; CREATE TABLE no (a INT);\n/* ; CREATE TABLE no (a INT); */ CREATE /* ; */ TABLE t ( -- ;\n a INT # ;\n);--\nCREATE TABLE u (a INT);", "given.t a\ngiven.u a\n"},
		{"routines", "CREATE TABLE t (a INT);\nDELIMITER ;;\nCREATE PROCEDURE p()\nBEGIN CREATE TABLE no (a INT); END ;;\n/*!50003 CREATE*/ /*!50017 DEFINER=`x`@`y`*/ /*!50003 TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.a = 1; END */;;\nDELIMITER ;\nCREATE TABLE u (a INT);", "given.t a\ngiven.u a\n"},
		{"views", "/*!50001 CREATE TABLE `v` (\n  `a` tinyint NOT NULL\n) ENGINE=MyISAM */;\nCREATE TABLE t (a INT);\n/*!50001 DROP TABLE IF EXISTS `v`*/;\n/*!50001 CREATE ALGORITHM=UNDEFINED */\n/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */\n/*!50001 VIEW `v` AS select 1 AS `a` */;\n/*!50001 CREATE VIEW `w` AS SELECT\n 1 AS `a`*/;\nCREATE TABLE w2 (a INT);CREATE VIEW w2 AS SELECT 1", "given.t a\n"},
		{"what changes tables", "CREATE TABLE t (a INT);/*!40000 ALTER TABLE `t` DISABLE KEYS */;\nCREATE TABLE u (a INT); ALTER TABLE u ADD PRIMARY KEY (a); CREATE TABLE v (a INT); CREATE UNIQUE INDEX i ON v (a); CREATE TABLE w (a INT); RENAME TABLE w TO x",
			"given.t a\ngiven.u: ALTER TABLE is not followed\ngiven.v: CREATE INDEX is not followed\ngiven.w: RENAME TABLE is not followed\n"},
		{"what is not known", "-- Server version\t10.11.6-MariaDB\nCREATE TABLE t (a INT,\n  b FROB NOT NULL);\nCREATE TABLE u LIKE t;\nCREATE TABLE v (a INT) AS SELECT 1 AS a;\nCREATE SEQUENCE s START WITH 1; CREATE TABLE w (a XMLTYPE); CREATE TABLE x (a INT FROBBED); CREATE TABLE y (a VARCHAR(9) COLLATE frob_ci); CREATE TEMPORARY TABLE z (a INT); CREATE TABLE ok (a INT)",
			"given.ok a\ngiven.s: it is a sequence\ngiven.t: the column b: the type \"frob\" is not known\ngiven.u: CREATE TABLE ... LIKE, or of a query\ngiven.v: CREATE TABLE of a query\n" +
				"given.w: the column a: the type \"xmltype\" is not known\ngiven.x: the column a: FROBBED is not understood\ngiven.y: the column a: the collation frob_ci is not known\n"},
		{"ANSI names", "CREATE TABLE \"t\" (\n  \"a\" int NOT NULL,\n  \"b\" varchar(9) DEFAULT 'x',\n  PRIMARY KEY (\"a\")\n);", "given.t a b\n"},
		{"the byte order mark, and no end", "\xef\xbb\xbfCREATE TABLE t (a INT)", "given.t a\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := new(Schema)
			if err := s.Read(strings.NewReader(c.text), "x.sql", "given"); err != nil {
				t.Fatal(err)
			}
			if got := s.show(); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// Warnings say where, and of what.
func TestWarnings(t *testing.T) {
	s := new(Schema)
	err := s.Read(strings.NewReader("CREATE TABLE t (a INT,\n  b FROB NOT NULL);\n\nALTER TABLE t ADD b INT;\nCREATE TABLE u (a INT);\nCREATE TABLE u (a INT);CREATE TABLE v (a VARCHAR(9));"), "x.sql", "d")
	want := []string{
		`x.sql:2: d.t: the column b: the type "frob" is not known: its columns are not known`,
		"x.sql:4: d.t: ALTER TABLE is not followed: its columns are not known",
		"x.sql:6: d.u is defined at x.sql:5 too: this one is taken",
		"x.sql:6: d.v: no character set is said: its texts are taken for utf8mb4_0900_ai_ci",
		`x.sql: no line "-- Server version" says which server it is of: it is read as one of MySQL`,
	}
	if err != nil || !slices.Equal(s.Warnings, want) {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(s.Warnings, "\n"), strings.Join(want, "\n"))
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "x.sql: it is empty"},
		{"\x1f\x8b\x08", "x.sql: it is compressed"},
		{"a\x00b", "x.sql: it is no text"},
		{"\xff\xfeC\x00", "UTF-16"},
		{"-- nothing\n", "x.sql: it has no CREATE TABLE"},
		{"mysqldump: [Warning] Using a password on the command line interface can be insecure.\nCREATE TABLE t (a INT);", `x.sql:1: this is no SQL: "mysqldump: [Warning] Using a password`},
		{"CREATE TABLE t (a INT);\n\n<html>\n</html>;", `x.sql:3: this is no SQL: "<html>"`},
		{"CREATE TABLE t (a INT", "x.sql:1: the file ends within a statement"},
		{"CREATE TABLE t (a INT,\n b VARCHAR(10)", "x.sql:1: the file ends within a statement"},
		{"CREATE TABLE t (a INT DEFAULT 'x", "x.sql: line 1: the file ends within a statement"},
		{"CREATE TABLE t (a INT);\n/* no end", "x.sql: line 2: a comment without end"},
		{"INSERT INTO t VALUES ('x", "x.sql: line 1: the file ends within a statement"},
		{"DELIMITER \n", "line 1: DELIMITER without one"},
		{"SELECT '" + strings.Repeat("x", statementMax) + "';", "x.sql: line 1: a statement longer than 4 MB"},
	} {
		s := new(Schema)
		err := s.Read(strings.NewReader(c.text), "x.sql", "d")
		if err == nil && len(s.Warnings) > 0 {
			err = fmt.Errorf("%s", s.Warnings[0])
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %s", c.text, err, c.want)
		}
	}
	if err := new(Schema).Read(strings.NewReader("CREATE TABLE t (a INT)"), "x.sql", ""); err == nil || !strings.Contains(err.Error(), "-db") {
		t.Errorf("without a database: %v", err)
	}
}

// The database of tables without USE is what the caller gives, else that of the header, else that of the schema.
func TestDatabase(t *testing.T) {
	const header = "-- Host: localhost    Database: headed\n"
	for _, c := range []struct{ header, given, fallback, want string }{
		{header, "given", "fallback", "given"}, {header, "", "fallback", "headed"}, {"", "", "fallback", "fallback"},
	} {
		s := &Schema{DB: c.fallback}
		if err := s.Read(strings.NewReader(c.header+"CREATE TABLE t (a INT);"), "x.sql", c.given); err != nil || s.Table(c.want, "t") == nil {
			t.Errorf("%+v: %v, %s", c, err, s.show())
		}
	}
}

// Rows of any length take no memory.
func TestRowsTakeNoMemory(t *testing.T) {
	row := "('" + strings.Repeat("some text, ", 1000) + "\\'; it''s'),"
	dump := io.MultiReader(strings.NewReader("CREATE TABLE t (a TEXT);\nINSERT INTO t VALUES "), &repeated{text: row, left: 64 << 20}, strings.NewReader("(1);\nCREATE TABLE u (a INT);\n"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := new(Schema)
	if err := s.Read(dump, "x.sql", "d"); err != nil || s.Table("d", "u") == nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("%d bytes for %d of rows", took, 64<<20)
	}
}

// repeated is a text again and again.
type repeated struct {
	text     string
	at, left int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	if r.left <= 0 && r.at == 0 {
		return 0, io.EOF
	}
	n = copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	r.left -= n
	return n, nil
}

// TestMariadbDump reads what mariadb-dump writes of databases with rows, routines, triggers, views and a sequence.
func TestMariadbDump(t *testing.T) {
	c, exec1 := onServer(t, mysqltest.MariaDB)
	defer c.Close()
	for _, sql := range []string{
		"CREATE TABLE t (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, `na``me` VARCHAR(40) COLLATE utf8mb4_bin, at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3))",
		"INSERT INTO t (`na``me`) VALUES ('it''s; \\\\'), ('x'), ('\n--\n')", "CREATE VIEW v AS SELECT id FROM t", "CREATE SEQUENCE s",
		"CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END", "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.at = NOW(); END",
	} {
		exec1(sql)
	}
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	for _, flags := range [][]string{{"dumped"}, {"--no-data", "dumped"}, {"--databases", "dumped"}, {"--routines", "--skip-extended-insert", "dumped"}} {
		args := append([]string{"--no-defaults", "-h127.0.0.1", fmt.Sprint("-P", server.Port), "-uroot", "-proot", "--skip-ssl"}, flags...)
		out, err := exec.Command("mariadb-dump", args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		s := new(Schema)
		if err := s.Read(strings.NewReader(string(out)), "x.sql", ""); err != nil {
			t.Fatalf("%v: %v\n%s", flags, err, out)
		}
		want := "dumped.s: it is a sequence\ndumped.t id na`me at\n"
		if got := s.show(); got != want {
			t.Errorf("%v: got\n%swant\n%s", flags, got, want)
		}
		if s.Server != (sqltext.Mode{MariaDB: true, ServerVersion: s.Server.ServerVersion}) || s.Server.ServerVersion < 100000 {
			t.Errorf("%+v", s.Server)
		}
		compare(t, "dumped", s.Table("dumped", "t").Columns, exec1("SELECT * FROM t LIMIT 0").Columns)
	}
}

// FuzzRead reads any text as a dump.
func FuzzRead(f *testing.F) {
	for _, sql := range bothServers {
		f.Add(strings.ReplaceAll(sql, "#", "t"))
	}
	for _, sql := range append(mariaDBOnly, mysqlOnly...) {
		f.Add("-- Server version\t10.11.6-MariaDB\n" + strings.ReplaceAll(sql, "#", "t"))
	}
	f.Add("USE d;\nDELIMITER ;;\nCREATE TABLE t (a INT);;\nINSERT INTO t VALUES ('x\\'');;")
	f.Fuzz(func(t *testing.T, text string) {
		s := new(Schema)
		if err := s.Read(strings.NewReader(text), "x", "d"); err == nil && len(s.tables) > 0 {
			for _, table := range s.All() {
				if table.Unknown != "" && table.Columns != nil || table.Unknown == "" && len(table.Columns)+len(table.Invisible) == 0 {
					t.Errorf("%+v", table)
				}
			}
		}
	})
}
