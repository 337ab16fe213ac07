package admin_test

import (
	"strings"
	"testing"
)

// KS SET changes the configuration in force as a reload does, until the next one.
func TestSet(t *testing.T) {
	p := start(t, nil)
	root, app := p.client("root"), p.client("app")
	must(t, app, "BEGIN")
	setting := func(name string) string {
		return rows(t, root, "SHOW KS CONFIG LIKE '"+name+"'")[0][1]
	}
	for _, c := range []struct{ text, name, old, value string }{
		{"KS SET slow_log_time = 250", "slow_log_time", "0", "250"},
		{"ks set LOG_LEVEL=Warn;", "log_level", "info", "warn"},
		{"KS SET `pool_wait_timeout` = '3s'", "pool_wait_timeout", "5s", "3s"},
		{"KS SET max_allowed_packet = 16M", "max_allowed_packet", "64M", "16M"},
		{"KS SET nodes[n2].max_conns_limit = 7", "nodes[n2].max_conns_limit", "4", "7"},
		{"KS SET \"user_list[app].max_conns\" = 5", "user_list[app].max_conns", "0", "5"},
		{"KS SET allow_ips = 127.0.0.0/8", "allow_ips", "", "127.0.0.0/8"},
		{"KS SET allow_ips = ''", "allow_ips", "127.0.0.0/8", ""},
	} {
		got := rows(t, root, c.text)
		if len(got) != 1 || strings.Join(got[0], "|") != c.name+"|"+c.old+"|"+c.value+"|YES" {
			t.Errorf("%s: %q", c.text, got)
		}
		if got := setting(c.name); got != c.value {
			t.Errorf("%s: %s is %q", c.text, c.name, got)
		}
	}
	if got := rows(t, root, "SHOW KS NODES WHERE node = 'n2' AND max = 7"); len(got) != 1 {
		t.Errorf("pools of n2: %q", got)
	}
	must(t, app, "COMMIT")
	before := p.Config()
	for _, c := range []struct {
		text  string
		code  uint16
		words string
	}{
		{"KS SET", 9031, "name = value"}, {"KS SET slow_log_time 5", 9031, "name = value"}, {"KS SET slow_log_time = ", 9031, "quotes"},
		{"KS SET slow_log_time = 5 6", 9031, "quotes"}, {"KS SET slow_log_time = '5' '6'", 9031, "quotes"}, {"KS SET = 5", 9031, "name = value"},
		{"KS SET low_log_time = 5", 9032, "did you mean slow_log_time?"}, {"KS SET nonsense = 5", 9032, "settable = 'YES'"},
		{"KS SET slow_log_time = x", 9032, "whole number"}, {"KS SET log_level = loud", 9032, "debug, info, warn, error"},
		{"KS SET addr = '127.0.0.1:1'", 9032, "restart"}, {"KS SET web_password = 'canarysesame'", 9032, "reload"},
		{"KS SET user_list[app].max_conns = -1", 9032, "max_conns"},
	} {
		fails(t, root, c.text, c.code, c.words)
	}
	if p.Config() != before {
		t.Error("what was refused changed the configuration")
	}
	if strings.Contains(p.log.String(), "canary") {
		t.Error("the log shows a secret")
	}
	if got := rows(t, root, "SHOW KS EVENTS WHERE what = 'set' AND detail = 'web_password'"); len(got) != 1 || got[0][3] != "root" {
		t.Errorf("events: %q", got)
	}
	must(t, root, "KS RELOAD")
	if got := setting("slow_log_time") + setting("nodes[n2].max_conns_limit"); got != "04" {
		t.Errorf("after a reload: %s", got)
	}
	for _, c := range []struct {
		body   string
		status int
		words  string
	}{
		{`{"name":"slow_log_time","value":"9"}`, 200, `{"rows":[{"field":"slow_log_time","old":"0","new":"9","reloadable":true}]}`},
		{`{"name":"slow_log_time","value":"x"}`, 409, `"code":9032`}, {`{"name":"nothing"}`, 409, `no setting`}, {``, 400, `9031`},
	} {
		if status, answer := p.call("web", "POST", "/api/v2/config/set", c.body); status != c.status || !strings.Contains(answer, c.words) {
			t.Errorf("%s: %d %s", c.body, status, answer)
		}
	}
	if status, _ := p.call("operator", "POST", "/api/v2/config/set", `{"name":"slow_log_time","value":"9"}`); status != 403 {
		t.Errorf("an operator: %d", status)
	}
}
