package sqltext

import "testing"

func TestWithoutVersions(t *testing.T) {
	for _, test := range []struct{ text, mysql, maria string }{
		{"SELECT 1 /* plain */", "SELECT 1 /* plain */", "SELECT 1 /* plain */"},
		{"/*!50100 SELECT a */", "         SELECT a   ", "         SELECT a   "},
		{"/*!99999 nothing*/ SELECT 1", "                   SELECT 1", "                   SELECT 1"},
		{"SELECT /*!40001 SQL_NO_CACHE */ a", "SELECT          SQL_NO_CACHE    a", "SELECT          SQL_NO_CACHE    a"},
		{"SELECT /*+ NO_INDEX(t) */ a /*!50000 FROM t*/", "SELECT /*+ NO_INDEX(t) */ a          FROM t  ", "SELECT /*+ NO_INDEX(t) */ a          FROM t  "},
		{"SELECT 1 /*M! + 1 */", "SELECT 1            ", "SELECT 1      + 1   "},
		{"SELECT 1 /*!80030 + 1 */", "SELECT 1          + 1   ", "SELECT 1                "},
		{"SELECT '/*!1 */' /*!, 'a' */", "SELECT '/*!1 */'    , 'a'   ", "SELECT '/*!1 */'    , 'a'   "},
	} {
		if got := WithoutVersions(test.text, Mode{ServerVersion: 90700}); got != test.mysql {
			t.Errorf("%q is to MySQL %q, want %q", test.text, got, test.mysql)
		}
		if got := WithoutVersions(test.text, Mode{MariaDB: true, ServerVersion: 101119}); got != test.maria {
			t.Errorf("%q is to MariaDB %q, want %q", test.text, got, test.maria)
		}
	}
}
