package session_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
)

const blockingRules = `query_rules:
- {name: small, tables: [small], allow: true}
- {name: tried, classes: [read], block: never, dry_run: true}
- {name: no-delete, classes: [delete], block: not here}
- {name: no-secret, tables: [secret], block: ask the owner}
- {name: no-sleep, pattern: '(?i)\bsleep ?\(', block: no naps}
- {name: no-riddles, classes: [doubtful], block: say it plainly}
`

// recorder is a scripted server that keeps what it gets.
type recorder struct {
	mu    sync.Mutex
	texts []string
}

func (r *recorder) handle(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
	r.mu.Lock()
	r.texts = append(r.texts, string(payload))
	r.mu.Unlock()
	oldServer(c, cmd, payload)
}

// seen tells whether the server got a text with that word in it.
func (r *recorder) seen(word string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.texts, func(text string) bool { return strings.Contains(text, word) })
}

// ruleHits is the count of the one rule in an answer to SHOW KS QUERY_RULES.
func ruleHits(r *mysqltest.RawResult) any { return r.Rows[0][slices.Index(r.Names(), "hits")] }

// recorded starts a proxy in front of a recorder.
func recorded(t *testing.T, more ...string) (*recorder, string) {
	t.Helper()
	r := new(recorder)
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: r.handle})
	return r, startProxy(t, &mysqltest.RealServer{Addr: server.Addr}, 4, more...)
}

// A refused statement reaches no server, in whatever way it is sent, on a goroutine or in a loop.
func TestRulesBlock(t *testing.T) {
	for _, lane := range []string{"", "fast_lane: true\n"} {
		server, addr := recorded(t, blockingRules, lane)
		c := dial(t, addr, rootClient())
		must(t, c, "SELECT rows")
		must(t, c, "DELETE FROM small WHERE a = 0")
		for text, rule := range map[string]string{
			"DELETE FROM forbidden": "no-delete", "/* x */ delete/**/from forbidden;": "no-delete", "SELECT forbidden FROM `Secret`": "no-secret",
			"UPDATE a.secret SET forbidden = 1": "no-secret", "SELECT SLEEP (1), 'forbidden'": "no-sleep", "SELECT sleep/**/(1), 'forbidden'": "no-sleep",
			"SELECT 'forbidden": "no-riddles", "PREPARE p FROM 'DELETE FROM forbidden'": "no-delete", "PREPARE p FROM @forbidden": "no-riddles",
			"PREPARE p FROM 'SELECT ''forbidden'' FROM secret'": "no-secret",
		} {
			r, err := c.Query(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if r.Err == nil || r.Err.Code != kserror.QueryRule || !strings.HasPrefix(r.Err.Message, "query rule "+rule+": ") {
				t.Errorf("%s: %v, want the refusal of %s", text, r.Err, rule)
			}
		}
		_, err := c.Prepare("DELETE FROM forbidden WHERE id = ?")
		var e *mysql.SQLError
		if !errors.As(err, &e) || e.Code != kserror.QueryRule || e.Message != "query rule no-delete: not here" {
			t.Errorf("prepare: %v", err)
		}
		packets, err := c.Command(mysql.ComQuery, "SELECT rows; DELETE FROM forbidden; SELECT rows")
		if err != nil || packets[len(packets)-1][0] != mysql.ErrHeader {
			t.Errorf("the second of three statements: %q, %v", packets, err)
		}
		must(t, c, "SELECT rows")
		if server.seen("forbidden") || !server.seen("small") {
			t.Errorf("the server saw %q", server.texts)
		}
		// Four queries that ran, three of them alone, and five that other rules refused; no step from a loop to a goroutine counts twice.
		must(t, c, "SELECT rows")
		if r := must(t, c, "SHOW KS QUERY_RULES LIKE 'tried'"); ruleHits(r) != "9" {
			t.Errorf("%q, want 9 hits", r.Rows)
		}
	}
}

// Rules of other users and sources do not count, and COM_CHANGE_USER changes the user.
func TestRulesOfUsers(t *testing.T) {
	_, addr := recorded(t, `query_rules:
- {name: guests, users: [mysql_native_password], classes: [delete], block: not you}
- {name: elsewhere, sources: 10.0.0.0/8, block: not from there}
`)
	c := dial(t, addr, rootClient())
	must(t, c, "DELETE FROM t")
	if err := c.ChangeUser("mysql_native_password", "secret", ""); err != nil {
		t.Fatal(err)
	}
	fails(t, c, "DELETE FROM t", kserror.QueryRule)
	if err := c.ChangeUser("root", "root", ""); err != nil {
		t.Fatal(err)
	}
	must(t, c, "DELETE FROM t")
}

// A statement that takes too long is ended on its server; the session and what it does next are as ever.
func TestRuleTimeout(t *testing.T) {
	onBoth(t, 4, func(t *testing.T, _ *mysqltest.RealServer, addr string) {
		c := dial(t, addr, accept())
		must(t, c, "DROP TABLE IF EXISTS slow")
		must(t, c, "CREATE TABLE slow (id INT PRIMARY KEY)")
		must(t, c, "INSERT INTO slow VALUES (1), (2), (3), (4)")
		for range 2 {
			fails(t, c, "SELECT SUM(SLEEP(20)) FROM slow", mysql.ERQueryTimeout)
			if r := must(t, c, "SELECT COUNT(*) FROM slow"); r.Rows[0][0] != "4" {
				t.Errorf("%q", r.Rows)
			}
		}
		st, err := c.Prepare("SELECT SUM(SLEEP(?)) FROM slow")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := st.Execute("20"); err != nil || r.Err == nil || r.Err.Code != mysql.ERQueryTimeout {
			t.Errorf("prepared: %+v, %v", r, err)
		}
		must(t, c, "SELECT SUM(SLEEP(0)) FROM slow")
	}, "query_rules:\n- {name: slow, classes: [read], timeout: 1s}\n")
}

// What is beyond a limit of the user is refused and reaches no server; others are not bothered.
func TestUserLimits(t *testing.T) {
	r := new(recorder)
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: r.handle})
	addr := startProxyText(t, `
addr: 127.0.0.1:0
user_list:
- {user: root, password: root, max_qps: 1}
- {user: app, password: app}
nodes: [{name: n, user: root, password: root, master: "`+server.Addr+`"}]
schema_list:
- {user: root, nodes: [n], default: n}
- {user: app, nodes: [n], default: n}
`)
	c, other := dial(t, addr, rootClient()), dial(t, addr, mysqltest.ClientConfig{User: "app", Password: "app"})
	st, err := c.Prepare("SELECT a")
	if err != nil {
		t.Fatal(err)
	}
	must(t, c, "SELECT rows")
	for n := 0; ; n++ { // the second may pass before the first refusal
		res, err := c.Query("SELECT rows, 'forbidden'")
		if err != nil {
			t.Fatal(err)
		}
		if res.Err != nil {
			if res.Err.Code != mysql.ERUserLimitReached || res.Err.Message != "User 'root' has exceeded the 'max_qps' resource" {
				t.Error(res.Err)
			}
			if n == 0 && r.seen("forbidden") {
				t.Error("the server saw what was refused")
			}
			break
		}
	}
	if res, err := st.Execute("1"); err != nil || res.Err == nil || res.Err.Code != mysql.ERUserLimitReached {
		t.Errorf("prepared: %+v, %v", res, err)
	}
	for range 20 {
		must(t, other, "SELECT rows")
	}
	must(t, c, "SHOW KS STATUS")
}

// A rewritten statement is what the servers see, in whatever way it is sent.
func TestRulesRewrite(t *testing.T) {
	for _, lane := range []string{"", "fast_lane: true\n"} {
		server, addr := recorded(t, `query_rules:
- {name: index, pattern: '(?i)\bfrom old\b', rewrite: FROM new, next: true}
- {name: fewer, pattern: 'FEWER \?', rewrite: FEWER 1}
- {name: word, pattern: '^SET wrong', rewrite: SET @right}
- {name: late, classes: [select], pattern: 'FROM late', rewrite: FROM soon}
- {name: own, pattern: '^SELECT own$', rewrite: SHOW KS STATUS}
`, lane)
		c := dial(t, addr, rootClient())
		for range 3 {
			must(t, c, "SELECT /* x */ rows FROM old WHERE a = 1;")
		}
		must(t, c, "SET wrong = 1")
		must(t, c, "SELECT rows FROM t")
		packets, err := c.Command(mysql.ComQuery, "SELECT rows FROM b; SELECT second FROM OLD")
		if err != nil || packets[len(packets)-1][0] == mysql.ErrHeader {
			t.Errorf("two statements: %q, %v", packets, err)
		}
		must(t, c, "PREPARE p FROM 'SELECT outer FROM old'")
		st, err := c.Prepare("SELECT prepared FROM old WHERE a = ?")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if r, err := st.Execute("1"); err != nil || r.Err != nil {
				t.Errorf("%+v, %v", r, err)
			}
		}
		for text, want := range map[string]bool{
			"SELECT rows FROM new WHERE a = 1": true, "SELECT second FROM new": true, "SELECT prepared FROM new WHERE a = ?": true, "SELECT rows FROM t": true, "'SELECT outer FROM new'": true,
			"old": false, "OLD": false, "wrong": false,
		} {
			if server.seen(text) != want {
				t.Errorf("%s: %v; the server saw %q", text, !want, server.texts)
			}
		}
		var e *mysql.SQLError
		if _, err := c.Prepare("SELECT FEWER ?"); !errors.As(err, &e) || e.Code != kserror.QueryRule || !strings.Contains(e.Message, "rule fewer: it changes the number of parameters") {
			t.Errorf("a parameter less: %v", err)
		}
		fails(t, c, "PREPARE p FROM 'SELECT inner FROM late'", kserror.QueryRule)
		if server.seen("inner") || server.seen("FEWER") {
			t.Errorf("the server saw %q", server.texts)
		}
		if r := must(t, c, "SHOW KS QUERY_RULES LIKE 'index'"); ruleHits(r) != "7" {
			t.Errorf("%q, want 7 hits", r.Rows)
		}
	}
}
