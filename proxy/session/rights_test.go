package session

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/queryrule"
)

// rightsApart is a client of a user with rights of their own in front of a server that nobody asks.
func rightsApart(t *testing.T, u config.User, change func(cfg *config.Config)) (*apart, *rights) {
	t.Helper()
	cfg := partsConfig(&mysqltest.ScriptServer{Addr: "127.0.0.1:1"})
	u.User, u.Password = "u", "u"
	cfg.UserList = append(cfg.UserList, u)
	cfg.SchemaList = append(cfg.SchemaList, config.Schema{User: "u", Nodes: []string{"n1"}, Default: "n1"})
	if change != nil {
		change(cfg)
	}
	a := apartOf(t, "u", newShared(t, cfg))
	xs := a.withExchanges()
	return a, &rights{client: a.client, leases: xs.leases, routing: xs.routing, exchanges: xs}
}

// What a client may send, by the rights of its user: the code of the error that it hears, 0 where it may.
func TestRightsAllow(t *testing.T) {
	const denied, refused, variable, process = mysql.ERTableaccessDenied, KSRefusedStatement, KSRefusedVariable, mysql.ERSpecificAccessDenied
	plain, readOnly, all := config.User{}, config.User{ReadOnly: true}, config.User{Process: true}
	for _, tt := range []struct {
		text                 string
		plain, readOnly, all uint16
	}{
		{"SELECT a FROM t", 0, 0, 0},
		{"SHOW TABLES", 0, 0, 0},
		{"SET @a = 1", 0, 0, 0},
		{"UPDATE t SET a = 1", 0, denied, 0},
		{"SELECT a FROM t FOR UPDATE", 0, denied, 0},
		{"SELECT f()", 0, denied, 0},
		{"CREATE TABLE x (a INT)", 0, denied, 0},
		{"PREPARE p FROM 'DELETE FROM t'", 0, denied, 0},
		{"PREPARE p FROM 'SELECT 1'", 0, 0, 0},
		{"SET GLOBAL max_connections = 1", variable, denied, variable},
		{"SET sql_log_bin = 0", variable, variable, variable},
		{"SET PASSWORD = 'x'", variable, denied, variable},
		{"PREPARE p FROM 'SET GLOBAL max_connections = 1'", variable, denied, variable},
		{"HANDLER t OPEN", refused, denied, refused},
		{"SHUTDOWN", refused, denied, refused},
		{"CHANGE MASTER TO MASTER_HOST = 'x'", refused, denied, refused},
		{"ALTER USER proxy IDENTIFIED BY 'x'", refused, denied, refused},
		{"ALTER USER somebody IDENTIFIED BY 'x'", 0, denied, 0},
		{"SELECT * FROM mysql.user", refused, refused, refused},
		{"SELECT * FROM information_schema.processlist", process, process, 0},
		{"SELECT * FROM information_schema.tables", 0, 0, 0},
		{"SHOW ENGINE INNODB STATUS", process, process, 0},
		{"SHOW CREATE USER x", refused, refused, refused},
		{"FLUSH TABLES WITH READ LOCK", refused, denied, 0},
		{"LOAD DATA LOCAL INFILE 'x' INTO TABLE t", KSLocalInfile, denied, KSLocalInfile},
		{"KILL 1", 0, 0, 0},
		{"KILL a b", refused, refused, refused},
		{"BEGIN NOT ATOMIC KILL 1; END", refused, denied, refused},
	} {
		for _, who := range []struct {
			name string
			user config.User
			want uint16
		}{{"plain", plain, tt.plain}, {"read only", readOnly, tt.readOnly}, {"process", all, tt.all}} {
			a, ri := rightsApart(t, who.user, nil)
			if err := ri.allow(a.says(tt.text)); sqlCode(err) != who.want || (err == nil) != (who.want == 0) {
				t.Errorf("%s: %s: %v, want %d", who.name, tt.text, err, who.want)
			}
		}
	}
}

// An execution of what was prepared while the user had more rights is refused, too.
func TestRightsOfExecutions(t *testing.T) {
	for text, writes := range map[string]bool{"SELECT a FROM t": false, "UPDATE t SET a = 1": true} {
		for _, readOnly := range []bool{false, true} {
			a, ri := rightsApart(t, config.User{ReadOnly: readOnly}, nil)
			q := a.says(text)
			st := &stmt{text: text, source: text, info: q.info, mode: a.mode()}
			q.execute(st, new(execution))
			if err := ri.allow(q); (sqlCode(err) == mysql.ERTableaccessDenied) != (writes && readOnly) {
				t.Errorf("%s, read only %v: %v", text, readOnly, err)
			}
		}
	}
}

// The blacklist forbids a statement, whatever its literals are, also within others.
func TestRightsBlacklist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "blacklist")
	if err := os.WriteFile(path, []byte("DELETE FROM t WHERE a = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	black, err := queryrule.LoadBlacklist(path)
	if err != nil {
		t.Fatal(err)
	}
	a, ri := rightsApart(t, config.User{}, nil)
	a.snap.Blacklist = black
	for text, forbidden := range map[string]bool{
		"DELETE FROM t WHERE a = 1": true, "delete  from t where a = 'x'": true, "PREPARE p FROM 'DELETE FROM t WHERE a = 2'": true,
		"DELETE FROM t WHERE b = 1": false, "SELECT 1": false,
	} {
		if err := ri.allow(a.says(text)); (err == errBlacklisted) != forbidden || !forbidden && err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Query rules block, rewrite and bound what the users send whom they are for, and count it.
func TestRightsRules(t *testing.T) {
	rules := func(cfg *config.Config) {
		cfg.QueryRules = []config.QueryRule{
			{Name: "others", Users: []string{"app"}, Pattern: "a = 1", Block: "not for app"},
			{Name: "block", Pattern: "a = 2", Block: "not now"},
			{Name: "rewrite", Pattern: "a = 3", Rewrite: "a = 33"},
			{Name: "bound", Pattern: "a = 4", Timeout: 1_000_000_000},
		}
	}
	for _, tt := range []struct {
		text, runs string
		code       uint16
		bound      bool
		hits       string
	}{
		{"SELECT a FROM t WHERE a = 1", "SELECT a FROM t WHERE a = 1", 0, false, ""},
		{"SELECT a FROM t WHERE a = 2", "", KSQueryRule, false, "block"},
		{"SELECT a FROM t WHERE a = 3", "SELECT a FROM t WHERE a = 33", 0, false, "rewrite"},
		{"SELECT a FROM t WHERE a = 4", "SELECT a FROM t WHERE a = 4", 0, true, "bound"},
		{"PREPARE p FROM 'SELECT a FROM t WHERE a = 2'", "", KSQueryRule, false, "block"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			a, ri := rightsApart(t, config.User{}, rules)
			q := a.says(tt.text)
			err := ri.allow(q)
			if sqlCode(err) != tt.code || err == nil && (q.text != tt.runs || (q.verdict.Timeout > 0) != tt.bound) {
				t.Errorf("%v, runs %s within %v", err, q.text, q.verdict.Timeout)
			}
			for _, r := range a.snap.Rules.Rules() {
				if n := r.Hits(); (n > 0) != (r.Name == tt.hits) {
					t.Errorf("rule %s was hit %d times", r.Name, n)
				}
			}
			// What a loop asks ahead, and does not count.
			a, ri = rightsApart(t, config.User{}, rules)
			q = a.says(tt.text)
			if got := ri.passes(q.text, &q.info); got != (tt.hits == "") {
				t.Errorf("a loop runs it: %v", got)
			}
		})
	}
	// Another user, and who administers the proxy.
	cfg := partsConfig(&mysqltest.ScriptServer{Addr: "127.0.0.1:1"})
	rules(cfg)
	cfg.QueryRules = append(cfg.QueryRules, config.QueryRule{Name: "all", Classes: []string{"other", "show"}, Block: "nothing"})
	shared := newShared(t, cfg)
	for _, tt := range []struct {
		user, text string
		code       uint16
	}{
		{"app", "SELECT a FROM t WHERE a = 1", KSQueryRule}, {"root", "SELECT a FROM t WHERE a = 1", 0},
		{"app", "SHOW KS RULES", KSQueryRule}, {"root", "SHOW KS RULES", 0}, {"root", "SHOW TABLES", KSQueryRule},
	} {
		a := apartOf(t, tt.user, shared)
		xs := a.withExchanges()
		ri := &rights{client: a.client, leases: xs.leases, routing: xs.routing, exchanges: xs}
		if err := ri.allow(a.says(tt.text)); sqlCode(err) != tt.code {
			t.Errorf("%s: %s: %v", tt.user, tt.text, err)
		}
	}
}

// A user's limits bound the statement, and one too many is refused.
func TestRightsLimits(t *testing.T) {
	a, ri := rightsApart(t, config.User{MaxConcurrent: 1, MaxRows: 5, MaxSeconds: 7}, nil)
	q := a.says("SELECT a FROM t")
	if err := ri.beginLimited(q); err != nil || q.quota == nil || q.quota.Rows != 5 || q.verdict.Timeout.Seconds() != 7 {
		t.Fatalf("%v, %+v, %v", err, q.quota, q.verdict.Timeout)
	}
	if err := ri.beginLimited(a.says("SELECT a FROM t")); sqlCode(err) != mysql.ERUserLimitReached {
		t.Errorf("a second one: %v", err)
	}
	a.account.End()
	if err := ri.beginLimited(a.says("SELECT a FROM t")); err != nil {
		t.Errorf("behind the first: %v", err)
	}
	a.account.End()
}

// One too many waits for its place if the user has max_wait, and KILL ends that.
func TestRightsWait(t *testing.T) {
	a, ri := rightsApart(t, config.User{MaxConcurrent: 1, MaxWait: config.Duration(time.Minute)}, nil)
	if err := ri.beginLimited(a.says("SELECT a FROM t")); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() { second <- ri.beginLimited(a.says("SELECT a FROM t")) }()
	a.account.End()
	if err := <-second; err != nil {
		t.Errorf("behind the first: %v", err)
	}
	go func() { second <- ri.beginLimited(a.says("SELECT a FROM t")) }()
	a.entry.Interrupt(false)
	if err := <-second; sqlCode(err) != mysql.ERQueryInterrupted {
		t.Errorf("killed: %v", err)
	}
}
