package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// No table or view of the servers' own schemas shows a user without the right process what another one has sent.
func TestOthersTextsAreNotShown(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			settings := map[string]string{"performance_schema": "ON", "performance_schema_instrument": "%=ON"}
			for _, consumer := range []string{"events_statements_current", "events_statements_history", "events_statements_history_long", "events_transactions_history_long"} {
				settings["performance_schema_consumer_"+consumer] = "ON"
			}
			w := startWrapping(t, kind, settings)
			const secret = "sesame4711"
			victim := w.client("dba")
			tell := func() {
				must(t, victim, "SELECT '"+secret+"' FROM w_t")
				must(t, victim, "SET @own = '"+secret+"'")
				must(t, victim, "SELECT @own := '"+secret+"'")
			}
			must(t, victim, "BEGIN")
			must(t, victim, "INSERT INTO w_t VALUES (1)")
			if _, err := victim.Prepare("SELECT '" + secret + "', a FROM w_t"); err != nil {
				t.Fatal(err)
			}
			plain := w.client("plain")
			seen, refused, shown := 0, 0, 0
			for _, row := range must(t, w.direct, "SELECT CONCAT('`', table_schema, '`.`', table_name, '`') FROM information_schema.tables WHERE table_schema IN ('information_schema', 'performance_schema', 'sys', 'mysql') ORDER BY 1").Rows {
				table := fmt.Sprint(row[0])
				sql := "SELECT * FROM " + table
				direct, err := w.direct.Query(sql)
				if err != nil {
					t.Fatal(err)
				}
				if direct.Err == nil && strings.Contains(fmt.Sprintf("%s", direct.Rows), secret) {
					seen++
				}
				tell()
				r, err := plain.Query(sql)
				switch {
				case err != nil:
					t.Fatalf("%s: %v", sql, err)
				case r.Err != nil:
					refused++
				case strings.Contains(fmt.Sprintf("%s", r.Rows), secret):
					t.Errorf("%s shows it", sql)
				default:
					shown++
				}
			}
			if seen < 3 || shown < 50 || refused < 20 {
				t.Errorf("%d tables of the server have it; %d shown, %d refused", seen, shown, refused)
			}
			t.Logf("%d tables of the server have it; %d shown without it, %d refused", seen, shown, refused)
		})
	}
}

// XA transactions of other sessions, which on the servers are all of one account, can neither be listed nor ended without the right process;
// a session's own can.
func TestXAOfOthers(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			victim, plain, dba := w.client("plain"), w.client("plain"), w.client("dba")
			for _, sql := range []string{"XA START 'x','y',7", "INSERT INTO w_t VALUES (1)", "XA END 'x','y',7", "XA PREPARE 'x','y',7"} {
				must(t, victim, sql)
			}
			attacks := []string{"XA RECOVER", "XA RECOVER CONVERT XID", "XA COMMIT 'x','y',7", "XA ROLLBACK 'x','y',7", "xa /* a */ commit 'x', 'y', 7", "/*!50000 XA ROLLBACK 'x','y',7 */",
				"XA /*!50000 COMMIT */ 'x','y',7", "XA COMMIT 'x','y',7 ONE PHASE"}
			if w.maria {
				for _, sql := range attacks[:4] {
					attacks = append(attacks, "BEGIN NOT ATOMIC "+sql+"; END", "EXECUTE IMMEDIATE "+quoted(sql), "SET STATEMENT max_statement_time = 9 FOR "+sql)
				}
			}
			refused := func(when string) {
				t.Helper()
				for _, sql := range attacks {
					if r, err := plain.Query(sql); err != nil || r.Err == nil || !oneOf(proxysOwn, r.Err.Code) && r.Err.Code != mysql.ERParse {
						t.Errorf("%s: %s: %v %+v", when, sql, err, r)
					}
					if _, err := plain.Prepare(sql); err == nil {
						t.Errorf("%s: %s can be prepared", when, sql)
					}
				}
			}
			refused("at first")
			fails(t, plain, "XA START 'x','y',7", 1440) // which gives the session no right to end it
			refused("behind a failure")
			must(t, plain, "XA START 'own'")
			fails(t, plain, "XA START 'x','y',7", 1399)
			refused("in an XA transaction")
			for _, sql := range []string{"XA COMMIT 'own'", "XA ROLLBACK 'own'"} { // which might run when the id is another session's
				if _, err := plain.Prepare(sql); err == nil {
					t.Errorf("%s can be prepared", sql)
				}
				if r, err := plain.Query("PREPARE p FROM " + quoted(sql)); err != nil || r.Err == nil {
					t.Errorf("%s can be prepared as text: %v", sql, err)
				}
			}
			must(t, plain, "XA END 'own'")
			must(t, plain, "XA PREPARE 'own'")
			refused("behind XA PREPARE")
			must(t, plain, "XA COMMIT 'own'")
			refused("behind XA COMMIT")
			if rows := must(t, dba, "XA RECOVER").Rows; len(rows) != 1 {
				t.Errorf("%d are prepared", len(rows))
			}
			must(t, victim, "XA COMMIT 'x','y',7")
			for _, sql := range []string{"XA BEGIN 'again'", "XA END 'again'", "XA COMMIT 'again' ONE PHASE", "XA START 'back'", "XA END 'back'", "XA ROLLBACK 'back'"} {
				must(t, plain, sql)
			}
		})
	}
}
