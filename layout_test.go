package kingshard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// allowed lists, for each package, the packages of this module that its code may import. Arrows point down only.
// A package that is missing here fails the test: adding one is a decision.
var allowed = map[string][]string{
	"mysql":            {"mysql/rawio", "mysql/spare", "mysql/transport"},
	"mysql/transport":  {"mysql/rawio"},
	"mysql/rawio":      nil,
	"mysql/sockopt":    nil,
	"mysql/spare":      nil,
	"mysql/auth":       nil,
	"mysql/value":      {"mysql"},
	"mysql/sqltext":    {"mysql/value"},
	"mysql/sqlparse":   {"mysql/collation", "mysql/sqltext", "mysql/value"},
	"mysql/loadfile":   nil,
	"mysql/collation":  nil,
	"mysql/dump":       {"mysql", "mysql/collation", "mysql/sqltext"},
	"mysql/serverlog":  {"mysql/sqltext"},
	"mysql/mysqltest":  {"mysql", "mysql/auth"},
	"config":           nil,
	"backend/pool":     nil,
	"backend/resolve":  nil,
	"backend/stored":   {"mysql/sqltext"},
	"backend/gtid":     nil,
	"backend/roles":    {"backend/gtid"},
	"backend":          {"backend/gtid", "backend/pool", "backend/resolve", "backend/roles", "backend/stored", "mysql/sqltext", "mysql", "mysql/auth", "mysql/sockopt", "mysql/transport", "mysql/value", "config"},
	"backend/health":   {"backend", "backend/gtid", "backend/roles", "backend/stored", "config", "mysql/sqltext", "mysql"},
	"router/rule":      {"mysql/collation", "mysql/value"},
	"router":           {"router/rule", "mysql/value", "config"},
	"router/plan":      {"router", "router/rule", "mysql", "mysql/sqlparse", "mysql/sqltext", "mysql/value"},
	"proxy/fastlane":   {"mysql/rawio"},
	"proxy/processors": nil,
	"proxy/cpuprofile": nil,
	"proxy/faultpoint": nil,
	"proxy/handover":   {"mysql"},
	"proxy/exec":       {"mysql", "mysql/value", "proxy/faultpoint", "router/plan"},

	"proxy/querylog": {"config", "mysql/sqltext"},
	// The rules are made from the configuration's.
	"proxy/queryrule": {"config", "mysql/sqltext", "proxy/throttle"},
	"proxy/throttle":  nil,
	// Statements that are sent once more are counted by their rules.
	"proxy/mirror":        {"backend", "mysql", "proxy/queryrule"},
	"proxy/account":       {"config", "mysql/auth", "proxy/throttle"},
	"proxy/ddl":           {"backend"},
	"proxy/halfdone":      nil,
	"proxy/hotkeys":       {"mysql/value", "router"},
	"proxy/switchover":    {"backend", "backend/health", "mysql", "mysql/sqltext"},
	"proxy/sequence":      {"backend", "backend/pool", "mysql", "mysql/sqltext", "proxy/kserror"},
	"proxy/indexes":       {"backend", "mysql", "mysql/sqlparse", "mysql/sqltext", "mysql/value", "router", "router/plan", "router/rule"},
	"proxy/lockwaits":     {"backend", "mysql"},
	"proxy/process":       {"backend", "mysql", "proxy/lockwaits"},
	"proxy/kserror":       {"mysql"},
	"proxy/txn":           {"backend", "backend/gtid", "backend/pool", "mysql", "mysql/sqltext", "proxy/faultpoint", "proxy/kserror", "proxy/observe", "proxy/tracing"},
	"proxy/txn/decisions": {"backend", "mysql", "mysql/sqltext"},
	// What decides about transactions of several nodes knows neither servers nor sessions.
	"proxy/txn/twophase": nil,
	// What checks histories of them, for tests, knows nothing of databases.
	"proxy/txn/history":         nil,
	"proxy/txn/driver":          {"backend", "mysql", "proxy/faultpoint", "proxy/txn", "proxy/txn/decisions", "proxy/txn/twophase"},
	"proxy/session":             {"backend", "backend/gtid", "backend/pool", "backend/stored", "config", "mysql", "mysql/auth", "mysql/collation", "mysql/loadfile", "mysql/spare", "mysql/sqlparse", "mysql/sqltext", "mysql/value", "proxy/account", "proxy/ddl", "proxy/exec", "proxy/fastlane", "proxy/faultpoint", "proxy/halfdone", "proxy/hotkeys", "proxy/indexes", "proxy/kserror", "proxy/lockwaits", "proxy/mirror", "proxy/observe", "proxy/process", "proxy/querylog", "proxy/queryrule", "proxy/sequence", "proxy/session/state", "proxy/throttle", "proxy/tracing", "proxy/txn", "proxy/txn/driver", "proxy/txn/twophase", "router", "router/plan"},
	"proxy/session/state":       {"backend", "backend/stored", "mysql", "mysql/sqltext"},
	"proxy/observe":             {"backend", "backend/pool", "mysql", "mysql/sqltext", "proxy/account", "proxy/querylog", "proxy/tracing"},
	"proxy/tracing":             {"config", "mysql/sqltext"},
	"proxy/tracing/tracingtest": {},
	"proxy/placement":           {"backend", "mysql", "mysql/collation", "mysql/sqltext", "mysql/value", "router", "router/plan", "router/rule"},
	"proxy/subtables":           {"backend", "mysql", "router"},
	// The limits of users name themselves.
	"proxy/metrics":           {"backend", "backend/pool", "proxy/account", "proxy/observe", "proxy/querylog", "proxy/sequence", "proxy/session", "proxy/subtables"},
	"proxy/admin":             {"backend", "backend/pool", "backend/roles", "config", "mysql", "mysql/sqltext", "proxy/account", "proxy/admin/change", "proxy/admin/login", "proxy/admin/predecessor", "proxy/admin/rest", "proxy/admin/statement", "proxy/cpuprofile", "proxy/faultpoint", "proxy/halfdone", "proxy/hotkeys", "proxy/indexes", "proxy/kserror", "proxy/observe", "proxy/placement", "proxy/process", "proxy/querylog", "proxy/queryrule", "proxy/sequence", "proxy/session", "proxy/txn", "proxy/txn/driver", "router", "router/plan"},
	"proxy/admin/change":      {"backend", "config", "mysql", "proxy/account", "proxy/admin/statement", "proxy/kserror", "proxy/querylog", "proxy/queryrule", "proxy/session", "proxy/switchover"},
	"proxy/admin/predecessor": {"backend", "backend/pool", "config", "mysql", "proxy/account", "proxy/admin/change", "proxy/admin/rest", "proxy/admin/statement", "proxy/kserror", "proxy/queryrule", "proxy/session"},
	"proxy/admin/rest":        {"proxy/kserror"},
	"proxy/admin/statement":   {"mysql/sqltext", "proxy/kserror"},
	"proxy/admin/login":       {"config", "proxy/account"},
	// Two configurations are compared by where they place rows.
	"proxy":              {"backend", "backend/health", "backend/roles", "config", "mysql", "mysql/sockopt", "proxy/account", "proxy/admin", "proxy/admin/change", "proxy/console", "proxy/faultpoint", "proxy/halfdone", "proxy/handover", "proxy/indexes", "proxy/metrics", "proxy/mirror", "proxy/placement", "proxy/process", "proxy/processors", "proxy/querylog", "proxy/queryrule", "proxy/session", "proxy/subtables", "proxy/txn/driver", "router"},
	"cmd/kingshard":      {"backend", "backend/health", "backend/stored", "cmd/kingshard/demo", "cmd/kingshard/remote", "config", "mysql", "mysql/auth", "mysql/dump", "mysql/serverlog", "mysql/sqlparse", "mysql/sqltext", "mysql/value", "proxy", "proxy/handover", "proxy/lockwaits", "proxy/placement", "proxy/querylog", "proxy/txn/decisions", "router", "router/plan", "router/rule"},
	"proxy/console":      {"proxy/account", "proxy/admin/login"},
	"cmd/kingshard/demo": {"config", "mysql/mysqltest", "proxy", "router"},
	// A client of the proxy: where it is comes from the configuration, and several statements are split as the proxy does.
	"cmd/kingshard/remote": {"config", "mysql/sqltext"},
	"bench/differential":   {"mysql", "mysql/mysqltest"},
	"bench/procstat":       nil,
	"bench/load":           {"bench/procstat", "mysql", "mysql/mysqltest", "mysql/rawio", "mysql/transport"},
	"bench/rig":            {"bench/load", "mysql/mysqltest"},
	// What errors of the proxy mean is the proxy's to say.
	"bench/chaos":    {"bench/rig", "mysql", "mysql/mysqltest", "proxy/kserror"},
	"bench/report":   nil,
	"bench/tpcc":     nil,
	"bench/tpch":     nil,
	"bench/scenario": {"bench/load", "bench/procstat", "bench/report", "bench/rig"},
	"bench":          {"bench/chaos", "bench/load", "bench/procstat", "bench/report", "bench/rig", "bench/scenario", "bench/tpcc", "bench/tpch", "mysql/mysqltest"},
	// Applications of the tests, a module of their own.
	"proxy/clients/testdata/orm/gorm": nil,
	// Helm, for the tests of the chart, a module of its own.
	"etc/helm/render": nil,
}

// topLevel are the folders of the root; there are no others.
var topLevel = []string{"cmd", "proxy", "backend", "router", "mysql", "config", "etc", "bench", "docs", ".ci", ".git", "bin"}

// bannedNames say nothing about what is inside.
var bannedNames = []string{"utils", "util", "common", "core", "helper", "misc", "base", "types", "models", "manager", "lib"}

// fileLinesMax is the longest a source file may be: beyond it there is more than one thing inside.
const fileLinesMax = 1000

func TestLayout(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !contains(topLevel, e.Name()) {
			t.Errorf("folder %s: not one of the top level's", e.Name())
		}
	}
	checked := 0
	walk(t, func(dir, file string) {
		checked++
		if depth := strings.Count(dir, "/"); depth > 2 && !strings.Contains(dir, "testdata") {
			t.Errorf("%s: deeper than two levels below the top", dir)
		}
		for _, part := range strings.Split(dir, "/") {
			if contains(bannedNames, part) {
				t.Errorf("%s: %q is no name for a package", dir, part)
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(data), "\n"); lines > fileLinesMax {
			t.Errorf("%s has %d lines, more than %d", file, lines, fileLinesMax)
		}
	})
	if checked < 50 {
		t.Errorf("only %d files seen", checked)
	}
}

func TestImports(t *testing.T) {
	walk(t, func(dir, file string) {
		if dir == "." || strings.HasSuffix(file, "_test.go") {
			return
		}
		may, known := allowed[dir]
		if !known {
			t.Errorf("package %s is not in the table of allowed imports", dir)
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if own, ok := strings.CutPrefix(path, "kingshard/"); ok && !contains(may, own) {
				t.Errorf("%s: %s may not import %s", file, dir, own)
			}
		}
	})
}

// walk calls f for every Go file of the module with its folder.
func walk(t *testing.T, f func(dir, file string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			f(filepath.ToSlash(filepath.Dir(path)), path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// TestWhoWaits keeps sockets and goroutines out of what decides: plans and a session's connections know neither, a session begins no goroutine of
// its own.
func TestWhoWaits(t *testing.T) {
	sockets := map[string]bool{"router/plan": false, "proxy/txn": false, "proxy/txn/twophase": false, "proxy/session": true}
	checked := 0
	walk(t, func(dir, file string) {
		may, listed := sockets[dir]
		if !listed || strings.HasSuffix(file, "_test.go") {
			return
		}
		checked++
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			if path := strings.Trim(spec.Path.Value, `"`); !may && (path == "net" || path == "syscall") {
				t.Errorf("%s imports %s", file, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s begins a goroutine that nobody joins", file)
			}
			return true
		})
	})
	if checked < 50 {
		t.Errorf("only %d files seen", checked)
	}
}
