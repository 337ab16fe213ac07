package clients

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kingshard/mysql/mysqltest"
)

// ormSteps are what each application does, in order: it reads the schema as its ORM does; it creates, reads, pages, joins
// and updates, each write on one shard; its writes reach several shards; it makes a table whose ids it leaves to the server, two of which
// one refers to the other, and one in which each e-mail address is there once.
var ormSteps = []string{"introspect", "shop", "many", "ids", "related", "members"}

// ormApp is a shop written with one ORM. It writes a transcript with a heading "== STEP" for each step. But for what the
// ORM finds in the schema, the transcripts of all of them are the same, and are testdata/orm/transcript.txt.
type ormApp struct {
	name  string
	start func(kind mysqltest.Kind, e endpoint) program
}

var installORM = sync.OnceValue(func() error {
	if out, err := exec.Command("./install_orm.sh").CombinedOutput(); err != nil {
		return fmt.Errorf("install_orm.sh: %w\n%s", err, out)
	}
	return nil
})

// ormApps builds the applications.
func ormApps(t *testing.T) []ormApp {
	t.Helper()
	if err := installORM(); err != nil {
		t.Fatal(err)
	}
	return []ormApp{pythonORM(t, "django"), pythonORM(t, "sqlalchemy"), hibernate(t), gorm(t), sequelize(t), activeRecord(t), phpORM(t, "eloquent"), phpORM(t, "doctrine")}
}

func pythonORM(t *testing.T, name string) ormApp {
	return ormApp{name: name, start: func(_ mysqltest.Kind, e endpoint) program {
		return program{
			path: installed(t, "python", "bin", "python"),
			args: []string{testdata(t, "orm", "python", name+"_shop.py"), e.host, fmt.Sprint(e.port), ormDB},
			env:  []string{"PYTHONPATH=" + installed(t, "orm-python"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8"},
		}
	}}
}

// hibernate compiles the application of Hibernate, which uses each server's own JDBC driver with prepared statements.
func hibernate(t *testing.T) ormApp {
	t.Helper()
	classes := t.TempDir()
	jars := installed(t, "hibernate", "*")
	sources, err := filepath.Glob(testdata(t, "orm", "hibernate", "*.java"))
	if err != nil {
		t.Fatal(err)
	}
	compiler := tool(t, "javac", "install a JDK of version 17 or later")
	run(t, program{path: compiler, args: append([]string{"-J-XX:TieredStopAtLevel=1", "-encoding", "UTF-8", "-cp", jars, "-d", classes}, sources...)})
	java := tool(t, "java", "install a JDK of version 17 or later")
	return ormApp{name: "hibernate", start: func(kind mysqltest.Kind, e endpoint) program {
		jar, url := "mariadb-java-client.jar", "jdbc:mariadb://%s/%s?useServerPrepStmts=true&sslMode=disable"
		if kind == mysqltest.MySQL9 {
			jar, url = "mysql-connector-j.jar", "jdbc:mysql://%s/%s?useServerPrepStmts=true&sslMode=DISABLED&allowPublicKeyRetrieval=true"
		}
		return program{path: java, args: []string{
			"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Duser.timezone=UTC",
			"-cp", strings.Join([]string{classes, jars, installed(t, "java", jar)}, string(os.PathListSeparator)),
			"Main", fmt.Sprintf(url, e.addr(), ormDB),
		}}
	}}
}

// gorm builds the application of GORM, a module of its own.
func gorm(t *testing.T) ormApp {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gorm")
	run(t, program{
		path: tool(t, "go", "install Go"), args: []string{"build", "-buildvcs=false", "-o", path, "."}, dir: testdata(t, "orm", "gorm"),
		env: []string{"GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0"},
	})
	return ormApp{name: "gorm", start: func(_ mysqltest.Kind, e endpoint) program {
		return program{path: path, args: []string{e.addr(), ormDB}}
	}}
}

// sequelize is the application of Sequelize, which has a dialect and a driver for each server.
func sequelize(t *testing.T) ormApp {
	t.Helper()
	node := tool(t, "node", "install Node.js")
	return ormApp{name: "sequelize", start: func(kind mysqltest.Kind, e endpoint) program {
		dialect := "mariadb"
		if kind == mysqltest.MySQL9 {
			dialect = "mysql"
		}
		modules := []string{installed(t, "orm-node", "node_modules"), installed(t, "node", "node_modules")}
		return program{
			path: node,
			args: []string{testdata(t, "orm", "sequelize", "main.js"), dialect, e.host, fmt.Sprint(e.port), ormDB},
			env:  []string{"NODE_PATH=" + strings.Join(modules, string(os.PathListSeparator))},
		}
	}}
}

// activeRecord is the application of ActiveRecord, of the system's packages. Ruby warns of what later versions will say.
func activeRecord(t *testing.T) ormApp {
	t.Helper()
	ruby := tool(t, "ruby", "install_orm.sh installs it on Debian")
	return ormApp{name: "activerecord", start: func(_ mysqltest.Kind, e endpoint) program {
		return program{path: ruby, args: []string{"-W0", testdata(t, "orm", "activerecord", "main.rb"), e.host, fmt.Sprint(e.port), ormDB}, env: []string{"LC_ALL=C.UTF-8"}}
	}}
}

// phpORM is an application of the system's packages.
func phpORM(t *testing.T, name string) ormApp {
	t.Helper()
	php := tool(t, "php", "install_orm.sh installs it on Debian")
	return ormApp{name: name, start: func(_ mysqltest.Kind, e endpoint) program {
		return program{path: php, args: []string{testdata(t, "orm", "php", name, "main.php"), e.host, fmt.Sprint(e.port), ormDB}}
	}}
}

// TestORM runs each application straight on a server, through a proxy that passes everything on to it, and through one
// that shards its tables over two nodes.
func TestORM(t *testing.T) {
	apps := ormApps(t)
	golden, err := os.ReadFile(testdata(t, "orm", "transcript.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := ormSections(string(golden))
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			places := ormPlaces(t, kind)
			for _, app := range apps {
				t.Run(app.name, func(t *testing.T) {
					wants := maps.Clone(want)
					for _, place := range places {
						t.Run(place.name, func(t *testing.T) {
							got := runORM(t, app.start(kind, place.endpoint), place)
							if wants["introspect"] == "" {
								wants["introspect"] = got["introspect"]
							}
							compareORM(t, wants, got)
						})
					}
				})
			}
		})
	}
}

// runORM runs one application on fresh tables and gives what it wrote in each step.
func runORM(t *testing.T, p program, place ormPlace) map[string]string {
	t.Helper()
	place.createTables(t)
	out, errs, err := try(t, p)
	sections := ormSections(out)
	if err != nil {
		t.Errorf("%v\n%s", err, lastLines(errs, 30))
	}
	if place.check != nil {
		place.check(t)
	}
	return sections
}

// compareORM wants each step's transcript to be the one expected.
func compareORM(t *testing.T, want, got map[string]string) {
	t.Helper()
	if steps := slices.Sorted(maps.Keys(got)); !slices.Equal(steps, slices.Sorted(slices.Values(ormSteps))) {
		t.Errorf("the steps are %v", steps)
	}
	if n := strings.Count(got["introspect"], "\n"); n < 10 {
		t.Errorf("only %d lines about the schema:\n%s", n, got["introspect"])
	}
	for _, step := range ormSteps {
		t.Run(step, func(t *testing.T) { same(t, want[step], got[step]) })
	}
}

// ormSections splits a transcript at its headings.
func ormSections(transcript string) map[string]string {
	sections := make(map[string]string)
	for _, section := range strings.Split("\n"+transcript, "\n== ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		sections[name] = strings.TrimRight(text, "\n") + "\n"
	}
	return sections
}
