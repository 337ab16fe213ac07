package main

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/config"
)

// unit reads a systemd unit: the values of each directive of the section.
func unit(t *testing.T, section string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../../etc/systemd/kingshard.service")
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string][]string)
	in := ""
	for k, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if m := regexp.MustCompile(`^\[(\w+)\]$`).FindStringSubmatch(line); m != nil {
			if in = m[1]; !slices.Contains([]string{"Unit", "Service", "Install"}, in) {
				t.Errorf("line %d: section %s", k+1, in)
			}
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || in == "" || !regexp.MustCompile(`^[A-Z]\w+$`).MatchString(name) {
			t.Errorf("line %d: %s", k+1, line)
		}
		if in == section {
			values[name] = append(values[name], value)
		}
	}
	return values
}

// The unit fits the binary: its flags, what it tells systemd, and the times and limits of the defaults.
func TestUnit(t *testing.T) {
	s := unit(t, "Service")
	one := func(name string) string {
		if len(s[name]) != 1 {
			t.Fatalf("%s: %q", name, s[name])
		}
		return s[name][0]
	}
	seconds := func(name string) time.Duration {
		d, err := time.ParseDuration(one(name))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	words := strings.Fields(one("ExecStart"))
	set, _ := daemon.set()
	if err := set.Parse(words[1:]); err != nil || set.NArg() > 0 || !strings.HasSuffix(words[0], "/kingshard") {
		t.Errorf("ExecStart %q: %v", words, err)
	}
	defaults := config.Default()
	if d := seconds("TimeoutStopSec"); d < defaults.DrainTimeout.Duration()+10*time.Second {
		t.Errorf("TimeoutStopSec %v, drain_timeout %v", d, defaults.DrainTimeout)
	}
	if one("Type") != "notify" || seconds("WatchdogSec") < 10*time.Second || !strings.Contains(one("ExecReload"), "-USR1 $MAINPID") {
		t.Errorf("Type %s, WatchdogSec %s, ExecReload %s", one("Type"), one("WatchdogSec"), one("ExecReload"))
	}
	if n, err := strconv.Atoi(one("LimitNOFILE")); err != nil || n < 3*defaults.MaxClientConns {
		t.Errorf("LimitNOFILE %d for %d clients, %v", n, defaults.MaxClientConns, err)
	}
	for name, want := range map[string]string{
		"User": "kingshard", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "ProtectSystem": "strict", "MemoryDenyWriteExecute": "yes", "Restart": "on-failure",
	} {
		if one(name) != want {
			t.Errorf("%s=%s, want %q", name, one(name), want)
		}
	}
	if install := unit(t, "Install"); len(install["WantedBy"]) != 1 {
		t.Errorf("%v", install)
	}
}
