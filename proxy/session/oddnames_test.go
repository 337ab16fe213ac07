package session_test

import (
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqltext"
)

// Whatever name a server takes for that of another variable is an odd one: each character of the first plane but ideographs before, within and behind.
func TestOddVariables(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			taken, asked := 0, 0
			for c := rune(1); c <= 0xFFFF; c++ {
				if c == 0x3000 {
					c = 0xF900 // in between are ideographs and syllables, which no collation takes for a letter of ASCII
				}
				if c == '`' || c == '.' {
					continue
				}
				for _, name := range []string{string(c) + "sql_mode", "sql_m" + string(c) + "ode", "sql_m" + string(c) + "de", "sql_mode" + string(c)} {
					if strings.EqualFold(name, "sql_mode") && !sqltext.Wide(name) {
						continue
					}
					asked++
					r, err := w.direct.Query("SET SESSION `" + name + "` = ''")
					if err != nil {
						t.Fatalf("%q: %v", name, err)
					}
					if r.Err != nil {
						continue
					}
					taken++
					if !sqltext.Odd(name) {
						t.Errorf("the server takes %q for sql_mode", name)
					}
				}
			}
			if !w.maria && taken == 0 {
				t.Error("the server took none")
			}
			t.Logf("%d of %d taken", taken, asked)
		})
	}
}

// Names of prepared statements and of variables that a server may take for others are refused.
func TestOddNames(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			c := w.client("plain")
			must(t, c, "PREPARE `se` FROM 'SELECT 1'")
			for _, sql := range []string{
				"PREPARE `se ` FROM 'SELECT 2'", "PREPARE sé FROM 'SELECT 2'", "PREPARE `se\t` FROM 'SELECT 2'", "EXECUTE `se `", "EXECUTE sé", "DEALLOCATE PREPARE `se `",
				"DROP PREPARE sé", "SET `autocommit ` = 0", "SET @@session.`sql_mode ` = ''", "SET LOCAL `sql_mode ` = ''",
			} {
				if why := refused(c.Query(sql)); why != "" {
					t.Errorf("%s: %s", sql, why)
				}
			}
			must(t, c, "EXECUTE se")
			must(t, c, "DEALLOCATE PREPARE `SE`")
		})
	}
}
