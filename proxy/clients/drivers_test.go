//go:build drivers

package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

func init() { install = "" } // the suites bring what they need

// suiteTimeout bounds one run of a suite.
const suiteTimeout = time.Hour

// leastTests are how many tests of a suite pass on one server at the least: fewer are a suite that did not run.
var leastTests = map[string]int{"PyMySQL": 100, "aiomysql": 300, "mysql-connector-python": 100, "Django": 1000}

// labels are the tests of Django that use the database in ways of their own.
const labels = "backends transactions transaction_hooks queries schema introspection inspectdb aggregation aggregation_regress basic annotations bulk_create " +
	"constraints datatypes db_functions delete expressions field_defaults foreign_object get_or_create indexes lookup many_to_many migrations model_fields ordering " +
	"select_for_update timezones update update_only_fields"

// TestDriverSuites runs the test suites of drivers straight and through a proxy. Their tests pass and fail alike, but for those that
// testdata/drivers/differences.txt names.
func TestDriverSuites(t *testing.T) {
	dir := installed(t, "drivers")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, suite := range []string{"PyMySQL", "aiomysql", "mysql-connector-python", "Django"} {
		t.Run(suite, func(t *testing.T) {
			for _, kind := range kinds {
				t.Run(string(kind), func(t *testing.T) {
					t.Parallel() // a suite waits for its server, and is one process of one thread
					server := mysqltest.Shared(t, kind)
					outcome := map[string]map[string]string{}
					for _, e := range []endpoint{direct(server), startProxy(t, server)} {
						for _, db := range []string{"test1", "test2", "myconnpy", "django", "django_other"} {
							freshDB(t, server, db)
						}
						out := run(t, program{
							path: "./drivers.sh", args: []string{dir, suite, e.host, fmt.Sprint(e.port), "root", "root", e.ca}, patience: suiteTimeout,
							env: []string{"LABELS=" + labels},
						})
						outcome[e.name] = outcomes(out)
						if kept := os.Getenv("KS_DRIVERS_KEEP"); kept != "" {
							if err := os.WriteFile(filepath.Join(kept, suite+"-"+string(kind)+"-"+e.name), []byte(out), 0o644); err != nil {
								t.Fatal(err)
							}
						}
					}
					passed := 0
					for _, o := range outcome["direct"] {
						if o == "pass" {
							passed++
						}
					}
					t.Logf("%d tests, %d pass straight", len(outcome["direct"]), passed)
					if passed < leastTests[suite] {
						t.Errorf("only %d tests pass on the server itself", passed)
					}
					known, races := differences(t, suite, string(kind))
					for _, name := range races {
						if outcome["direct"][name] == "" {
							t.Errorf("there is no test %s", name)
						}
						delete(outcome["direct"], name)
						delete(outcome["proxy"], name)
					}
					for _, d := range unlike(outcome["direct"], outcome["proxy"]) {
						if k := slices.Index(known, d); k >= 0 {
							known = slices.Delete(known, k, k+1)
							continue
						}
						t.Errorf("differs: %s", d)
					}
					for _, d := range known {
						t.Errorf("differs no more: %s", d)
					}
				})
			}
		})
	}
}

// outcomes reads the list of a run.
func outcomes(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if outcome, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all[name] = outcome
		}
	}
	return all
}

// unlike lists the tests whose outcomes differ: the name, the outcome straight and that through the proxy.
func unlike(direct, proxied map[string]string) (list []string) {
	for name, o := range direct {
		if p := proxied[name]; p != o {
			list = append(list, fmt.Sprintf("%s %s %s", name, o, orNone(p)))
		}
	}
	for name, p := range proxied {
		if direct[name] == "" {
			list = append(list, fmt.Sprintf("%s none %s", name, p))
		}
	}
	slices.Sort(list)
	return list
}

func orNone(outcome string) string {
	if outcome == "" {
		return "none"
	}
	return outcome
}

// differences reads the known ones of a suite on a server: lines of suite, kind, test, outcome straight and through the proxy. Tests whose
// outcome on a server is a matter of time are in lines of suite, kind, test and the word "race". Others are blank or explain them.
func differences(t *testing.T, suite, kind string) (list, races []string) {
	b, err := os.ReadFile(testdata(t, "drivers", "differences.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), suite+" "+kind+" "); ok {
			if name, race := strings.CutSuffix(rest, " race"); race {
				races = append(races, name)
			} else {
				list = append(list, rest)
			}
		}
	}
	return list, races
}
