package proxy_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/mysqltest"
)

// answerLogin logs in by hand: the answer to the greeting, and to every request after it, is the one given. It returns
// how the server ends it; nil is an OK packet.
func answerLogin(t *testing.T, addr string, response mysql.HandshakeResponse41) error {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return answerGreeting(nc, response)
}

// answerGreeting does it on a connection just made, which it closes.
func answerGreeting(nc net.Conn, response mysql.HandshakeResponse41) error {
	defer nc.Close()
	c := mysql.NewConn(nc, mysql.BackendSide, 1<<20)
	greeting, err := c.ReadPacket()
	if err != nil {
		return err
	}
	if greeting[0] == mysql.ErrHeader {
		return decodeError(greeting)
	}
	response.Capabilities = mysqltest.ScriptCapabilities &^ (mysql.ClientConnectWithDB | mysql.ClientConnectAttrs)
	response.Collation = 45
	c.EndPacket(response.AppendTo(c.StartPacket()))
	for range 10 {
		if err := c.Flush(); err != nil {
			return err
		}
		p, err := c.ReadPacket()
		switch {
		case err != nil:
			return err
		case len(p) == 0:
			return mysql.ErrMalformedPacket
		case p[0] == mysql.OKHeader:
			return nil
		case p[0] == mysql.ErrHeader:
			return decodeError(p)
		}
		c.WritePacket(response.AuthResponse)
	}
	return errors.New("asked again and again")
}

func decodeError(p []byte) error {
	e := new(mysql.SQLError)
	if err := e.Decode(p); err != nil {
		return err
	}
	return e
}

// Threat 8: no answer but the right one lets anybody in, whatever its length, the plugin it claims to be of, or the user.
func TestForgedAnswers(t *testing.T) {
	server := startScript(t, "script")
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := auth.Hash(auth.CachingSHA2, "secret")
	if err != nil {
		t.Fatal(err)
	}
	users := []string{"root", "native", "sha2", "ed25519", "stored", "stranger", ""}
	var list, schemas strings.Builder
	for _, user := range users[:5] {
		how := map[string]string{
			"root": "password: secret", "native": "password: secret, auth_plugin: mysql_native_password", "sha2": "password: secret, auth_plugin: caching_sha2_password",
			"ed25519": "password: secret, auth_plugin: client_ed25519", "stored": "verifiers: {caching_sha2_password: '" + stored + "'}",
		}[user]
		fmt.Fprintf(&list, "  - {user: %s, %s}\n", user, how)
		fmt.Fprintf(&schemas, "  - {user: %s, nodes: [n], default: n}\n", user)
	}
	p := startProxy(t, fmt.Sprintf("addr: 127.0.0.1:0\ntls: {cert: %s, key: %s}\nuser_list:\n%snodes: [{name: n, user: root, password: root, master: %q}]\nschema_list:\n%s",
		cert, key, &list, server.Addr, &schemas))
	plugins := []string{auth.NativePassword, auth.CachingSHA2, auth.Ed25519, auth.Clear, "sha256_password", "no_such_plugin", ""}
	for _, user := range users {
		for _, plugin := range plugins {
			for _, answer := range [][]byte{
				nil, {0}, {1}, {2}, {4}, make([]byte, 19), make([]byte, 20), make([]byte, 21), make([]byte, 31), make([]byte, 32), make([]byte, 33),
				make([]byte, 64), make([]byte, 255), make([]byte, 4000), []byte("secret"), []byte("secret\x00"), []byte(stored),
			} {
				err := answerLogin(t, p.addr, mysql.HandshakeResponse41{User: user, AuthPlugin: plugin, AuthResponse: answer})
				if err == nil {
					t.Errorf("%q is in, by plugin %q and an answer of %d bytes", user, plugin, len(answer))
				}
				var e *mysql.SQLError
				if errors.As(err, &e) && e.Code != mysql.ERAccessDenied {
					t.Errorf("%q, plugin %q, %d bytes: %v", user, plugin, len(answer), err)
				}
			}
		}
	}
	// The right password does, for each of them; and the one after so many wrong ones too.
	for _, user := range users[:5] {
		for _, plugin := range []string{auth.NativePassword, auth.CachingSHA2, ""} { // "" is the greeting's
			c, err := mysqltest.DialRaw(p.addr, mysqltest.ClientConfig{User: user, Password: "secret", Plugin: plugin, TLS: &tls.Config{InsecureSkipVerify: true}})
			if err != nil {
				t.Errorf("%q by %s: %v", user, plugin, err)
				continue
			}
			c.Close()
		}
	}
	p.quiet(0)
	probes := []string{"SELECT id, collation_name, ", "SELECT @@lower_case_table_names, ", "SELECT @@global.sql_mode", "SELECT SCHEMA_NAME FROM ", "SHOW SESSION VARIABLES", "SHOW GLOBAL VARIABLES", "SELECT 'convert_tz(",
		"SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'ks_meta'", "SET SESSION innodb_lock_wait_timeout = 1", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET SESSION autocommit = 1", // of who looks for transactions that were left
	}
	for _, q := range server.Queries() {
		if !slices.ContainsFunc(probes, func(p string) bool { return strings.HasPrefix(q, p) }) {
			t.Errorf("a login reached the server: %q", q)
		}
	}
}

// Threat 8: COM_CHANGE_USER is a login like the first one. One that fails ends the session, and the account that it had
// is not kept; one that succeeds has the rights and the limits of the new user only.
func TestChangeUserIsALogin(t *testing.T) {
	server := startScript(t, "script")
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
	if err != nil {
		t.Fatal(err)
	}
	p := startProxy(t, fmt.Sprintf(`
addr: 127.0.0.1:0
health_interval: 100ms
tls: {cert: %s, key: %s}
user_list:
  - {user: root, password: root}
  - {user: small, password: small, max_conns: 1, multi_statements: false}
  - {user: far, password: far, hosts: 192.0.2.0/24}
  - {user: strict, password: strict, require_tls: true}
nodes: [{name: n, user: root, password: root, master: "%s"}]
schema_list:
  - {user: root, nodes: [n], default: n}
  - {user: small, nodes: [n], default: n}
  - {user: far, nodes: [n], default: n}
  - {user: strict, nodes: [n], default: n}
`, cert, key, server.Addr))
	for _, wrong := range []struct {
		user, password string
		code           uint16
	}{
		{"small", "wrong", mysql.ERAccessDenied}, {"small", "", mysql.ERAccessDenied}, {"small", "root", mysql.ERAccessDenied},
		{"stranger", "root", mysql.ERAccessDenied}, {"", "", mysql.ERAccessDenied}, {"far", "far", mysql.ERAccessDenied},
		{"strict", "strict", mysql.ERSecureTransportRequired},
	} {
		c := p.client("")
		if err := c.ChangeUser(wrong.user, wrong.password, ""); !isCode(err, wrong.code) {
			t.Errorf("%s, %q: %v", wrong.user, wrong.password, err)
		}
		if r, err := c.Query("SELECT name"); err == nil {
			t.Errorf("%s: the session goes on: %+v", wrong.user, r)
		}
	}
	p.quiet(0)
	first, second := p.client(""), p.client("")
	if err := first.ChangeUser("small", "small", ""); err != nil {
		t.Fatal(err)
	}
	for _, row := range must(t, first, "SHOW PROCESSLIST").Rows {
		if row[1] != "small" {
			t.Errorf("root's right to see others is kept: %v", row)
		}
	}
	fails(t, first, fmt.Sprintf("KILL %d", second.Greeting.ConnectionID), mysql.ERKillDenied)
	fails(t, first, "SELECT 1; SELECT 2", 1064)
	if err := second.ChangeUser("small", "small", ""); !isCode(err, mysql.ERUserLimitReached) {
		t.Errorf("a second session of a user who may have one: %v", err)
	}
	if err := first.ChangeUser("root", "root", ""); err != nil {
		t.Fatal(err)
	}
	if err := p.client("").ChangeUser("small", "small", ""); err != nil {
		t.Errorf("after the first has left: %v", err)
	}
}

// Threat 2: a packet larger than a login needs is refused by its header in COM_CHANGE_USER's exchange, too.
func TestGiantAnswerInChangeUser(t *testing.T) {
	server := startScript(t, "script")
	p := startProxy(t, replaceLine(oneNode(server.Addr, 1), "auth_plugin: mysql_native_password"))
	c := p.client("")
	change := mysql.ChangeUser{User: "ks", AuthPlugin: "no_such_plugin", AuthResponse: []byte("x")}
	if err := c.Send(mysql.ComChangeUser, string(change.AppendTo(nil, c.Conn.Capabilities)[1:])); err != nil {
		t.Fatal(err)
	}
	if packet, err := c.Read(); err != nil || packet[0] != mysql.AuthSwitchHeader {
		t.Fatalf("%q, %v: want a request to switch", packet, err)
	}
	before := heap()
	if _, err := c.Conn.Net.NetConn().Write([]byte{0xff, 0xff, 0xff, 3}); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := c.Read(); err != nil {
			break // closed, the header being all that was read
		}
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("%d KB for a packet that was only announced", grown>>10)
	}
	p.quiet(0)
}
