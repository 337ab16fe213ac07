package session

import (
	"testing"

	"kingshard/backend/stored"
	"kingshard/mysql/sqltext"
)

// asked answers the questions of stored.Ask: a server with one procedure, in mysql, that writes a user variable.
type asked struct{}

func (asked) Rows(sql string, columns int, row func([]string)) error {
	switch columns {
	case 1:
		row([]string{"0"})
	case 5:
		row([]string{"database", "mysql", "", "", ""})
		row([]string{"database", "shop", "", "", ""})
		row([]string{"right", "", "TRIGGER", "", ""})
		row([]string{"right", "", "SELECT", "", ""})
		row([]string{"FUNCTION", "mysql", "sets", "BEGIN SET @x = 1; RETURN 1; END", ""})
	}
	return nil
}

// A statement is not looked into where it cannot reach the one routine that has effects, which is the server's own; where it may, what it
// reaches is found.
func TestReachesNone(t *testing.T) {
	m := sqltext.Mode{MariaDB: true, ServerVersion: 101119}
	o, err := stored.Ask(asked{}, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, db string
		none     bool
		reaches  stored.Effects
	}{
		{"SELECT * FROM t WHERE id = 1", "shop", true, 0},
		{"SELECT * FROM t WHERE id = 1", "", true, 0},
		{"SELECT 'mysql'", "shop", true, 0},
		{"SELECT sets()", "shop", false, 0}, // a function that is not the servers' own
		{"UPDATE t SET a = 1", "shop", true, 0},
		{"SELECT sets()", "mysql", false, stored.UserVariables},
		{"SELECT sets()", "MySQL", false, stored.UserVariables},
		{"SELECT mysql.sets()", "shop", false, stored.UserVariables},
		{"SELECT mySQL . sets ()", "shop", false, stored.UserVariables},
		{"SELECT `mysql`.sets()", "shop", false, stored.UserVariables},
		{"SELECT /*!50000 mysql.*/sets()", "shop", false, stored.UserVariables},
		{"INSERT INTO t SELECT mysql.sets()", "shop", false, stored.UserVariables},
		{"WITH c AS (SELECT `mysql`.`sets`() AS x) SELECT * FROM c", "shop", false, stored.UserVariables},
		{"SELECT 'a", "shop", false, stored.Unknown},
		{"CALL sets()", "shop", false, 0},
		{"SELECT GET_LOCK('a', 1)", "shop", false, 0},
	} {
		info := sqltext.Classify(c.text, m)
		if got := reachesNone(o, &info, c.db); got != c.none {
			t.Errorf("%s in %q: out of reach %v, want %v", c.text, c.db, got, c.none)
		}
		if got := o.Reach(c.text, c.db, m, false); got != c.reaches {
			t.Errorf("%s in %q reaches %b, want %b", c.text, c.db, got, c.reaches)
		}
	}
	info := sqltext.Classify("SELECT 1", m)
	if reachesNone(nil, &info, "shop") || reachesNone(stored.Hidden(), &info, "shop") {
		t.Error("nothing is known of the server, and the statement reaches nothing")
	}
}
