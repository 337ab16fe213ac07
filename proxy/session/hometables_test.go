package session

import (
	"testing"

	"kingshard/mysql/sqltext"
)

// TestNamesTables tells statements that are about tables from those that are about the session alone.
func TestNamesTables(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT @v": false, "SELECT @v FROM dual": false, "SELECT EXTRACT(DAY FROM @v)": false, "SELECT TRIM('a' FROM @v), (SELECT 1)": false,
		"WITH c AS (SELECT @v AS a) SELECT a FROM c": false, "VALUES ROW(@v)": false, "DO @v := 1": false, "DO GET_LOCK('a', 1)": false, "SET @v = (SELECT 1)": false,
		"SHOW VARIABLES": false, "SAVEPOINT a": false, "USE d": false, "EXECUTE s": false, "UNLOCK TABLES": false,
		"SELECT @v FROM t": true, "SELECT (SELECT MAX(a) FROM t) + @v": true, "SELECT a FROM (SELECT @v AS a) AS d JOIN t USING (a)": true,
		"WITH c AS (SELECT a FROM t) SELECT @v, a FROM c": true, "INSERT INTO t VALUES (@v)": true, "UPDATE t SET a = @v": true, "DELETE FROM t WHERE a = @v": true, "DO (SELECT @v := a FROM t)": true,
		"SET @v = (SELECT a FROM t)": true, "CREATE TEMPORARY TABLE t (a INT)": true, "LOCK TABLES t READ": true, "CALL p(@v)": true, "TRUNCATE t": true, "EXPLAIN SELECT @v FROM t": true,
		"SELECT a FROM t WHERE a = @v FOR UPDATE": true,
	} {
		info := sqltext.Classify(text, sqltext.Mode{})
		if got := namesTables(text, &info, sqltext.Mode{}); got != want {
			t.Errorf("%s: names tables %v", text, got)
		}
	}
}
