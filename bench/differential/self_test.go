package differential

import (
	"regexp"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// alone is a round in which the server is compared with itself, in two databases.
func alone(t *testing.T, kind mysqltest.Kind, statements int) Round {
	t.Helper()
	addr := oracle(t, kind)
	return Round{
		Seed: 7, Statements: statements, Oracle: addr, Subject: addr,
		Databases: []Database{
			{Name: "d0", Subject: "s0", Layout: Layout{Nodes: []string{addr}}},
			{Name: "d1", Subject: "s1", Layout: Layout{Nodes: []string{addr}}, Seed: 1},
		},
	}
}

// TestSame wants a server to be equal to itself, and most statements to be ones that it can run.
func TestSame(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			for seed := range uint64(4) {
				r := alone(t, kind, 700)
				r.Seed = 100 * seed
				report, err := r.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if report.Mismatches() > 0 || report.Equal < 1390 {
					t.Error(report)
				}
				if report.Errors*8 > report.Equal {
					t.Errorf("%d of %d statements are errors", report.Errors, report.Equal)
				}
			}
		})
	}
}

// TestFindsFaults plants a fault into what the subject is sent and wants it to be found and made short.
func TestFindsFaults(t *testing.T) {
	replace := func(pattern, with string) func(string) string {
		re := regexp.MustCompile(pattern)
		return func(sql string) string { return re.ReplaceAllString(sql, with) }
	}
	for _, test := range []struct {
		name   string
		alter  func(string) string
		kind   string // of one failure at least; "" for any
		text   string // which its statements contain
		length int    // which they do not exceed
	}{
		{"DESC is lost", replace(" DESC", ""), "order", "DESC", 120},
		{"LIMIT is lost", replace(` LIMIT \d+$`, ""), "rows", "LIMIT", 120},
		{"offset is lost", replace(`LIMIT (\d+) OFFSET \d+`, "LIMIT $1"), "rows", "OFFSET", 120},
		{"DISTINCT is lost", replace(`SELECT DISTINCT`, "SELECT"), "rows", "DISTINCT", 120},
		{"HAVING is lost", replace(`HAVING .*?(ORDER|LIMIT|$)`, "$1"), "rows", "HAVING", 200},
		{"rows of AND", replace(` AND `, " OR "), "rows", " AND ", 160},
		{"other name of a column", replace(`COUNT\(\*\)`, "COUNT(1)"), "metadata: name", "COUNT(*)", 80},
		{"no rows to delete", replace(`^DELETE FROM (\w+) WHERE`, "DELETE FROM $1 WHERE 1 = 0 AND"), "affected rows", "DELETE", 120},
		{"other value written", replace(`^UPDATE (.*?)a = \d+`, "UPDATE ${1}a = 77"), "tables", "UPDATE", 160},
		{"id that is brought", replace(`^INSERT INTO (i[14]) \(a, `, "INSERT INTO $1 (id, a) VALUES (LAST_INSERT_ID(7001), 1) -- "), "", "INSERT INTO i", 160},
		{"ids that begin elsewhere", replace(`AUTO_INCREMENT = (\d+)`, "AUTO_INCREMENT = ${1}7"), "insert id", "AUTO_INCREMENT", 260},
		{"id of the row that was there", replace(`, id = LAST_INSERT_ID\(id\)|id = LAST_INSERT_ID\(id\), `, ""), "", "LAST_INSERT_ID(id)", 260},
		{"error of another kind", replace(`a = a \+ 1`, "a = nothing + 1"), "error 0/1054", "UPDATE", 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			var report *Report
			for seed := uint64(7); seed < 67; seed++ { // whether a fault shows in few words is a seed's chance
				r := alone(t, mysqltest.MariaDB, 900)
				r.Databases, r.Seed = r.Databases[:1], seed
				r.alter = test.alter
				var err error
				if report, err = r.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, f := range report.Failures {
					text := strings.Join(f.Statements, "; ")
					if (f.Kind == test.kind || test.kind == "") && strings.Contains(text, test.text) && len(text) <= test.length {
						t.Logf("%v", f)
						return
					}
				}
			}
			t.Errorf("not found, or not made short:\n%v", report)
		})
	}
}

// TestSeed wants a seed to make the same statements again, whatever became of those before.
func TestSeed(t *testing.T) {
	var texts [2][]string
	for k := range texts {
		r := alone(t, mysqltest.MariaDB, 150)
		r.Databases = r.Databases[:1]
		r.alter = func(sql string) string {
			texts[k] = append(texts[k], sql)
			return sql
		}
		if _, err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(texts[0]) < 150 || strings.Join(texts[0], "\n") != strings.Join(texts[1], "\n") {
		t.Errorf("%d and %d statements that differ", len(texts[0]), len(texts[1]))
	}
}
