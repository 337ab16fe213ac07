package config

import (
	"strings"
	"testing"
)

// Every setting that says so can be set, to the value it has, and what is wrong is said with the name.
func TestSet(t *testing.T) {
	c := mustParse(t, saveBase)
	settable := 0
	for _, s := range c.Settings() {
		d := c.Clone()
		err := d.Set(strings.ToUpper(s.Path), s.Value)
		if s.Settable {
			settable++
		}
		if s.Settable != (err == nil) {
			t.Errorf("%s = %s: settable %v, error %v", s.Path, s.Value, s.Settable, err)
		}
		if len(Diff(c, d)) > 0 {
			t.Errorf("%s: its own value changes %v", s.Path, Diff(c, d))
		}
		if s.Settable && !s.Reloadable {
			t.Errorf("%s is settable, not reloadable", s.Path)
		}
		if err != nil && (!strings.Contains(err.Error(), s.Path) || strings.Contains(err.Error(), "sesame")) {
			t.Errorf("%s: %v", s.Path, err)
		}
	}
	if settable < 25 {
		t.Errorf("%d settings can be set", settable)
	}
	before := c.Clone()
	d := c.Clone()
	for _, s := range [][2]string{
		{"log_level", "WARN"}, {"slow_log_time", "70"}, {"log_literals", "on"}, {"max_allowed_packet", "16m"}, {"idle_timeout", "90"},
		{"nodes[node2].max_conns_limit", "9"}, {"user_list[app].max_conns", "3"}, {"allow_ips", "10.0.0.0/8"},
	} {
		if err := d.Set(s[0], s[1]); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	if d.LogLevel != "warn" || d.SlowLogTime != 70 || !d.LogLiterals || d.MaxAllowedPacket != 16<<20 || d.IdleTimeout.Duration().Seconds() != 90 ||
		d.Nodes[1].MaxConnsLimit != 9 || d.UserList[0].MaxConns != 3 || len(Diff(c, d)) != 8 {
		t.Errorf("%v", Diff(c, d))
	}
	if len(Diff(before, c)) > 0 {
		t.Error("setting in a clone changed the original")
	}
	for _, bad := range []struct{ path, value, words string }{
		{"low_log_time", "1", "did you mean slow_log_time?"}, {"x", "1", `no setting "x"`},
		{"addr", "127.0.0.1:1", "restart"}, {"web_password", "x", "reload"}, {"nodes[node1].master", "h:1", "reload"},
		{"nodes[nodex].max_conns_limit", "1", "no setting"}, {"user_list[app].password", "sesam", "reload"}, {"schema_list[app].default", "node2", "reload"},
		{"slow_log_time", "x", `slow_log_time must be a whole number, not "x"`}, {"slow_log_time", "-1", "slow_log_time must be 0 to"},
		{"log_level", "loud", "log_level must be one of debug, info, warn, error"}, {"log_sql", "perhaps", "log_sql is neither on nor off"},
		{"idle_timeout", "soon", "must be a duration"}, {"max_allowed_packet", "1", "must be 1M to 1G"}, {"compression", "", "true or false"},
		{"allow_ips", "300.0.0.1", "neither an IP address"},
	} {
		if err := c.Clone().Set(bad.path, bad.value); err == nil || !strings.Contains(err.Error(), bad.words) {
			t.Errorf("%s = %s: %v, want %s", bad.path, bad.value, err, bad.words)
		}
	}
}
