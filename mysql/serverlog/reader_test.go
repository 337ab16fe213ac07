package serverlog

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// entries shows the entries of a log, a line for each.
func entries(t *testing.T, log string) string {
	t.Helper()
	var b strings.Builder
	r := NewReader(strings.NewReader(log), 1000)
	for {
		e, err := r.Next()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d %s [%s] %q", e.Line, []string{"statement", "prepared", "command", "routine"}[e.Kind], e.DB, e.Text)
		if e.Time > 0 {
			fmt.Fprintf(&b, " %v", e.Time)
		}
		if e.TooLong {
			b.WriteString(" too long")
		}
		b.WriteByte('\n')
	}
}

const startLines = `/usr/sbin/mysqld, Version: 5.6.51-log (MySQL Community Server (GPL)). started with:
Tcp port: 3306  Unix socket: /var/lib/mysql/mysql.sock
Time                 Id Command    Argument
`

func TestLogs(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"slow, MySQL 5.6", startLines + `# Time: 130601  8:01:06
# User@Host: root[root] @ localhost []  Id:    42
# Query_time: 1.500000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0
use shop;
SET timestamp=1370073666;
SELECT a
FROM t
# not a header
WHERE b = ';';
# User@Host: root[root] @ localhost []  Id:    43
# Query_time: 0.000250  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0
SET last_insert_id=4,insert_id=5,timestamp=1370073666;
SELECT 2;
` + startLines + `# Time: 130601  8:01:07
# User@Host: app[app] @ web1 [10.0.0.7]  Id:     1
# Query_time: 0.000001  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0
SET timestamp=1370073667;
# administrator command: Ping;
# User@Host: app[app] @ web1 [10.0.0.7]  Id:     1
# Query_time: 0.000001  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0
SET timestamp=1370073667;
SET timestamp=5;
`, `9 statement [shop] "SELECT a\nFROM t\n# not a header\nWHERE b = ';'" 1.5s
16 statement [shop] "SELECT 2" 250µs
24 command [] "Ping" 1µs
28 statement [] "SET timestamp=5" 1µs
`},
		{"slow, MySQL 8", `/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:
Tcp port: 3306  Unix socket: (null)
Time                 Id Command    Argument
# Time: 2024-03-01T10:20:30.123456Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 0.000285  Lock_time: 0.000002 Rows_sent: 0  Rows_examined: 0 Thread_id: 8 Errno: 0 Killed: 0 Bytes_received: 0
use shop;
SET timestamp=1709288430;
use other;
# Time: 2024-03-01T10:20:31.123456Z
# User@Host: app[app] @  [10.0.0.7]  Id:     8
# Query_time: 12.000000  Lock_time: 0.000002 Rows_sent: 0  Rows_examined: 0
use other;
SET timestamp=1709288431;
SELECT 1`, `9 statement [shop] "use other" 285µs
15 statement [other] "SELECT 1" 12s
`},
		{"slow, MariaDB", `# Time: 231127  4:00:00
# User@Host: root[root] @ localhost []
# Thread_id: 5  Schema: shop  QC_hit: No
# Query_time: 0.000112  Lock_time: 0.000050  Rows_sent: 1  Rows_examined: 0
# Rows_affected: 0  Bytes_sent: 64
# explain: id	select_type	table	type	possible_keys	key	key_len	ref	rows	r_rows	filtered	r_filtered	Extra
# explain: 1	SIMPLE	t	ALL	NULL	NULL	NULL	NULL	1	1.00	100.00	100.00	
#
use ` + "`shop`" + `;
SET timestamp=1701057600;
SELECT 1;
# User@Host: root[root] @ localhost []
# Thread_id: 6  Schema:   QC_hit: No
# Query_time: 0.000112  Lock_time: 0.000050  Rows_sent: 1  Rows_examined: 0
SET timestamp=1701057600;
SELECT 2;
# User@Host: root[root] @ localhost []
# Thread_id: 5  Schema: shop  QC_hit: No
# Query_time: 0.5  Lock_time: 0.000050  Rows_sent: 1  Rows_examined: 0
# Stored routine: shop.p
SET timestamp=1701057600;
SELECT 3;
`, `11 statement [shop] "SELECT 1" 112µs
16 statement [] "SELECT 2" 112µs
22 routine [shop] "SELECT 3" 500ms
`},
		{"slow, cut off at the begin, CRLF", "FROM t WHERE a = 1;\r\n# User@Host: a[a] @ h []\r\n# Query_time: 1\r\nSET timestamp=1;\r\nSELECT 4;\r\n", "5 statement [] \"SELECT 4\" 1s\n"},
		{"general, MySQL 5.6 and MariaDB", startLines + `130601  8:01:06	    5 Connect	root@localhost on shop
		    5 Query	SELECT 1
FROM t
		6 Query	no such connection
		    6 Connect	app@10.0.0.7 as anonymous on 
		    6 Init DB	crm
		    6 Prepare	SELECT ?
		    6 Execute	SELECT 5
130601  8:01:07	    5 Query	use other
		    5 Query	SELECT 2
		    6 Query	SELECT 3
		    5 Change user	root@localhost on third
		    5 Query	SELECT 4
		    6 Close stmt	
		    6 Quit	
		    6 Query	SELECT 5
		    7 Connect	Access denied for user 'x'@'y' (using password: YES)
` + startLines + `		    5 Query	SELECT 6
`, `4 command [] "Connect"
5 statement [shop] "SELECT 1\nFROM t"
7 statement [] "no such connection"
8 command [] "Connect"
9 command [] "Init DB"
10 prepared [crm] "SELECT ?"
11 statement [crm] "SELECT 5"
12 statement [shop] "use other"
13 statement [other] "SELECT 2"
14 statement [crm] "SELECT 3"
15 command [other] "Change user"
16 statement [third] "SELECT 4"
17 command [crm] "Close stmt"
18 command [crm] "Quit"
19 statement [] "SELECT 5"
20 command [] "Connect"
24 statement [] "SELECT 6"
`},
		{"general, MySQL 8", `2024-03-01T10:20:30.123456Z	    0 Execute	CREATE TABLE performance_schema.x (a INT)
2024-03-01T10:20:30.123456Z	    8 Connect	root@localhost on shop using Socket
2024-03-01T10:20:30.223456+02:00	    8 Query	SELECT '
		not an entry
2024-03-01 neither'
2024-03-01T10:20:30.323456Z	   12 Query	SELECT 2
`, `1 command [] "Execute"
2 command [] "Connect"
3 statement [shop] "SELECT '\n\t\tnot an entry\n2024-03-01 neither'"
6 statement [] "SELECT 2"
`},
		{"a long statement", "# Time: 130601  8:01:06\n# User@Host: a[a] @ h []\n# Query_time: 1\nSET timestamp=1;\nSELECT 1;\n# User@Host: a[a] @ h []\n# Query_time: 1\nSET timestamp=1;\n" +
			strings.Repeat("x", 990) + "\n" + strings.Repeat("y", 300_000) + "\nz;\n# User@Host: a[a] @ h []\n# Query_time: 2\nSELECT 2;\n",
			"5 statement [] \"SELECT 1\" 1s\n9 statement [] " + fmt.Sprintf("%q", strings.Repeat("x", 990)+"\n"+strings.Repeat("y", 9)) + " 1s too long\n14 statement [] \"SELECT 2\" 2s\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := entries(t, c.log); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestNoLogs(t *testing.T) {
	for _, c := range []struct{ log, want string }{
		{"", "empty"},
		{"\x1f\x8b\x08\x00", "compressed"},
		{"\xfebin\x00\x01", "binary log"},
		{"ELF\x00\x01", "no text"},
		{"CREATE TABLE t (a INT);\n", `it begins with "CREATE TABLE t (a INT);"`},
	} {
		_, err := NewReader(strings.NewReader(c.log), 1000).Next()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.log, err, c.want)
		}
	}
	if _, err := NewReader(strings.NewReader(startLines), 1000).Next(); err != io.EOF {
		t.Errorf("a log without entries: %v", err)
	}
	if _, err := NewReader(iotest.ErrReader(io.ErrUnexpectedEOF), 1000).Next(); err != io.ErrUnexpectedEOF {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// Times are those of the lines, and of the ones before where a line has none.
func TestTimes(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"slow, MySQL 8", "# Time: 2024-03-01T12:20:30.5+02:00\n# User@Host: a[a] @ h []\n# Query_time: 1\nSET timestamp=5;\nSELECT 1;\n" +
			"# Time: 2024-03-01T10:20:31.5Z\n# User@Host: a[a] @ h []\n# Query_time: 1\nSET timestamp=5;\nSELECT 2;\n", "2024-03-01 10:20:30.5 UTC, 2024-03-01 10:20:31.5 UTC"},
		{"slow, MariaDB", "# User@Host: a[a] @ h []\n# Query_time: 1\nSELECT 1;\n# Time: 231127  4:05:06\n# User@Host: a[a] @ h []\n# Query_time: 1\nSELECT 2;\n" +
			"# User@Host: a[a] @ h []\n# Query_time: 1\nSELECT 3;\n", "none, 2023-11-27 04:05:06 server time, 2023-11-27 04:05:06 server time"},
		{"general, MySQL 8", "2024-03-01T10:20:30.25Z\t    8 Query\tSELECT 1\n", "2024-03-01 10:20:30.25 UTC"},
		{"general, MariaDB", "231127 14:05:06\t    5 Query\tSELECT 1\n\t\t    5 Query\tSELECT 2\n991399 14:05:06\t    5 Query\tSELECT 3\n",
			"2023-11-27 14:05:06 server time, 2023-11-27 14:05:06 server time, 2023-11-27 14:05:06 server time"},
	} {
		r := NewReader(strings.NewReader(c.log), 100)
		var got []string
		for {
			e, err := r.Next()
			if err != nil {
				break
			}
			if e.At.IsZero() {
				got = append(got, "none")
			} else {
				got = append(got, e.At.Format("2006-01-02 15:04:05.999 MST"))
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, strings.Join(got, ", "), c.want)
		}
	}
}

// FuzzLog reads any bytes as a log: it ends, and nothing that it gives is longer than it may be.
func FuzzLog(f *testing.F) {
	f.Add(startLines + "# Time: 130601  8:01:06\n# User@Host: a[a] @ h []\n# Query_time: 1\nuse x;\nSET timestamp=1;\nSELECT 1;\n")
	f.Add("130601  8:01:06\t    5 Connect\troot@localhost on shop\n\t\t    5 Query\tSELECT 1\nFROM t\n\t\t    5 Quit\t\n")
	f.Fuzz(func(t *testing.T, log string) {
		r := NewReader(strings.NewReader(log), 100)
		last := 0
		for n := 0; ; n++ {
			e, err := r.Next()
			if err != nil {
				return
			}
			if len(e.Text) > 100 || n > len(log) {
				t.Fatalf("entry %d has %d bytes", n, len(e.Text))
			}
			if e.Line > 0 && e.Line < last {
				t.Fatalf("line %d behind %d", e.Line, last)
			}
			last = max(last, e.Line)
		}
	})
}
