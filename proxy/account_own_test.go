package proxy_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/backend/stored"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/querylog"
)

// twoAccounts makes the accounts clients and own on a server, with the rights of docs/sharding.md, the own one without that to end others'
// statements.
func twoAccounts(t *testing.T, server *mysqltest.RealServer) *mysqltest.RawClient {
	t.Helper()
	direct := dial(t, server.Addr, rootClient())
	statements := []string{
		"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database, "DROP USER IF EXISTS clients, own",
		"CREATE USER clients IDENTIFIED BY 'clients-password'", "CREATE USER own IDENTIFIED BY 'own-account-password'",
		"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE TEMPORARY TABLES, EXECUTE ON " + database + ".* TO clients",
		"GRANT TRIGGER, SHOW VIEW ON " + database + ".* TO own", "GRANT PROCESS ON *.* TO own",
	}
	if server.Kind == mysqltest.MariaDB {
		statements = append(statements, "GRANT REPLICA MONITOR, REPLICATION MASTER ADMIN ON *.* TO own", "GRANT SELECT ON mysql.proc TO own")
	} else {
		statements = append(statements, "GRANT REPLICATION CLIENT, REPLICATION SLAVE, SHOW_ROUTINE ON *.* TO own", "GRANT SELECT ON performance_schema.data_lock_waits TO own")
	}
	for _, text := range statements {
		must(t, direct, text)
	}
	return direct
}

// killRight is that to end others' statements.
func killRight(kind mysqltest.Kind) string {
	if kind == mysqltest.MariaDB {
		return "CONNECTION ADMIN"
	}
	return "CONNECTION_ADMIN"
}

// ownText is a configuration of nodes n and m on one server by two names, with the two accounts; keys are further ones of them.
func ownText(server *mysqltest.RealServer, password string) string {
	_, port, _ := net.SplitHostPort(server.Addr)
	text := configText([]node{{name: "n", master: server.Addr, slave: "localhost:" + port + ", discover", conns: 8}, {name: "m", master: "localhost:" + port, conns: 8}})
	text = strings.ReplaceAll(text, "user: root, password: root, master", "user: clients, password: clients-password, admin_user: own, admin_password: "+password+", master")
	rule := ", shard: [{db: " + database + ", table: spread, key: id, nodes: [n, m], type: mod, locations: [1, 1]}]}"
	return strings.Replace(text, "{user: root, nodes: [n, m], default: n}", "{user: root, nodes: [n, m], default: n"+rule, 1)
}

// Threat 42: what needs power runs by admin_user, and no statement of a client does, whatever it is; nobody changes that account.
func TestOwnAccount(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("servers of its own")
	}
	for _, kind := range bothKinds {
		for _, lane := range []string{"fast_lane: false", "pipelined_sharing: true"} {
			t.Run(string(kind)+"/"+lane, func(t *testing.T) {
				t.Parallel()
				testOwnAccount(t, startOwn(t, mysqltest.ServerConfig{Kind: kind, Settings: map[string]string{"performance-schema": "ON"}}), lane)
			})
		}
	}
}

func testOwnAccount(t *testing.T, server *mysqltest.RealServer, lane string) {
	direct := twoAccounts(t, server)
	for _, text := range []string{
		"USE " + database, "CREATE TABLE plain (id INT PRIMARY KEY, v INT)", "INSERT INTO plain VALUES (1, 1)", "CREATE TABLE triggered (id INT PRIMARY KEY)",
		"CREATE TRIGGER tr BEFORE INSERT ON triggered FOR EACH ROW SET @left_behind = 1", "CREATE TABLE spread_0000 (id INT PRIMARY KEY, v INT)", "CREATE TABLE spread_0001 LIKE spread_0000",
		"CREATE FUNCTION who() RETURNS VARCHAR(99) DETERMINISTIC SQL SECURITY INVOKER RETURN CURRENT_USER()", "CREATE DATABASE IF NOT EXISTS ks_unseen", "GRANT SELECT, INSERT ON ks_unseen.* TO clients", "DROP ROLE IF EXISTS of_own", "CREATE ROLE of_own", "GRANT of_own TO own",
		"SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = 1",
	} {
		must(t, direct, text)
	}
	if server.Kind == mysqltest.MariaDB {
		must(t, direct, "SET DEFAULT ROLE of_own FOR own")
	} else {
		must(t, direct, "SET DEFAULT ROLE of_own TO own")
	}
	must(t, direct, "GRANT "+killRight(server.Kind)+" ON *.* TO own")
	text := ownText(server, "own-account-password") + lane + "\n"
	p := startProxy(t, text)
	mysqltest.WaitFor(t, "the stored objects", func() bool { return p.primary("n").Stored() != nil && p.primary("m").Stored() != nil })
	ownAccountSees(t, p)

	c := p.client(database)
	for _, text := range []string{
		"INSERT INTO plain VALUES (2, 2) /* of a client */", "BEGIN", "UPDATE plain SET v = 3 /* of a client */", "COMMIT", "INSERT INTO triggered VALUES (1) /* of a client */",
		"INSERT INTO spread VALUES (1, 1), (2, 2), (3, 3) /* of a client */", "SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM spread /* of a client */", "UPDATE spread SET v = 0 /* of a client */",
		"PREPARE st FROM 'SELECT 1 /* of a client */'", "EXECUTE st", "SELECT * FROM plain WHERE id = 1 /* of a client */", "SELECT SQL_NO_CACHE * FROM plain /* of a client */",
	} {
		must(t, c, text)
	}
	for _, text := range []string{"SELECT who()", "/*node:m*/ SELECT who()", "SELECT who() FROM spread WHERE id = 1", "SELECT MIN(who()) FROM spread"} {
		if got := value(t, p.client(database), text); got != "clients@%" {
			t.Errorf("%s: %s", text, got)
		}
	}
	ended := func() {
		t.Helper()
		sleeper, killer := p.client(""), p.client("")
		id := value(t, sleeper, "SELECT CONNECTION_ID()")
		over := make(chan error, 1)
		go func() {
			r, err := sleeper.Query("SELECT SLEEP(60) /* of a client */")
			if err == nil && r.Err != nil {
				err = r.Err
			}
			over <- err
		}()
		mysqltest.WaitFor(t, "the sleeper", func() bool {
			return number(t, direct, "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'clients' AND info LIKE 'SELECT SLEEP%'") > 0
		})
		must(t, killer, "KILL QUERY "+id)
		select {
		case <-over:
		case <-time.After(20 * time.Second):
			t.Fatal("KILL QUERY ends nothing")
		}
	}
	ended()
	waitForLocks(t, p, direct)
	for _, text := range []string{
		"ALTER USER own IDENTIFIED BY 'x'", "ALTER USER 'OWN'@'%' ACCOUNT LOCK", "SET PASSWORD FOR own = 'x'", "DROP USER own", "RENAME USER own TO other", "GRANT SELECT ON *.* TO own",
		"CREATE USER own@localhost IDENTIFIED BY 'x'", "REVOKE PROCESS ON *.* FROM own", "PREPARE st FROM 'DROP USER own'", "CREATE PROCEDURE pr() ALTER USER own IDENTIFIED BY 'x'",
	} {
		if r, err := c.Query(text); err != nil || r.Err == nil || r.Err.Code != 9006 && r.Err.Code != 9005 {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
		if _, err := c.Prepare(text); err == nil {
			t.Errorf("%s can be prepared", text)
		}
	}
	mysqltest.WaitFor(t, "the lag to be asked for", func() bool { _, asked := p.Nodes()["n"].Replicas[0].Lag(); return asked })
	for _, asked := range []string{"^SELECT db, name, key_name", "^SHOW (REPLICAS|SLAVE HOSTS)"} {
		mysqltest.WaitFor(t, asked, func() bool { // not before it is known which server is the primary
			return number(t, direct, "SELECT COUNT(*) FROM mysql.general_log WHERE CONVERT(argument USING utf8mb4) REGEXP '"+asked+"'") > 0
		})
	}
	whoRan(t, direct)
	if server.Kind != mysqltest.MariaDB { // what a routine makes up while it runs does not take the account over
		must(t, direct, "CREATE PROCEDURE take_over() SQL SECURITY INVOKER BEGIN SET @made_up = CONCAT('ALTER USER CURRENT_USER() IDENT', 'IFIED BY ''taken-over'''); PREPARE st FROM @made_up; EXECUTE st; END")
		must(t, direct, "ALTER USER clients PASSWORD REQUIRE CURRENT")
		if r, err := p.client(database).Query("CALL take_over()"); err != nil || r.Err == nil || r.Err.Code != 3892 {
			t.Errorf("CALL take_over(): %+v, %v", r, err)
		}
	}

	// Without the right to it the clients' account ends its own statements.
	must(t, direct, "REVOKE "+killRight(server.Kind)+" ON *.* FROM own")
	ended()

	// A reload takes another account and no wrong one.
	must(t, direct, "ALTER USER own IDENTIFIED BY 'another-own-password'")
	wrong := parse(t, ownText(server, "a-wrong-own-password")+lane+"\n")
	if err := p.Reload(querylog.By{}, wrong, false); err == nil || !strings.Contains(err.Error(), "as own: ") || strings.Contains(err.Error(), "wrong-own") {
		t.Errorf("a wrong password of admin_user: %v", err)
	}
	// One that is let in no more takes down no instance, and KILL goes on.
	if err := p.Reload(querylog.By{}, wrong, true); err != nil {
		t.Error(err)
	}
	began := time.Now()
	mysqltest.WaitFor(t, "probes by clients' account", func() bool {
		return p.primary("n").Answered().After(began.Add(2*time.Second)) && p.primary("m").Answered().After(began.Add(2*time.Second))
	})
	for _, name := range []string{"n", "m"} {
		if got := p.primary(name).Health().String(); got != "up" {
			t.Errorf("without admin_user %s is %s", name, got)
		}
	}
	if n := strings.Count(p.log.String(), "admin_user cannot log in"); n != 3 { // one for each instance
		t.Errorf("told %d times", n)
	}
	ended()
	if err := p.Reload(querylog.By{}, parse(t, ownText(server, "another-own-password")+lane+"\n"), false); err != nil {
		t.Error(err)
	}
	mysqltest.WaitFor(t, "probes of the new account", func() bool {
		return p.primary("n").Health().String() == "up" && time.Since(p.primary("n").Answered()) < time.Second
	})
	bad := parse(t, strings.ReplaceAll(ownText(server, "another-own-password"), "clients-password", "wrong-for-clients")+lane+"\n")
	if err := p.Reload(querylog.By{}, bad, true); err != nil {
		t.Error(err)
	}
	mysqltest.WaitFor(t, "the log to say that clients' account cannot log in", func() bool { return strings.Contains(p.log.String(), "cannot be run: the account of the node") })
	if p.primary("n").Health().String() != "up" {
		t.Error("the instance is down")
	}
	for _, secret := range []string{"wrong-for-clients", "own-account-password", "another-own-password", "wrong-own-password"} {
		if strings.Contains(p.log.String(), secret) || strings.Contains(fmt.Sprint(must(t, p.client(""), "SHOW KS CONFIG").Rows), secret) {
			t.Errorf("%s is shown", secret)
		}
	}
}

// ownAccountSees checks that stored objects are known by what either account sees, and a fresh session by that of clients.
func ownAccountSees(t *testing.T, p *testProxy) {
	t.Helper()
	o := p.primary("n").Stored()
	for text, want := range map[string]stored.Effects{
		"INSERT INTO plain VALUES (1)": 0, "INSERT INTO triggered VALUES (1)": stored.UserVariables, "INSERT INTO ks_unseen.t VALUES (1)": stored.Unknown,
	} {
		if got := o.Reach(text, database, sqltext.Mode{}, true); got != want {
			t.Errorf("%s reaches %b, want %b", text, got, want)
		}
	}
	if !slices.Equal(o.Blind, []string{"TRIGGER on ks_unseen"}) {
		t.Errorf("lacks %q", o.Blind)
	}
	if strings.Contains(o.Fresh, "of_own") {
		t.Errorf("a fresh session is %s", o.Fresh)
	}
}

// waitForLocks has two changes of both nodes wait for a row lock, so that the server is asked who waits for whom.
func waitForLocks(t *testing.T, p *testProxy, direct *mysqltest.RawClient) {
	t.Helper()
	must(t, direct, "BEGIN")
	must(t, direct, "SELECT * FROM "+database+".spread_0001 FOR UPDATE")
	over := make(chan error, 2)
	for range 2 {
		c := p.client(database)
		go func() {
			r, err := c.Query("UPDATE spread SET v = v + 1 ORDER BY id LIMIT 3 /* of a client */")
			if err == nil && r.Err != nil {
				err = r.Err
			}
			over <- err
		}()
	}
	watcher := dial(t, p.primary("n").Addr, rootClient())
	mysqltest.WaitFor(t, "a question about row locks", func() bool {
		return number(t, watcher, "SELECT COUNT(*) FROM mysql.general_log WHERE CONVERT(argument USING utf8mb4) LIKE '%trx_mysql_thread_id%' AND user_host LIKE 'own[%'") > 0
	})
	must(t, direct, "ROLLBACK")
	for range 2 {
		if err := <-over; err != nil {
			t.Error(err)
		}
	}
}

// whoRan reads the server's general log.
func whoRan(t *testing.T, direct *mysqltest.RawClient) {
	t.Helper()
	own := map[string]int{
		stored.Mark: 0, "KILL": 0, "SELECT DISTINCT r.trx_mysql_thread_id": 0, "SHOW REPLICA STATUS|SHOW ALL SLAVES STATUS": 0,
		"SELECT id, collation_name": 0, "SELECT @@lower_case_table_names": 0, "SELECT @@global.sql_mode|": 0, "SELECT @@performance_schema|": 0,
		"DO SLEEP(0.25), 'lock waits |SELECT info FROM |":                         0,                               // while rows are waited for
		"SELECT db, name, key_name":                                               0,                               // whether the configuration has all keys over shards
		"SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'ks_meta'|": 0,                               // now and then
		"SHOW GLOBAL VARIABLES WHERE Variable_name IN ('binlog_format'|":          0,                               // for transactions over nodes
		"SET session_track_gtids|SET session_track_system_variables":              0, "SELECT @@GLOBAL.log_bin": 0, // for reads on replicas behind changes
		"SELECT @@GLOBAL.read_only, @@GLOBAL.innodb_read_only, ": 0, "SELECT epoch, server FROM ks_meta.epoch": 0, "SET autocommit": 0, "SELECT @@wsrep_on|SELECT MEMBER_STATE|SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'": 0, // for roles
		"SELECT server, counter, writer FROM ks_meta.heartbeat": 0, "INSERT INTO ks_meta.heartbeat|SET TRANSACTION ISOLATION LEVEL|SELECT counter FROM ks_meta.heartbeat|CREATE DATABASE|CREATE TABLE IF NOT EXISTS ks_meta.heartbeat|": 0,
		"SELECT @@server_uuid|SELECT CONCAT_WS(' ', 'server_id'|": 0, "SELECT @@global.read_only|": 0, // where a replica is looked at
		"SHOW REPLICAS|SHOW SLAVE HOSTS": 0,
	}
	powers := []string{"KILL", "SELECT @@GLOBAL.read_only, @@GLOBAL.innodb_read_only, ", "SELECT DISTINCT r.trx_mysql_thread_id", "SHOW REPLICA STATUS", "SHOW ALL SLAVES STATUS", "SHOW REPLICAS", "SHOW SLAVE HOSTS"}
	begins := func(text, beginnings string) bool {
		return slices.ContainsFunc(strings.Split(beginnings, "|"), func(b string) bool { return b != "" && strings.HasPrefix(text, b) })
	}
	clients := 0
	for _, row := range must(t, direct, "SELECT user_host, command_type, CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE command_type IN ('Query', 'Prepare', 'Execute', 'Init DB', 'Field List')").Rows {
		text := row[2].(string)
		switch user := row[0].(string); {
		case strings.HasPrefix(user, "own["):
			known := false
			for one := range own {
				if begins(text, one) {
					own[one]++
					known = true
				}
			}
			if !known {
				t.Errorf("by the own account: %s %s", row[1], text)
			}
		case strings.HasPrefix(user, "clients["):
			if strings.Contains(text, "of a client") {
				clients++
			}
			if slices.ContainsFunc(powers, func(b string) bool { return strings.HasPrefix(text, b) }) {
				t.Errorf("by the clients' account: %s", text)
			}
		}
	}
	for one, n := range own {
		if n == 0 && !strings.HasSuffix(one, "|") {
			t.Errorf("not by the own account: %s", one)
		}
	}
	if clients < 12 {
		t.Errorf("%d statements of clients by their account", clients)
	}
}

// Sub-tables are made by the own account: that of clients needs no right to it.
func TestAutoCreateByOwnAccount(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := twoAccounts(t, server)
		must(t, direct, "GRANT SELECT, CREATE ON "+database+".* TO own")
		must(t, direct, "CREATE TABLE "+database+".visits_202402 (id INT PRIMARY KEY, at DATETIME)")
		accounts := "allow_public_key_retrieval: true, user: clients, password: clients-password, admin_user: own, admin_password: own-account-password, master"
		startProxy(t, strings.ReplaceAll(autoCreateText(server.Addr, server.Addr), "user: root, password: root, master", accounts))
		mysqltest.WaitFor(t, "the sub-tables", func() bool { return made(t, direct) == allMonths })
	})
}

// kingshard check -servers logs in by both accounts, names the one that fails and what it lacks, and says how to close what remains.
func TestCheckAccounts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the binary")
	}
	binary := buildBinary(t)
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := twoAccounts(t, server)
		must(t, direct, "CREATE TABLE "+database+".spread_0000 (id INT PRIMARY KEY)")
		must(t, direct, "CREATE TABLE "+database+".spread_0001 (id INT PRIMARY KEY)")
		file := filepath.Join(t.TempDir(), "ks.yaml")
		check := func(text string, code int) string {
			t.Helper()
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(binary, "check", "-servers", file)
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != code {
				t.Errorf("exit status %d, want %d:\n%s", cmd.ProcessState.ExitCode(), code, out)
			}
			for _, secret := range []string{"clients-password", "own-account-password", "a-wrong"} {
				if strings.Contains(string(out), secret) {
					t.Errorf("%s in\n%s", secret, out)
				}
			}
			return string(out)
		}
		has := func(out string, yes bool, texts ...string) {
			t.Helper()
			for _, text := range texts {
				if strings.Contains(out, text) != yes {
					t.Errorf("%q there: %t, in\n%s", text, !yes, out)
				}
			}
		}
		text := ownText(server, "own-account-password")
		place := "primary " + server.Addr + " of node n: "
		require := []string{place + "recommendation: ALTER USER clients PASSWORD REQUIRE CURRENT", place + "recommendation: ALTER USER own PASSWORD REQUIRE CURRENT"}
		knows := server.Kind != mysqltest.MariaDB
		out := check(text, 0)
		has(out, knows, require...)
		has(out, true, "own lacks "+killRight(server.Kind))
		has(out, false, "admin_user:", "has CREATE ROUTINE", " in its place")
		if knows {
			must(t, direct, "SET GLOBAL password_require_current = ON")
			has(check(text, 0), false, require...)
			must(t, direct, "ALTER USER own PASSWORD REQUIRE CURRENT OPTIONAL")
			out = check(text, 0)
			has(out, false, require[0])
			has(out, true, require[1])
			must(t, direct, "SET GLOBAL password_require_current = DEFAULT")
			must(t, direct, "ALTER USER clients PASSWORD REQUIRE CURRENT")
			must(t, direct, "ALTER USER own PASSWORD REQUIRE CURRENT")
			has(check(text, 0), false, require...)
		}
		must(t, direct, "GRANT "+killRight(server.Kind)+" ON *.* TO own")
		out = check(text, 0)
		has(strings.ReplaceAll(out, "own lacks performance_schema = ON", ""), false, "recommendation", "lacks") // which tests' servers have off
		must(t, direct, "GRANT CREATE ROUTINE, EVENT, TRIGGER ON "+database+".* TO clients")
		must(t, direct, "GRANT PROCESS ON *.* TO clients")
		has(check(text, 0), true, "recommendation: clients has CREATE ROUTINE, EVENT: ", "recommendation: clients has TRIGGER, PROCESS, which own needs in its place")
		has(check(ownText(server, "a-wrong-password"), 1), true, place+"log in to "+server.Addr+" as own: ")
		both := check(strings.ReplaceAll(ownText(server, "a-wrong-password"), "clients-password", "a-wrong-one"), 1)
		has(both, true, place+"log in to "+server.Addr+" as own: ", place+"log in to "+server.Addr+" as clients: ")
		must(t, direct, "REVOKE TRIGGER ON "+database+".* FROM own")
		must(t, direct, "REVOKE TRIGGER ON "+database+".* FROM clients")
		has(check(text, 0), true, place+"warning: own lacks TRIGGER on "+database)
		has(check(strings.ReplaceAll(text, "admin_user: own, admin_password: own-account-password, ", ""), 0), true, "recommendation: nodes[0].admin_user, nodes[1].admin_user: ")
	})
}
