package admin_test

import (
	"os"
	"strings"
	"testing"

	"kingshard/config"
)

// KS SAVE CONFIG writes what was changed into the file, where a start finds it, and nothing that somebody else wrote is lost.
func TestSaveConfig(t *testing.T) {
	p := start(t, nil)
	root := p.client("root")
	file := func() string {
		t.Helper()
		data, err := os.ReadFile(p.file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := rows(t, root, "KS SAVE CONFIG"); len(got) != 0 || file() != p.text {
		t.Errorf("nothing to save: %q", got)
	}
	must(t, root, "KS SET slow_log_time = 25")
	must(t, root, "KS SET nodes[n2].max_conns_limit = 6")
	must(t, root, "KS NODE n2 ADD REPLICA '127.0.0.1:1' WEIGHT 2")
	got := rows(t, root, "KS SAVE CONFIG")
	if len(got) != 3 || strings.Join(got[2], "|") != "slow_log_time|0|25|YES" || got[1][0] != "nodes[n2].slave" {
		t.Errorf("%q", got)
	}
	want := strings.Replace(p.text, "slow_log_time: 0", "slow_log_time: 25", 1)
	want = strings.Replace(want, "- {name: n2, max_conns_limit: 4", `- {slave: "127.0.0.1:1@2", name: n2, max_conns_limit: 6`, 1)
	if file() != want {
		t.Errorf("the file is\n%s\nwant\n%s", file(), want)
	}
	if info, err := os.Stat(p.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if got := rows(t, root, "KS RELOAD CHECK"); len(got) != 0 {
		t.Errorf("the file differs from what is in force: %q", got)
	}
	if cfg, faults := config.Load(p.file, config.Options{}); cfg == nil || len(config.Diff(p.Config(), cfg)) > 0 {
		t.Errorf("a start would find something else: %v", faults)
	}
	// Somebody edits the file, which is not reloaded yet.
	edited := strings.Replace(want, "# the file of the test", "# edited", 1)
	p.write(edited)
	must(t, root, "KS SET slow_log_time = 26")
	fails(t, root, "KS SAVE CONFIG", 9032, "changed since it was read", "FORCE")
	if status, answer := p.call("web", "POST", "/api/v2/config/save", ""); status != 409 || !strings.Contains(answer, "FORCE") {
		t.Errorf("%d %s", status, answer)
	}
	if file() != edited {
		t.Error("a refused save changed the file")
	}
	must(t, root, "KS RELOAD CHECK") // which takes nothing over
	fails(t, root, "KS SAVE CONFIG", 9032, "changed since it was read")
	if got := rows(t, root, "KS SAVE CONFIG FORCE"); len(got) != 1 || file() != strings.Replace(edited, "slow_log_time: 25", "slow_log_time: 26", 1) {
		t.Errorf("%q, the file is\n%s", got, file())
	}
	p.write(edited)
	must(t, root, "KS RELOAD")
	must(t, root, "KS SET slow_log_time = 27")
	must(t, root, "KS SAVE CONFIG")
	for _, text := range []string{"KS SAVE", "KS SAVE FORCE", "KS SAVE CONFIG NOW"} {
		fails(t, root, text, 9031)
	}
	if status, answer := p.call("web", "POST", "/api/v2/config/save", `{"force":true}`); status != 200 || answer != `{"rows":[]}` {
		t.Errorf("%d %s", status, answer)
	}
}
