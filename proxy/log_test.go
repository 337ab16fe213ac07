package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
)

// forged is what somebody would like to see in the log: a record of its own, in colour, over the ones before.
const forged = "x\r\ntime=2026-01-01T00:00:00Z level=INFO msg=forged\n{\"msg\":\"forged\"}\n\x1b[2J\x1b[31mred\x07\u009b1m\u202e\u2028"

// textRecords checks that every line of a text log is a record with no character that a terminal acts on.
func textRecords(t *testing.T, log string) {
	t.Helper()
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "time=") || strings.Contains(line, " msg=forged") && !strings.Contains(line, `\n`) {
			t.Errorf("not a record of ours: %q", line)
		}
		if k := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); k >= 0 {
			t.Errorf("a control character in %q", line)
		}
	}
}

// jsonRecords checks that every line of a JSON log is one object with no control character of ASCII.
func jsonRecords(t *testing.T, log string) {
	t.Helper()
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		var record struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &record); err != nil || record.Time == "" || record.Msg == "forged" {
			t.Errorf("not a record of ours: %q, %v", line, err)
		}
		if k := strings.IndexFunc(line, func(r rune) bool { return r < ' ' }); k >= 0 {
			t.Errorf("a control character in %q", line)
		}
	}
}

// Threat 16: neither clients nor servers can write records of their own into the log, or steer the terminal of whoever
// reads it: not by user and database names, statements, errors or versions.
func TestLogInjection(t *testing.T) {
	hostile := mysqltest.StartScript(t, mysqltest.ScriptConfig{Refuse: mysql.NewSQLError(1040, "%s", forged)})
	boaster := mysqltest.StartScript(t, mysqltest.ScriptConfig{Version: "8.4.0-" + forged, Handler: answers("boaster")})
	for name, format := range map[string]struct {
		handler func(w *mysqltest.LogBuffer) slog.Handler
		check   func(t *testing.T, log string)
	}{
		"text": {func(w *mysqltest.LogBuffer) slog.Handler {
			return slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})
		}, textRecords},
		"json": {func(w *mysqltest.LogBuffer) slog.Handler {
			return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})
		}, jsonRecords},
	} {
		t.Run(name, func(t *testing.T) {
			log := new(mysqltest.LogBuffer)
			text := configText([]node{{name: "n", master: boaster.Addr, slave: hostile.Addr, conns: 2}})
			server, err := proxy.New(parse(t, text), slog.New(format.handler(log)))
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan error, 1)
			go func() { served <- server.Serve() }()
			addr := server.Addr().String()
			for _, c := range []mysqltest.ClientConfig{
				{User: forged, Password: "x"}, {User: "root\n" + forged}, {User: "root", Password: "x", DB: forged}, {User: "root\xff\xfe", DB: "\xff\n"},
			} {
				if c, err := mysqltest.DialRaw(addr, c); err == nil {
					t.Errorf("%q was let in", c.Greeting.ServerVersion)
					c.Close()
				}
			}
			for _, text := range []string{
				"SELECT '" + forged + "'", "USE `" + forged + "`", "SET NAMES '" + forged + "'", "KILL '" + forged + "'", "/*" + forged + "*/ SELECT 1",
				"SET SESSION sql_mode = '" + forged + "'", "SELECT " + forged,
			} {
				c := dial(t, addr, mysqltest.ClientConfig{User: "root", Password: "root", ConnectAttrs: map[string]string{"program_name": forged}})
				_, _ = c.Query(text) // ends the session where the script knows no answer
				// A packet out of order, and the end of the connection in the middle of it.
				_, _ = c.Conn.Net.NetConn().Write([]byte("\xff\xff\xff\x07" + forged))
				c.Conn.Close()
			}
			mysqltest.WaitFor(t, "the logins and the probe in the log", func() bool {
				return strings.Count(log.String(), `\r\ntime=`) > 2 && strings.Contains(log.String(), hostile.Addr) && strings.Count(log.String(), "denied") > 2
			})
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if err := server.Shutdown(ctx); err != nil {
				t.Error(err)
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
			if !strings.Contains(log.String(), "msg=forged") {
				t.Error("nothing was there to be escaped")
			}
			format.check(t, log.String())
		})
	}
}

// Item 19: a login that fails, in any of the ways in which the proxy gets to know a password, leaves none in the log,
// the metrics and the profiles; nor do those of the configuration get there.
func TestFailedLoginLogsNoSecret(t *testing.T) {
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
	if err != nil {
		t.Fatal(err)
	}
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: answers("script"), Passwords: map[string]string{"root": "another"}})
	text := strings.NewReplacer("user: ks, password: ks", "user: ks, password: canary-user", "user: root, password: root, master", "user: root, password: canary-node, master").
		Replace(oneNode(server.Addr, 2))
	p := startProxy(t, text, fmt.Sprintf("tls: {cert: %s, key: %s}", cert, key), "auth_rsa_key: "+writeRSAKey(t),
		"web_addr: 127.0.0.1:0", "web_user: admin", "web_password: canary-web")
	failed := 0
	for _, user := range []string{"ks", "nobody"} {
		for _, plugin := range []string{"mysql_native_password", "caching_sha2_password"} {
			c := mysqltest.ClientConfig{User: user, Password: "canary-wrong", Plugin: plugin}
			if _, err := mysqltest.DialRaw(p.addr, c); !isCode(err, 1045) {
				t.Errorf("%s by %s: %v", user, plugin, err)
			}
			c.TLS = insecureTLS() // caching_sha2_password then sends it as it is
			if _, err := mysqltest.DialRaw(p.addr, c); !isCode(err, 1045) {
				t.Errorf("%s by %s over TLS: %v", user, plugin, err)
			}
			failed += 2
		}
	}
	c := dial(t, p.addr, mysqltest.ClientConfig{User: "ks", Password: "canary-user"})
	fails(t, c, "SELECT 'canary-text'", 9002) // the node's password is wrong
	p.reload(strings.Replace(text, "canary-user", "canary-next", 1) + strings.Join([]string{
		fmt.Sprintf("tls: {cert: %s, key: %s}", cert, key), "auth_rsa_key: " + p.Config().AuthRSAKey,
		"web_addr: 127.0.0.1:0", "web_user: admin", "web_password: canary-web2"}, "\n"))
	web := p.httpAddr("web_addr")
	if status, _ := get(t, web+"/metrics", "admin:canary-web"); status != http.StatusUnauthorized {
		t.Errorf("the web_password before the reload: status %d", status)
	}
	mysqltest.WaitFor(t, "all that failed in the log", func() bool {
		return strings.Count(p.log.String(), "reason=denied") == failed && strings.Contains(p.log.String(), "probe failed")
	})
	if !strings.Contains(p.log.String(), "user_list[ks].password") {
		t.Error("the log does not say that a password was changed")
	}
	all := p.log.String()
	for _, page := range []string{"/metrics", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2", "/debug/pprof/heap?debug=1", "/debug/pprof/"} {
		status, body := get(t, web+page, "admin:canary-web2")
		if status != http.StatusOK || body == "" {
			t.Errorf("%s: status %d", page, status)
		}
		all += body
	}
	if k := strings.Index(all, "canary-"); k >= 0 {
		t.Errorf("a secret is shown: %.80q", all[max(0, k-40):])
	}
}
