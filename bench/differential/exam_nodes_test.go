package differential

import (
	"fmt"
	"testing"
)

// TestReadNodesEndWithTheTransaction reads from both nodes in a transaction of a session that keeps its connection for another reason
// too. Behind the transaction's end the session sees what others have changed since, on each node, and holds no lock.
func TestReadNodesEndWithTheTransaction(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			_, pair := oracle(t, kind), twoNodes(t, kind)
			for _, addr := range pair {
				c := examConn(t, addr, "")
				examRun(t, c, "DROP DATABASE IF EXISTS "+examDB)
				examRun(t, c, "CREATE DATABASE "+examDB)
				_ = c.Close()
			}
			subject := examProxy(t, pair, fmt.Sprintf(examRules, "[1, 1]"))
			other := examConn(t, subject, examDB)
			defer other.Close()
			examRun(t, other, "CREATE TABLE h (id INT NOT NULL PRIMARY KEY, n INT)")
			examRun(t, other, "INSERT INTO h (id, n) VALUES (0, 0), (1, 0), (2, 0), (3, 0)")
			changes := 0
			for _, keep := range []string{"SELECT @v := 1", "SELECT GET_LOCK('kept', 1)", "CREATE TEMPORARY TABLE mine (a INT)", "SELECT 1"} {
				for _, begin := range []string{"BEGIN", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "SET autocommit = 0"} {
					for _, read := range []string{"SELECT SUM(n) FROM h", "SELECT n FROM h ORDER BY id", "SELECT n FROM h WHERE id = 0; SELECT n FROM h WHERE id = 1", "SELECT n FROM h WHERE id = 1; SELECT n FROM h WHERE id = 0"} {
						for _, end := range []string{"COMMIT", "ROLLBACK", "SET autocommit = 1; COMMIT", "BEGIN", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN"} {
							c := examConn(t, subject, examDB)
							for _, sql := range []string{keep, begin, read, end} {
								if _, err := c.Exec(sql); err != nil {
									t.Logf("%s: %v", sql, err) // one that is refused leaves nothing open either
								}
							}
							examRun(t, other, "UPDATE h SET n = n + 1")
							changes++
							r, err := c.Exec("SELECT SUM(n) FROM h")
							if want := fmt.Sprint(4 * changes); err != nil || r.Rows[0][0] != want {
								t.Errorf("%s; %s; %s; %s: then %v %v, want %s", keep, begin, read, end, r.Rows, err, want)
							}
							examRun(t, c, "COMMIT")
							_ = c.Close()
						}
					}
				}
			}
			t.Logf("%d cases", changes)
		})
	}
}

// TestVariablesOnOtherNodes reads a user variable on each node in a transaction: it has its value or the statement is refused.
func TestVariablesOnOtherNodes(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{setup: []string{
				"CREATE TABLE h (id INT NOT NULL PRIMARY KEY, n INT)", "CREATE TABLE one (id INT NOT NULL PRIMARY KEY, n INT)", "CREATE TABLE ref (id INT NOT NULL PRIMARY KEY, n INT)",
				"INSERT INTO h (id, n) VALUES (0, 3), (1, 3), (2, 3), (3, 3)", "INSERT INTO one VALUES (1, 3)", "INSERT INTO ref VALUES (1, 3)",
			}}
			for _, set := range []string{"SET @v = 3", "SELECT @v := 3", "SELECT @v := n FROM one", "SELECT 3 INTO @v"} {
				for _, begin := range []string{"BEGIN", "SET autocommit = 0", "START TRANSACTION READ ONLY"} {
					for _, first := range []string{"SELECT n FROM h WHERE id = 0", "SELECT n FROM h WHERE id = 1", "SELECT n FROM one", "SELECT COUNT(*) FROM ref", "SELECT SUM(n) FROM h"} {
						for _, read := range []string{"SELECT COUNT(*) FROM ref WHERE n = @v", "SELECT COUNT(*) FROM one WHERE n = @v", "SELECT COUNT(*) FROM h WHERE id = 0 AND n = @v", "SELECT MAX(n), @v + 0 FROM h WHERE id = 1"} {
							e.asked = append(e.asked, "?"+set, begin, "?"+first, "?"+read, "COMMIT", "SET autocommit = 1", "SET @v = NULL")
						}
					}
				}
			}
			e.examined(t, kind)
		})
	}
}
