package differential

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// unasked are functions that are left out, by why.
var unasked = map[string]string{
	"another answer every time": `RAND UUID UUID_SHORT UUID_V4 UUID_V7 SYS_GUID RANDOM_BYTES NOW SYSDATE CURDATE CURTIME CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP
		LOCALTIME LOCALTIMESTAMP UTC_DATE UTC_TIME UTC_TIMESTAMP ENCRYPT`,
	"another answer now and then of bytes that are no dynamic columns": `COLUMN_ADD COLUMN_DELETE COLUMN_EXISTS COLUMN_JSON COLUMN_LIST`,
	"the session's or the server's": `CONNECTION_ID CURRENT_ROLE CURRENT_USER USER SESSION_USER SYSTEM_USER DATABASE SCHEMA VERSION FOUND_ROWS ROW_COUNT LAST_INSERT_ID
		GET_LOCK IS_FREE_LOCK IS_USED_LOCK RELEASE_LOCK RELEASE_ALL_LOCKS CURRENT_THREAD_ID PS_CURRENT_THREAD_ID PS_THREAD_ID ICU_VERSION ROLES_GRAPHML ROWNUM
		DECODE_ORACLE STATEMENT_DIGEST STATEMENT_DIGEST_TEXT VALIDATE_PASSWORD_STRENGTH WSREP_LAST_SEEN_GTID WSREP_LAST_WRITTEN_GTID WSREP_SYNC_WAIT_UPTO_GTID`,
	"waits or has effects": `SLEEP BENCHMARK LOAD_FILE MASTER_POS_WAIT MASTER_GTID_WAIT SOURCE_POS_WAIT WAIT_FOR_EXECUTED_GTID_SET LASTVAL NEXTVAL SETVAL
		WAIT_UNTIL_SQL_THREAD_AFTER_GTIDS`,
	"no function: a word of the grammar, which parentheses may follow": `DISTINCT SELECT DO IN NOT BINARY ROW EXISTS ALL ANY INTERVAL VALUES VALUE CASE AND OR XOR
		DEFAULT LIKE SET CALL TABLE REPLACE_INTO STRCMP_ USE BETWEEN DIV MOD_ RLIKE REGEXP IS COLLATE SOUNDS UNION
		HIGH_PRIORITY SQL_BIG_RESULT SQL_BUFFER_RESULT SQL_CACHE SQL_NO_CACHE SQL_CALC_FOUND_ROWS SQL_SMALL_RESULT STRAIGHT_JOIN DISTINCTROW UNIQUE
		SQL_TSI_DAY SQL_TSI_HOUR SQL_TSI_MINUTE SQL_TSI_MONTH SQL_TSI_QUARTER SQL_TSI_SECOND SQL_TSI_WEEK SQL_TSI_YEAR`,
	"of windows and groups, which the grammar has by itself": `ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD FIRST_VALUE LAST_VALUE NTH_VALUE
		MEDIAN PERCENTILE_CONT PERCENTILE_DISC GROUPING AVG BIT_AND BIT_OR BIT_XOR COUNT GROUP_CONCAT JSON_ARRAYAGG JSON_OBJECTAGG MAX MIN STD STDDEV
		STDDEV_POP STDDEV_SAMP SUM VAR_POP VAR_SAMP VARIANCE ST_COLLECT ANY_VALUE`,
}

var functionName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// listed are the names that a server lists where it lists functions, and more that are none.
func listed(t *testing.T, c *mysqltest.RawClient) []string {
	t.Helper()
	names := map[string]bool{}
	for _, sql := range []string{"SELECT UPPER(name) FROM mysql.help_topic", "SELECT UPPER(function) FROM information_schema.SQL_FUNCTIONS", "SELECT UPPER(word) FROM information_schema.KEYWORDS"} {
		r, err := c.Query(sql)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			name, _, _ := strings.Cut(strings.TrimSpace(fmt.Sprint(row[0])), " ")
			if name = strings.TrimSuffix(name, "()"); functionName.MatchString(name) {
				names[name] = true
			}
		}
	}
	for _, other := range []bool{true, false} { // MariaDB lists none of those that begin with ST_
		for _, f := range functions(dialect{mariaDB: other}) {
			names[f.name] = true
		}
	}
	for _, list := range unasked {
		for _, name := range strings.Fields(list) {
			delete(names, name)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// TestDistinctGeometries wants GROUP_CONCAT(DISTINCT) of a function that gives a geometry to be drawn on no server that answers
// it with the last row's alone.
func TestDistinctGeometries(t *testing.T) {
	distinct := regexp.MustCompile(`GROUP_CONCAT\(\s*DISTINCT\s+((ST_)?POINT(FROMTEXT|FROMWKB)?|ST_UNION|BUFFER)\(`)
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			c := examConn(t, oracle(t, kind), "")
			defer c.Close()
			r, err := c.Query("SELECT GROUP_CONCAT(DISTINCT POINT(0, n)) = POINT(0, 2) FROM (SELECT 1 AS n UNION ALL SELECT 2) AS two")
			if err != nil {
				t.Fatal(err)
			}
			alone := fmt.Sprint(r.Rows[0][0]) == "1"
			random := rand.New(rand.NewPCG(1, 0))
			d := dialect{mariaDB: kind == mysqltest.MariaDB}
			g := newGrammar(random, newSchema(random, d), d, "")
			drawn := 0
			for range 50000 {
				if distinct.MatchString(g.terms.aggregateFunction(scope{}).render("", false).sql) {
					drawn++
				}
			}
			if alone == (drawn > 0) {
				t.Errorf("%d drawn; that the server answers with the last row alone is %t", drawn, alone)
			}
		})
	}
}

// TestGroupsOfNullTimestamps wants warnings of a group's MIN and MAX to be passed over on no server that does not warn of groups of NULL.
func TestGroupsOfNullTimestamps(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			c := examConn(t, oracle(t, kind), "")
			defer c.Close()
			examRun(t, c, "CREATE DATABASE IF NOT EXISTS "+examDB)
			examRun(t, c, "CREATE TEMPORARY TABLE "+examDB+".moments (n INT, at TIMESTAMP NULL)")
			examRun(t, c, "INSERT INTO "+examDB+".moments VALUES (1, NULL), (2, NOW())")
			r, err := c.Query("SELECT n, MAX(at) FROM " + examDB + ".moments GROUP BY n")
			if err != nil {
				t.Fatal(err)
			}
			at := &column{decl: "TIMESTAMP NULL"}
			if warns := warnsOfNullGroups(dialect{mariaDB: kind == mysqltest.MariaDB}, at); warns != (r.Warnings > 0) {
				t.Errorf("passed over: %t, the server has %d warnings", warns, r.Warnings)
			}
		})
	}
}

// TestFunctionsOfServers wants every function that a server lists to be in the table of its functions, or among those left out.
// KS_DIFF_FUNCTIONS=write makes the tables anew: which arguments a function takes is found by trying.
func TestFunctionsOfServers(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			c := examConn(t, oracle(t, kind), "")
			defer c.Close()
			d := dialect{mariaDB: kind == mysqltest.MariaDB}
			if os.Getenv("KS_DIFF_FUNCTIONS") == "write" {
				writeFunctions(t, c, d)
				return
			}
			known := map[string]bool{}
			for _, f := range functions(d) {
				known[f.name] = true
			}
			for _, name := range listed(t, c) {
				if !known[name] && len(arguments(t, c, name, 3)) > 0 {
					t.Errorf("%s is listed by the server, but not in the table", name)
				}
			}
			if len(known) < 250 {
				t.Errorf("%d functions", len(known))
			}
		})
	}
}

// writeFunctions makes the table of a server's functions.
func writeFunctions(t *testing.T, c *mysqltest.RawClient, d dialect) {
	t.Helper()
	answers := map[string]string{}
	lines := map[string][]string{}
	for _, name := range listed(t, c) {
		for _, args := range arguments(t, c, name, 400) {
			lines[name] = append(lines[name], args)
			answers[call(name, args)] = ""
		}
	}
	for k := range answers {
		answers[k] = fmt.Sprint(ask(t, c, "SELECT "+k).Rows)
	}
	time.Sleep(1100 * time.Millisecond)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprint(&b, name)
		for _, args := range lines[name] {
			if sql := call(name, args); fmt.Sprint(ask(t, c, "SELECT "+sql).Rows) != answers[sql] {
				t.Logf("%s has another answer every time", sql)
				continue
			}
			fmt.Fprint(&b, " "+args+"-")
		}
		fmt.Fprintln(&b)
	}
	name := "functions_mysql.txt"
	if d.mariaDB {
		name = "functions_mariadb.txt"
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// call writes a function with a constant for each of its arguments.
func call(name, args string) string {
	var list []string
	for _, kind := range []byte(args) {
		list = append(list, argumentKinds[kind][0])
	}
	return name + "(" + strings.Join(list, ", ") + ")"
}

// likely are arguments that are tried first for functions that take few others.
var likely = map[string][]string{
	"JSON_SEARCH": {"jos", "joss", "josp"}, "JSON_ARRAY_INSERT": {"jpi", "jps"}, "JSON_ARRAY_APPEND": {"jpi", "jpj"}, "JSON_CONTAINS_PATH": {"jop", "jopp"},
	"JSON_REMOVE": {"jp", "jpp"}, "JSON_SCHEMA_VALID": {"jj"}, "JSON_VALUE": {"jp"}, "JSON_QUERY": {"jp"}, "JSON_EXISTS": {"jp"}, "CONVERT_TZ": {"tss"},
	"ST_GEOMFROMGEOJSON": {"q"}, "ST_LATFROMGEOHASH": {"s"}, "ST_LONGFROMGEOHASH": {"s"}, "ST_POINTFROMGEOHASH": {"si"}, "ST_LINEINTERPOLATEPOINT": {"gd"},
	"ST_RELATE": {"ggs"}, "ST_HAUSDORFFDISTANCE": {"gg"}, "ST_FRECHETDISTANCE": {"gg"}, "EXTRACTVALUE": {"ss"}, "COLUMN_GET": {"bs"}, "DISTANCE": {"vvs"},
}

// arguments finds lists of arguments that a function takes and gives something for, of at most tries of each length.
func arguments(t *testing.T, c *mysqltest.RawClient, name string, tries int) (found []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	kinds := "idfsbtcjpgmwkqouv"
	for length := range 5 {
		var good, empty []string
		seen := map[string]bool{}
		for try := range tries {
			args := make([]byte, length)
			for k := range args {
				args[k] = kinds[random.IntN(len(kinds))]
			}
			if length == 1 && try < len(kinds) {
				args[0] = kinds[try]
			}
			if first := likely[name]; try < len(first) && len(first[try]) == length {
				args = []byte(first[try])
			}
			if seen[string(args)] {
				continue
			}
			seen[string(args)] = true
			r := ask(t, c, "SELECT "+call(name, string(args)))
			if r.Err != nil {
				if slices.Contains([]uint16{1064, 1582, 1305, 1630, 1054, 1221, 1583}, r.Err.Code) && try > 20 {
					break // no more than that to learn
				}
				continue
			}
			if len(r.Rows) == 1 && len(r.Columns) == 1 && r.Rows[0][0] != nil {
				good = append(good, string(args))
			} else {
				empty = append(empty, string(args))
			}
			if len(good) > 40 {
				break
			}
		}
		random.Shuffle(len(good), func(i, j int) { good[i], good[j] = good[j], good[i] })
		found = append(found, good[:min(len(good), 6)]...)
		if len(good) == 0 {
			found = append(found, empty[:min(len(empty), 1)]...)
		}
	}
	return found
}

func ask(t *testing.T, c *mysqltest.RawClient, sql string) *mysqltest.RawResult {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r
}
