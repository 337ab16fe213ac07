package dump

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// bothServers are definitions that MariaDB and MySQL take.
var bothServers = []string{
	"CREATE TABLE # (a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d INT UNSIGNED NOT NULL, e BIGINT UNSIGNED, f BIGINT NOT NULL DEFAULT -1, g MEDIUMINT UNSIGNED, h TINYINT(1), i BOOL NOT NULL DEFAULT TRUE)",
	"CREATE TABLE # (a INT(5) ZEROFILL, b TINYINT(1) NOT NULL, c BIGINT(20) ZEROFILL, e INT ZEROFILL NOT NULL)",
	"CREATE TABLE # (a DECIMAL, b DECIMAL(12,2) NOT NULL, c DECIMAL(65,30) UNSIGNED, d NUMERIC(5), e DEC(8,8), f FIXED(3,1) ZEROFILL, g DECIMAL(10,0) UNSIGNED DEFAULT 0)",
	"CREATE TABLE # (a FLOAT, b DOUBLE, c FLOAT(7,4), d DOUBLE(15,3) NOT NULL, e FLOAT(24), f FLOAT(53), g REAL UNSIGNED, h DOUBLE PRECISION NOT NULL DEFAULT 1.5, i FLOAT ZEROFILL)",
	"CREATE TABLE # (a BIT, b BIT(8) NOT NULL DEFAULT b'101', c BIT(64))",
	"CREATE TABLE # (a DATE, b TIME, c DATETIME, d TIMESTAMP NULL, e YEAR, f TIME(3), g DATETIME(6), h TIMESTAMP(2) NULL, i DATE NOT NULL, j DATETIME NOT NULL DEFAULT '2020-01-01 00:00:00')",
	"CREATE TABLE # (a TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, b TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, c DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, d DATETIME(3) NULL ON UPDATE CURRENT_TIMESTAMP(3), e TIMESTAMP NOT NULL DEFAULT '2020-01-01 00:00:00')",
	"CREATE TABLE # (a CHAR, b CHAR(10) NOT NULL, c VARCHAR(255), d VARCHAR(40) NOT NULL DEFAULT 'x', e CHAR(0), f VARCHAR(0)) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE # (a CHAR(3) CHARACTER SET latin1, b VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin, c VARCHAR(7) COLLATE utf8mb4_bin, d TEXT CHARACTER SET gbk, e NCHAR(5), f CHAR(5) BINARY, g NATIONAL VARCHAR(9)) DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_unicode_ci",
	"CREATE TABLE # (a VARCHAR(10), b CHAR(3) CHARACTER SET utf8mb4, c TEXT) DEFAULT CHARSET latin1",
	"CREATE TABLE # (a VARCHAR(10), b CHAR(3), c TEXT, d SET('x','yy')) DEFAULT CHARSET utf16 COLLATE utf16_bin",
	"CREATE TABLE # (a VARCHAR(10), b CHAR(3), c ENUM('a')) DEFAULT CHARSET utf8mb3",
	"CREATE TABLE # (a VARCHAR(10) COLLATE utf8mb4_croatian_ci, b CHAR(3) CHARACTER SET sjis, c CHAR(3) CHARACTER SET ujis, d CHAR(4) CHARACTER SET tis620, e CHAR(4) CHARACTER SET hp8, f CHAR(4) CHARACTER SET euckr, g CHAR(4) CHARACTER SET latin5, h CHAR(2) CHARACTER SET koi8r, i CHAR(2) CHARACTER SET binary)",
	"CREATE TABLE # (a BINARY, b BINARY(16) NOT NULL, c VARBINARY(100), d VARCHAR(10) CHARACTER SET binary)",
	"CREATE TABLE # (a TINYTEXT, b TEXT NOT NULL, c MEDIUMTEXT, d LONGTEXT, e TINYBLOB, f BLOB NOT NULL, g MEDIUMBLOB, h LONGBLOB, i TEXT(10), j TEXT(1000), k BLOB(70000), l TEXT(200)) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE # (a TINYTEXT, b TEXT, c MEDIUMTEXT, d LONGTEXT, e TEXT(200)) DEFAULT CHARSET latin1",
	"CREATE TABLE # (a ENUM('one','two','three') NOT NULL, b ENUM('größe','x') DEFAULT 'x', c SET('a','bb','ccc') NOT NULL DEFAULT 'a', d SET('x') CHARACTER SET latin1, e ENUM('it''s, (ok)','\\\\'), f ENUM('') NOT NULL, g ENUM('x ','y')) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE # (a JSON, b JSON NOT NULL)",
	"CREATE TABLE # (a GEOMETRY, b POINT NOT NULL, c LINESTRING, d POLYGON, e MULTIPOINT, f GEOMETRYCOLLECTION)",
	"CREATE TABLE # (id BIGINT NOT NULL AUTO_INCREMENT, n INT, PRIMARY KEY (id))",
	"CREATE TABLE # (id INT PRIMARY KEY AUTO_INCREMENT, email VARCHAR(50) UNIQUE, n INT NOT NULL UNIQUE, KEY (n, email))",
	"CREATE TABLE # (a INT NOT NULL, b INT NOT NULL, c INT, PRIMARY KEY (b, a), UNIQUE KEY u (c), KEY k (a), KEY l (c, b))",
	"CREATE TABLE # (a INT NOT NULL, b INT NOT NULL, c INT, UNIQUE KEY u (a, b), KEY k (b))",
	"CREATE TABLE # (a INT, b INT NOT NULL, c INT NOT NULL, UNIQUE KEY u (a), UNIQUE KEY v (b), UNIQUE KEY w (c))",
	"CREATE TABLE # (a INT, b INT NOT NULL, UNIQUE KEY u (a, b), KEY k (b))",
	"CREATE TABLE # (a INT, b INT, c INT, KEY u (a, b), KEY k (c), KEY l (b, c))",
	"CREATE TABLE # (a VARCHAR(100) NOT NULL, b TEXT NOT NULL, c INT, UNIQUE KEY u (a(10)), KEY k (b(20)), UNIQUE KEY v (c, a(5))) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE # (a VARCHAR(100) NOT NULL, b INT NOT NULL, PRIMARY KEY (a(10)), UNIQUE KEY v (b)) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE # (a VARCHAR(100), b TEXT, c POINT NOT NULL, FULLTEXT KEY f (a), FULLTEXT KEY g (b, a), SPATIAL KEY s (c)) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE # (a INT NOT NULL, b INT AS (a + 1), c INT GENERATED ALWAYS AS (a * 2) STORED, d VARCHAR(10) AS (CONCAT(a, ',x(')) VIRTUAL, PRIMARY KEY (a), KEY (c))",
	"CREATE TABLE # (a INT DEFAULT NULL COMMENT 'it''s, NOT NULL', b INT NOT NULL COMMENT ';', `c d` INT, `e``f` INT NOT NULL, `unsigned` INT, `key` INT, PRIMARY KEY (`e``f`)) COMMENT='x, y' AUTO_INCREMENT=7",
	"CREATE TABLE # (a INT NOT NULL, b DATE NOT NULL, c INT CHECK (c > 0), CONSTRAINT pos# CHECK (a > 0 AND b > '2000-01-01'), PRIMARY KEY (a, b)) PARTITION BY RANGE (YEAR(b)) (PARTITION p0 VALUES LESS THAN (2000), PARTITION p1 VALUES LESS THAN MAXVALUE)",
	"CREATE TABLE # (a INT NOT NULL DEFAULT (1 + 2), b VARCHAR(36) DEFAULT (UUID()), c INT DEFAULT -5, d DECIMAL(4,2) DEFAULT 1.50, e VARCHAR(9) NOT NULL DEFAULT 'it''s', f BINARY(2) NOT NULL DEFAULT 0x4142, g TEXT NOT NULL DEFAULT ('x'))",
	"CREATE TABLE # (a INT, b INT INVISIBLE, c INT NOT NULL, PRIMARY KEY (c))",
	"CREATE TABLE # (id SERIAL, n INT)",
	"CREATE TABLE # (a INT NOT NULL, b INT NOT NULL, KEY k (a) USING BTREE, UNIQUE KEY u (b DESC))",
	"CREATE TABLE # (a INT NOT NULL, KEY (a), UNIQUE (a))",
	"CREATE TABLE # (a INT NOT NULL, b INT, c INT, UNIQUE (b), KEY (b), KEY (c), UNIQUE (c))",
	"CREATE TABLE # (a BIGINT NOT NULL AUTO_INCREMENT, b BIGINT NOT NULL, PRIMARY KEY (b), KEY (a))",
	"CREATE TABLE # (a INT NOT NULL AUTO_INCREMENT, b INT, UNIQUE (a))",
	"CREATE TABLE # (a TIMESTAMP NULL DEFAULT NULL, b TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), PRIMARY KEY (b))",
	"CREATE TABLE # (p INT NOT NULL, q VARCHAR(5), PRIMARY KEY (p)) DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci",
	"CREATE TABLE # (a CHAR(2) NOT NULL, b CHAR(2) NOT NULL, PRIMARY KEY (a), UNIQUE KEY (b, a)) DEFAULT CHARSET ascii",
	"CREATE TABLE # (a INT REFERENCES parent (id), b INT, CONSTRAINT f# FOREIGN KEY (b) REFERENCES parent (id) ON DELETE CASCADE)",
}

// mariaDBOnly and mysqlOnly are definitions of one of them.
var mariaDBOnly = []string{
	"CREATE TABLE # (a INET6, b INET6 NOT NULL DEFAULT '::', c UUID, d UUID NOT NULL PRIMARY KEY, e INET4, f INET4 NOT NULL)",
	"CREATE TABLE # (a INT, b INT WITHOUT SYSTEM VERSIONING) WITH SYSTEM VERSIONING",
	"CREATE TABLE # (a INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END INVISIBLE, PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING",
	"CREATE TABLE # (a DATE, b DATE, PERIOD FOR p (a, b))",
	"CREATE TABLE # (a VARCHAR(10) DEFAULT uuid(), b DATETIME DEFAULT (NOW() + INTERVAL 1 DAY), c VARCHAR(20) COMPRESSED, d TEXT COMPRESSED, e TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP())",
	"CREATE TABLE # (a VARCHAR(10) COLLATE uca1400_ai_ci, b VARCHAR(10) CHARACTER SET utf8mb3 COLLATE uca1400_as_cs) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE # (a SMALLINT(3), b VARCHAR(3000) UNIQUE, c VARCHAR(3000) NOT NULL UNIQUE)",
	"CREATE TABLE # (a INT, KEY k (a) IGNORED, b INT AS (a) PERSISTENT)",
	"CREATE TABLE # (a TEXT UNIQUE, b TEXT NOT NULL UNIQUE)",
}

var mysqlOnly = []string{
	"CREATE TABLE # (a VARCHAR(10), b CHAR(3), c TEXT, d ENUM('x','yy')) DEFAULT CHARSET gb18030",
	"CREATE TABLE # (a VECTOR(3), b VECTOR NOT NULL)",
	"CREATE TABLE # (a INT, b POINT NOT NULL SRID 4326, c INT, KEY k (a) INVISIBLE, KEY f ((a + c)), UNIQUE KEY g ((a * 2), c))",
	"CREATE TABLE # (a JSON, KEY k ((CAST(a->'$.x' AS UNSIGNED ARRAY))))",
	"CREATE TABLE # (a VARCHAR(10), b TEXT) DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_0900_as_cs",
	"CREATE TABLE # (a INT, CONSTRAINT c# CHECK (a > 0) NOT ENFORCED)",
}

// described shows a definition but for its names.
func described(c mysql.ColumnDefinition41) string {
	return fmt.Sprintf("%s %#x length %d flags %s decimals %d collation %d", c.Name, byte(c.Type), c.Length, flagNames(c.Flags), c.Decimals, c.Charset)
}

func flagNames(f uint16) string {
	var names []string
	for k, name := range []string{"NOT_NULL", "PRI", "UNIQUE", "MULTIPLE", "BLOB", "UNSIGNED", "ZEROFILL", "BINARY", "ENUM", "AUTO", "TIMESTAMP", "SET", "NO_DEFAULT", "ON_UPDATE", "PART_KEY", "NUM"} {
		if f&(1<<k) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// TestAsServersSend compares what is made of SHOW CREATE TABLE, and of what the statement itself says, with what servers send for SELECT *.
func TestAsServersSend(t *testing.T) {
	for _, kind := range mysqltest.Kinds() {
		if kind == mysqltest.MySQL56 {
			continue // it knows half of the types
		}
		t.Run(string(kind), func(t *testing.T) {
			c, exec := onServer(t, kind)
			defer c.Close()
			exec("CREATE TABLE parent (id INT PRIMARY KEY)")
			statements := append(bothServers, mysqlOnly...)
			if kind == mysqltest.MariaDB {
				statements = append(bothServers, mariaDBOnly...)
			}
			version := exec("SELECT VERSION()").Rows[0][0].(string)
			header := "-- Server version\t" + version + "\nCREATE DATABASE dumped DEFAULT CHARACTER SET utf8mb4;\nUSE dumped;\n"
			shown, said := header, header
			for k, sql := range statements {
				sql = strings.ReplaceAll(sql, "#", fmt.Sprintf("t%d", k))
				exec(sql)
				said += sql + ";\n"
				shown += exec(fmt.Sprintf("SHOW CREATE TABLE t%d", k)).Rows[0][1].(string) + ";\n"
			}
			for what, text := range map[string]string{"shown": shown, "said": said} {
				s := new(Schema)
				if err := s.Read(strings.NewReader(text), what, ""); err != nil {
					t.Fatal(err)
				}
				for _, w := range s.Warnings {
					if !strings.Contains(w, "no character set is said") {
						t.Error(w)
					}
				}
				for k := range statements {
					name := fmt.Sprintf("t%d", k)
					table := s.Table("dumped", name)
					if table == nil || table.Unknown != "" {
						t.Errorf("%s: %s is not known: %s", what, name, statements[k])
						continue
					}
					compare(t, what+" "+statements[k], table.Columns, exec("SELECT * FROM "+name+" LIMIT 0").Columns)
					if len(table.Invisible) > 0 {
						var list []string
						for _, c := range table.Invisible {
							list = append(list, c.Name)
						}
						compare(t, what+" "+statements[k], table.Invisible, exec("SELECT "+strings.Join(list, ", ")+" FROM "+name+" LIMIT 0").Columns)
					}
				}
			}
		})
	}
}

// TestCollations compares the ids of the collations that a server has for columns.
func TestCollations(t *testing.T) {
	for _, kind := range mysqltest.Kinds() {
		if kind == mysqltest.MySQL56 {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			c, exec := onServer(t, kind)
			defer c.Close()
			list := "SELECT collation_name FROM information_schema.collations WHERE collation_name <> 'binary' ORDER BY 1"
			if kind == mysqltest.MariaDB {
				list = "SELECT full_collation_name FROM information_schema.collation_character_set_applicability WHERE full_collation_name <> 'binary' ORDER BY 1"
			}
			var columns []string
			for k, row := range exec(list).Rows {
				columns = append(columns, fmt.Sprintf("c%d CHAR(3) COLLATE %s", k, row[0]))
			}
			if len(columns) < 200 {
				t.Fatalf("%d collations", len(columns))
			}
			for at := 0; at < len(columns); at += 100 {
				sql := "CREATE TABLE collations (" + strings.Join(columns[at:min(at+100, len(columns))], ", ") + ")"
				exec(sql)
				s := new(Schema)
				if err := s.Read(strings.NewReader("-- Server version\t"+exec("SELECT VERSION()").Rows[0][0].(string)+"\n"+sql), "said", "dumped"); err != nil || len(s.Warnings) > 0 {
					t.Fatal(err, s.Warnings)
				}
				compare(t, "collations", s.Table("dumped", "collations").Columns, exec("SELECT * FROM collations LIMIT 0").Columns)
				exec("DROP TABLE collations")
			}
		})
	}
}

// onServer logs in and makes an empty database.
func onServer(t *testing.T, kind mysqltest.Kind) (c *mysqltest.RawClient, exec func(sql string) *mysqltest.RawResult) {
	t.Helper()
	server := mysqltest.Shared(t, kind)
	c, err := mysqltest.DialRaw(server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
	if err != nil {
		t.Fatal(err)
	}
	exec = func(sql string) *mysqltest.RawResult {
		t.Helper()
		r, err := c.Exec(sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return r
	}
	for _, sql := range []string{"DROP DATABASE IF EXISTS dumped", "CREATE DATABASE dumped CHARACTER SET utf8mb4", "USE dumped", "SET NAMES utf8mb4", "SET sql_mode = ''", "SET character_set_results = NULL"} {
		exec(sql)
	}
	return c, exec
}

func compare(t *testing.T, what string, got, want []mysql.ColumnDefinition41) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d columns, the server has %d", what, len(got), len(want))
		return
	}
	for k := range got {
		if got[k] != want[k] {
			t.Errorf("%s\n got %s\nwant %s", what, described(got[k]), described(want[k]))
			if described(got[k]) == described(want[k]) {
				t.Errorf("names: %+v\n%+v", got[k], want[k])
			}
		}
	}
}
