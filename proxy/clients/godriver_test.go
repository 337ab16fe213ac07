package clients

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// goDriver is the module whose own tests are run; at the version that go.mod names.
const goDriver = "github.com/go-sql-driver/mysql"

// goDriverLeftOut are tests that have nothing to do with a server: this one dials an address outside of the machine.
const goDriverLeftOut = "^TestConnectorReturnsTimeout$"

// TestGoDriver runs the test suite of go-sql-driver/mysql. Every test must end in the same way through the proxy but for
// those in goDriverDiffers, each of which docs/compatibility.md explains.
func TestGoDriver(t *testing.T) {
	suite := buildGoDriver(t)
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			server := mysqltest.Shared(t, kind)
			results := make(map[string]map[string]string)
			outputs := make(map[string]string)
			for _, e := range []endpoint{direct(server), startProxy(t, server)} {
				freshDB(t, server, "gotest")
				outputs[e.name] = runGoDriver(t, suite, e)
				results[e.name] = goTestResults(outputs[e.name])
			}
			if len(results["direct"]) < 200 {
				t.Fatalf("only %d results of the suite:\n%s", len(results["direct"]), lastLines(outputs["direct"], 40))
			}
			compareGoDriver(t, kind, results, outputs)
		})
	}
}

// goDriverDiffers lists, by kind of server, tests with another outcome through the proxy, as "direct/proxy".
var goDriverDiffers = map[mysqltest.Kind]map[string]string{}

func compareGoDriver(t *testing.T, kind mysqltest.Kind, results map[string]map[string]string, outputs map[string]string) {
	t.Helper()
	names := make(map[string]bool)
	for _, r := range results {
		for name := range r {
			names[name] = true
		}
	}
	count := make(map[string]int)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := results["direct"][name], results["proxy"][name]
		count["direct "+a]++
		count["proxy "+b]++
		want := goDriverDiffers[kind][name]
		switch {
		case a == b && want != "":
			t.Errorf("%s: %s on both sides now; take it out of the list of differences", name, a)
		case a != b && want != a+"/"+b:
			t.Errorf("%s: %s directly, %s through the proxy\n%s", name, a, b, goTestLog(outputs["proxy"], name))
		case a == "FAIL" && !strings.Contains(name, "/"):
			t.Logf("%s fails on both sides", name)
		}
	}
	t.Logf("%v", count)
}

// buildGoDriver compiles the suite from the module cache, with the dependencies of its own go.mod.
func buildGoDriver(t *testing.T) string {
	t.Helper()
	goTool := tool(t, "go", "install Go")
	source := strings.TrimSpace(run(t, program{path: goTool, args: []string{"list", "-m", "-f", "{{.Dir}}", goDriver}}))
	dir := filepath.Join(t.TempDir(), "suite")
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(dir, "suite.test")
	run(t, program{
		path: goTool, args: []string{"test", "-c", "-o", suite, "."}, dir: dir,
		env: []string{"GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0"},
	})
	return suite
}

func runGoDriver(t *testing.T, suite string, e endpoint) string {
	t.Helper()
	out, errs, err := try(t, program{
		path: suite, args: []string{"-test.v", "-test.skip", goDriverLeftOut, "-test.timeout", "3m"}, dir: filepath.Dir(suite),
		env: []string{
			"MYSQL_TEST_USER=root", "MYSQL_TEST_PASS=root", "MYSQL_TEST_PROT=tcp", "MYSQL_TEST_ADDR=" + e.addr(),
			"MYSQL_TEST_DBNAME=gotest", "MYSQL_TEST_CONCURRENT=1",
		},
	})
	if err != nil {
		t.Logf("%s: the suite ended with %v", e.name, err)
	}
	if strings.Contains(out+errs, "panic: ") {
		t.Errorf("%s: the suite panicked:\n%s\n%s", e.name, lastLines(out, 30), lastLines(errs, 60))
	}
	return out
}

var goTestLine = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+)`)

// goTestResults gives the outcome of each test and subtest.
func goTestResults(out string) map[string]string {
	results := make(map[string]string)
	for _, m := range goTestLine.FindAllStringSubmatch(out, -1) {
		results[m[2]] = m[1]
	}
	return results
}

// goTestLog gives what one test said.
func goTestLog(out, name string) string {
	from := strings.Index(out, fmt.Sprintf("=== RUN   %s\n", name))
	if from < 0 {
		return ""
	}
	lines := strings.Split(out[from:], "\n")
	return strings.Join(lines[:min(len(lines), 15)], "\n")
}
