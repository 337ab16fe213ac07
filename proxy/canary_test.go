package proxy_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/mysqltest"
)

// canaryRun is a proxy whose secrets and whose clients' values are all canaries.
type canaryRun struct {
	*daemon
	canaries
	dir, text string   // the logs, and the configuration
	user, web string   // passwords
	clients   []string // the names of the users, each of another kind of credentials
	collector *collector
}

// write makes a file of the configuration.
func (r *canaryRun) write(name, text string) string {
	path := filepath.Join(filepath.Dir(r.dir), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// startCanaries starts the binary with every kind of secret that a configuration may have, in front of a server with nodes a and b,
// a node whose password is wrong, and m, which mirrors.
func startCanaries(t *testing.T, server *mysqltest.RealServer, lane string) *canaryRun {
	dir := filepath.Join(t.TempDir(), "logs")
	r := &canaryRun{canaries: make(canaries), dir: dir, daemon: &daemon{t: t}, collector: startCollector(t)}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	inFile, inEnv, inYAML := r.secret("password of a node in a file"), r.secret("password of a node in the environment"), r.secret("password of a node")
	direct := dial(t, server.Addr, rootClient())
	for name, password := range map[string]string{"cnr_a": inFile, "cnr_b": inEnv, "cnr_m": inYAML} {
		must(t, direct, "DROP USER IF EXISTS "+name)
		must(t, direct, "CREATE USER "+name+" IDENTIFIED BY '"+password+"'")
		must(t, direct, "GRANT ALL ON *.* TO "+name)
	}
	r.user, r.web = r.secret("password of a user"), r.secret("web_password")
	verifier, err := auth.Hash(auth.CachingSHA2, r.user)
	if err != nil {
		t.Fatal(err)
	}
	r.canaries[verifier] = "verifier"
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(filepath.Dir(dir), "tls"))
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	rsaFile := r.write("rsa.pem", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)})))
	r.pem(t, "auth_rsa_key", rsaFile)
	r.pem(t, "tls.key", key)
	r.clients = []string{"app", "filed", "stored"}
	r.text = fmt.Sprintf(`
addr: 127.0.0.1:0
web_addr: 127.0.0.1:0
admin_addr: 127.0.0.1:0
web_tls_cert: %[1]s
web_tls_key: %[2]s
web_user: web
web_password: %[3]s
web_tokens:
  - {name: one, token: %[4]s, rights: admin}
  - {name: two, token_file: %[5]s, rights: read}
log_path: %[6]s
log_level: debug
log_sql: on
%[7]s
tls: {cert: %[1]s, key: %[2]s}
auth_rsa_key: %[8]s
pool_wait_timeout: 5s
drain_timeout: 1s
max_login_delay: 0s
continuous_profile: 60s
tracing: {endpoint: "%[17]s", headers: {authorization: %[18]s}, sample_ratio: 1}
health_interval: 100ms
blacklist_sql_file: %[9]s
user_list:
  - {user: root, password: %[10]s, local_infile: true}
  - {user: app, password: %[10]s, local_infile: true}
  - {user: filed, password_file: %[11]s}
  - {user: stored, verifiers: {caching_sha2_password: "%[12]s"}}
  - {user: looker, password: %[10]s, rights: admin, process: false}
nodes:
  - {name: a, allow_public_key_retrieval: true, user: cnr_a, password_file: %[13]s, master: "%[14]s", slave: "%[14]s"}
  - {name: b, allow_public_key_retrieval: true, user: cnr_b, password: "${KS_CANARY}", master: "%[14]s"}
  - {name: m, allow_public_key_retrieval: true, user: cnr_m, password: %[15]s, master: "%[14]s"}
  - {name: lost, allow_public_key_retrieval: true, user: cnr_m, password: %[16]s, master: "%[14]s"}
query_rules:
  - {name: mirrored, tables: [cnr.plain], mirror: m, mirror_writes: true, next: true}
  - {name: refused, pattern: refuse_me, block: this is refused}
  - {name: short, pattern: SLEEP.3, timeout: 100ms}
schema_list:
  - &schema
    user: root
    nodes: [a, b, m]
    default: a
    shard:
      - {db: cnr, table: orders, key: id, type: mod, nodes: [a, b], locations: [1, 1]}
  - {<<: *schema, user: app}
  - {<<: *schema, user: filed}
  - {<<: *schema, user: stored}
  - {<<: *schema, user: looker}
`, cert, key, r.web, r.secret("token"), r.write("token", r.secret("token in a file")), dir, lane, rsaFile,
		r.write("black.txt", "DELETE FROM cnr.orders WHERE note = 1 AND nowhere = 2\n"), r.user, r.write("user.txt", r.user), verifier,
		r.write("node.txt", inFile), server.Addr, inYAML, r.secret("wrong password of a node"), r.collector.URL, r.secret("key of the collector"))
	r.daemon = startDaemon(t, buildBinary(t), r.text, "KS_CANARY="+inEnv)
	return r
}

// client logs in as a user, over TLS.
func (r *canaryRun) client(user string, without ...mysql.Capability) *mysqltest.RawClient {
	r.t.Helper()
	c := mysqltest.ClientConfig{User: user, Password: r.user, TLS: &tls.Config{InsecureSkipVerify: true}, DB: "cnr"}
	if user == "root" { // the fast lane
		c.TLS = nil
	}
	return dial(r.t, r.addr, c)
}

// canaryTexts are statements with a value at %s: those that succeed, fail at the server, and that the proxy refuses.
var canaryTexts = []string{
	"SELECT '%s'", "SELECT \"%s\"", "SELECT 1 /* %s */", "SELECT 1 -- %s", "SELECT 1 # %s", "/* %s */ SELECT 1", "/*%s*/SELECT 1", "/*!40000 SELECT '%s' */",
	"SELECT '%s", "SELECT \"%s", "SELECT 1 /* %s", "SELECT '%s' AS '%[1]s'", "SELECT 'a''%s'", "SELECT 'a\\'%s'", "SELECT N'%s'", "SELECT _utf8mb4'%s'", "SELECT DATE '%s'",
	"INSERT INTO plain VALUES (1, '%s')", "INSERT INTO plain VALUES (1, '%s')", "INSERT INTO plain (id, note) VALUES (2, '%s'), (3, '%[1]s')",
	"UPDATE plain SET note = '%s' WHERE id = 1", "REPLACE INTO plain VALUES (1, '%s')", "DELETE FROM plain WHERE note = '%s'", "INSERT INTO plain VALUES ('%s', '')",
	"SELECT * FROM plain WHERE note = '%s' AND refuse_me", "SELECT SLEEP(3), '%s'",
	"SELECT * FROM orders WHERE id = 1 AND note = '%s'", "SELECT * FROM orders WHERE note = '%s'", "SELECT id, '%s' FROM orders ORDER BY id LIMIT 1",
	"SELECT '%s', COUNT(*) FROM orders GROUP BY 1", "SELECT '%s' FROM orders", "SELECT note, COUNT(*) FROM orders WHERE note <> '%s' GROUP BY note ORDER BY '%[1]s'",
	"SELECT CONCAT(note, '%s') AS x, ROW_NUMBER() OVER (ORDER BY id) FROM orders", "SELECT a.id FROM orders a JOIN orders b ON a.note = b.note WHERE a.note <> '%s'",
	"SELECT * FROM orders WHERE id IN (1, 2, '%s')", "SELECT * FROM orders WHERE note = '%s' FOR UPDATE", "SELECT * FROM orders WHERE note = '%s' AND nowhere = 1",
	"INSERT INTO orders VALUES (1, '%s'), (2, '%[1]s'), (3, 'x')", "INSERT INTO orders VALUES (1, '%s')", "INSERT INTO orders VALUES ('%s', 'x')", "INSERT INTO orders VALUES ('%s')",
	"UPDATE orders SET note = '%s'", "UPDATE orders SET id = '%s' WHERE id = 1", "UPDATE orders SET note = CAST('%s' AS DATE)", "DELETE FROM orders WHERE note = '%s'",
	"DELETE FROM orders WHERE note = '%s' ORDER BY id LIMIT 1", "SELECT * FROM orders WHERE nonsense nonsense '%s'", "SELECT * FROM orders WHERE id = '%s' PROCEDURE ANALYSE()",
	"ALTER TABLE orders MODIFY note VARCHAR(50) DEFAULT '%s'", "ALTER TABLE orders COMMENT = '%s'", "ALTER TABLE orders ADD UNIQUE (note, id), ADD CHECK (note <> '%s' OR nowhere)",
	"SET @v = '%s'", "SET @v := CONCAT('%s', 'x')", "SELECT @v", "SELECT '%s' INTO @w", "SELECT note INTO @w FROM orders WHERE note = '%s' LIMIT 1", "SELECT @w, id FROM orders",
	"SET NAMES '%s'", "SET sql_mode = '%s'", "SET time_zone = '%s'", "SET no_such_variable = '%s'", "KILL '%s'", "SHOW TABLES LIKE '%s'", "SHOW VARIABLES WHERE Value = '%s'",
	"EXPLAIN SELECT * FROM orders WHERE note = '%s'", "EXPLAIN SELECT * FROM plain WHERE note = '%s'", "PREPARE st FROM 'SELECT ''%s'''", "EXECUTE st", "PREPARE st FROM '%s'",
	"EXECUTE IMMEDIATE 'SELECT ''%s'''", "SELECT '%s'; SELECT 2", "SELECT 1; SELECT '%s", "DO GET_LOCK('%s', 0)", "SELECT RELEASE_LOCK('%s')", "CALL no_such('%s')", "HANDLER plain READ FIRST WHERE note = '%s'",
	"CREATE USER cnr_u IDENTIFIED BY '%s'", "SET PASSWORD FOR cnr_u = PASSWORD('%s')", "ALTER USER cnr_u IDENTIFIED BY '%s'", "CHANGE MASTER TO MASTER_PASSWORD = '%s'", "DROP USER IF EXISTS cnr_u",
	"CREATE TABLE fed (a INT) ENGINE = FEDERATED CONNECTION = 'mysql://u:%s@nowhere/d/t'", "SELECT AES_ENCRYPT('a', '%s')", "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '%s'",
	"SHOW WARNINGS", "LOAD DATA INFILE '%s' INTO TABLE plain", "SELECT JSON_VALID('%s')", "SELECT EXTRACTVALUE('<a>', '%s')", "SELECT ST_GeomFromText('%s')", "SELECT CAST('%s' AS DATE)",
	"SELECT 1 FROM plain WHERE id = '%s'", "SELECT INTERVAL '%s' DAY + NOW()", "BEGIN", "INSERT INTO orders VALUES (9, '%s')", "SELECT * FROM orders WHERE note = '%s'", "SAVEPOINT a", "ROLLBACK",
	"KS EXPLAIN FOR app SELECT * FROM orders WHERE note = '%s'", "KS RULE TEST 'SELECT ''%s'''", "KS EXPLAIN SELECT '%s", "SHOW KS NODES LIKE '%s'", "SHOW KS STATUS WHERE Value = '%s' nonsense",
	"admin server(opt,k,v) values('del','black_sql','SELECT ''%s'' FROM elsewhere')", "ADMIN DDL LIST",
}

// say sends every statement with a canary of its own; what is answered does not matter here.
func (r *canaryRun) say(c *mysqltest.RawClient, how string) {
	r.t.Helper()
	for _, form := range canaryTexts {
		text := form
		if strings.Contains(form, "%") {
			text = fmt.Sprintf(form, r.literal(how+form))
		}
		if _, err := c.Query(text); err != nil {
			r.t.Fatalf("%s: %v", text, err)
		}
		if !strings.Contains(form, " '%s'") && !strings.Contains(form, "('%s'") || strings.HasPrefix(form, "ALTER") {
			continue // no place for a number; those of DDL are shown
		}
		if _, err := c.Query(fmt.Sprintf(strings.Replace(form, "'%s'", "%s", 1), r.number(how+"number in "+form))); err != nil {
			r.t.Fatalf("%s: %v", text, err)
		}
	}
	for _, form := range []string{
		"SELECT ?", "SELECT * FROM plain WHERE note = ?", "INSERT INTO plain VALUES (7, ?)", "INSERT INTO plain VALUES (7, ?)", "SELECT * FROM orders WHERE note = ? ORDER BY id",
		"INSERT INTO orders VALUES (7, ?)", "INSERT INTO orders VALUES (7, ?)", "UPDATE orders SET note = ?", "SELECT note, COUNT(*) FROM orders WHERE note <> ? GROUP BY note HAVING COUNT(*) > 1", "SELECT '%s', ?",
		"SELECT * FROM orders WHERE id = ?",
	} {
		st, err := c.Prepare(strings.Replace(form, "%s", r.literal(how+"prepared "+form), 1))
		if err != nil {
			r.t.Fatalf("%s: %v", form, err)
		}
		for range 2 {
			if _, err := st.Execute(r.literal(how + "parameter of " + form)); err != nil {
				r.t.Fatalf("%s: %v", form, err)
			}
		}
		if _, err := st.OpenCursor(r.literal(how + "parameter of a cursor of " + form)); err != nil {
			r.t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			r.t.Fatal(err)
		}
	}
	for _, table := range []string{"plain", "orders"} {
		answer, err := c.Query("LOAD DATA LOCAL INFILE '" + r.literal(how+"name of a file") + "' INTO TABLE " + table + " FIELDS TERMINATED BY ',' IGNORE 0 LINES")
		if err != nil {
			r.t.Fatal(err)
		}
		if answer.LocalInfile == "" {
			continue // refused
		}
		var lines strings.Builder
		for k := range 6 {
			fmt.Fprintf(&lines, "%d,%s\n", 20+k/2, r.literal(how+"a line for "+table))
		}
		fmt.Fprintf(&lines, "%s,x\n%s\n", r.literal(how+"a key in a line for "+table), r.literal(how+"a short line for "+table))
		if _, err := c.SendFile([]byte(lines.String())); err != nil {
			r.t.Fatal(err)
		}
		must(r.t, c, "SHOW WARNINGS")
	}
}

// mistakes are logins and administration with secrets that are wrong, or in the wrong place.
func (r *canaryRun) mistakes(web string) {
	wrong := r.secret("wrong password of a client")
	for _, user := range append(r.clients, "root", "stranger") {
		for _, plugin := range []string{auth.NativePassword, auth.CachingSHA2, auth.Ed25519, ""} {
			for _, secure := range []*tls.Config{nil, {InsecureSkipVerify: true}} {
				if c, err := mysqltest.DialRaw(r.addr, mysqltest.ClientConfig{User: user, Password: wrong, Plugin: plugin, TLS: secure}); err == nil {
					c.Close()
					r.t.Errorf("%s is in", user)
				}
			}
		}
	}
	if err := r.client("app").ChangeUser("root", wrong, ""); err == nil {
		r.t.Error("root by a wrong password")
	}
	broken := r.client("app")
	if err := broken.Send(mysql.ComQuery, "SELECT SLEEP(0.05), '"+r.literal("statement of a client that goes away")+"'"); err != nil {
		r.t.Error(err)
	}
	broken.Conn.Close()
	looker := r.client("looker")
	for _, text := range []string{"KS SET web_password = '%s'", "KS SET nodes[a].password = '%s'", "KS SET user_list[root].password = %s"} {
		if answer, err := looker.Query(fmt.Sprintf(text, r.secret(text))); err != nil || answer.Err == nil {
			r.t.Errorf("%s: %v, %v", text, answer, err)
		}
	}
	for _, login := range []string{"Bearer " + wrong, basic("web", wrong), basic(wrong, wrong), "Basic " + wrong, "Digest " + wrong} {
		for _, path := range []string{"/api/v2/nodes", "/metrics", "/debug/pprof/"} {
			q, err := http.NewRequest("GET", web+path, nil)
			if err != nil {
				r.t.Fatal(err)
			}
			q.Header.Set("Authorization", login)
			if resp, err := httpClient.Do(q); err != nil || resp.StatusCode != http.StatusUnauthorized {
				r.t.Errorf("%s: %v, %v", path, resp, err)
			} else {
				resp.Body.Close()
			}
		}
	}
	for _, body := range []string{`{"user":"web","password":"%s"}`, `{"token":"%s"}`, `{"password":%s`} {
		resp, err := httpClient.Post(web+"/console/login", "application/json", strings.NewReader(fmt.Sprintf(body, wrong)))
		if err != nil {
			r.t.Fatal(err)
		}
		resp.Body.Close()
	}
}

// reloads change secrets, rightly and wrongly.
func (r *canaryRun) reloads(c *mysqltest.RawClient) {
	next := r.secret("a new web_password")
	for _, text := range []string{
		r.text + "no_such_key: " + r.secret("value of an unknown key") + "\n",
		strings.Replace(r.text, "web_password: "+r.web, "web_password: [ "+r.secret("password in a file that is no YAML"), 1),
		strings.Replace(r.text, "rights: admin, process: false", "rights: almighty", 1),
		strings.Replace(r.text, "web_password: "+r.web, "web_password: "+next, 1),
		r.text,
	} {
		r.configure(text + "prometheus_addr: 127.0.0.1:0\n")
		for _, command := range []string{"KS RELOAD CHECK", "KS RELOAD"} {
			if _, err := c.Query(command); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// The fifth line of "done when" of the hardening: canaries in the place of every secret and every value are nowhere to be seen in
// all that the binary writes and shows, over an upgrade too, with all logs on.
func TestCanariesOfAWholeRun(t *testing.T) {
	if testing.Short() {
		t.Skip("two runs of the binary, with profiles of a second")
	}
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	for _, lane := range []string{"fast_lane: false", "pipelined_sharing: true"} {
		t.Run(lane, func(t *testing.T) {
			direct := dial(t, server.Addr, rootClient())
			for _, text := range []string{
				"DROP DATABASE IF EXISTS cnr", "CREATE DATABASE cnr CHARACTER SET utf8mb4", "CREATE TABLE cnr.plain (id INT, note VARCHAR(50) PRIMARY KEY)",
				"CREATE TABLE cnr.orders_0000 (id INT PRIMARY KEY, note VARCHAR(50))", "CREATE TABLE cnr.orders_0001 (id INT PRIMARY KEY, note VARCHAR(50), KEY only_here (note))",
				"DROP USER IF EXISTS cnr_u",
			} {
				must(t, direct, text)
			}
			t.Cleanup(func() { must(t, dial(t, server.Addr, rootClient()), "DROP DATABASE cnr") }) // when all clients are gone
			r := startCanaries(t, server, lane)
			web := "https://" + regexp.MustCompile(`web_addr=(\S+)`).FindStringSubmatch(r.log())[1]
			must(t, r.client("looker"), "KS SET profile_labels = on")
			s := &sightings{t: t, all: r.canaries, seen: make(map[string]int)}
			for _, user := range append(r.clients, "root") {
				r.say(r.client(user), user+": ")
			}
			r.mistakes(web)
			r.reloads(r.client("looker"))
			look := func() {
				s.web(web, basic("web", r.web))
				s.page("GET", "http://"+r.metrics+"/metrics", "")
				s.tables(r.client("looker"))
				top := exec.Command(r.binary, "top", "-once", "-addr", r.addr, "-user", "looker")
				top.Env = append(os.Environ(), "KS_PASSWORD="+r.user)
				out, err := top.CombinedOutput()
				if err != nil {
					t.Errorf("top: %v: %s", err, out)
				}
				s.look("top", out)
			}
			running := r.client("app")
			if err := running.Send(mysql.ComQuery, "SELECT GET_LOCK('"+r.literal("name of a lock")+"', 0), SLEEP(100), '"+r.literal("statement that runs")+"'"); err != nil {
				t.Fatal(err)
			}
			look()
			r.upgrade()
			r.say(r.client("root"), "after an upgrade: ")
			look()
			running.Close()
			r.terminate()
			s.files(r.dir)
			s.file(r.stderr)
			s.look("traces", r.collector.received())
			for _, place := range []string{"sys.log", "sql.log", "audit.log", "/metrics", "/api/v2/digests", "/api/v2/plans", "SHOW KS DIGESTS", "/debug/pprof/goroutine", "/debug/pprof/trace", "top", "traces"} {
				if s.seen[place] == 0 {
					t.Errorf("nothing was seen of %s", place)
				}
			}
			t.Logf("%d canaries, %d places, %v", len(r.canaries), len(s.seen), s.seen)
		})
	}
}
