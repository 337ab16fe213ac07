package differential

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	keyvalue "kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/plan"
	"kingshard/router/rule"
)

// keyColumns are the types of key columns, with what is in them beside what the literals bring.
var keyColumns = []struct {
	name, sqlType string
	keys          []string // literals
}{
	{"tiny", "tinyint", nil},
	{"plain", "int", nil},
	{"big", "bigint", []string{"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740994", "9223372036854775807", "-9223372036854775808"}},
	{"bigu", "bigint unsigned", []string{"9007199254740992", "9007199254740993", "9223372036854775808", "18446744073709551615"}},
	{"dec2", "decimal(20,2)", []string{"4.99", "5.01", "1.5", "-0.01"}},
	{"year4", "year", []string{"1901", "2000", "1999", "2024"}},
	{"day", "date", []string{"'2024-01-01'", "'2024-01-02'", "'2024-03-01'"}},
	{"moment", "datetime", []string{"'2024-01-01 00:00:00'", "'2024-01-02 10:00:00'"}},
	{"moment2", "datetime(2)", []string{"'2024-01-01 00:00:00.12'", "'2024-01-02 10:00:00'"}},
	{"text_bin", "varchar(30) character set utf8mb4 collate utf8mb4_bin", nil},
	{"text_ci", "varchar(30) character set utf8mb4 collate utf8mb4_general_ci", nil},
	{"text_latin", "varchar(30) character set latin1 collate latin1_swedish_ci", nil},
	{"text_three", "varchar(30) character set utf8mb3 collate utf8mb3_unicode_ci", nil},
	{"text_latin_bin", "varchar(30) character set latin1 collate latin1_bin", nil},
	{"text_unicode", "varchar(30) character set utf8mb4 collate utf8mb4_unicode_ci", nil},
	{"fixed", "char(25) character set utf8mb4 collate utf8mb4_bin", nil},
	{"bytes", "varbinary(30)", nil},
	{"bytes5", "binary(5)", nil},
}

// keyTexts are what strings are that somebody compares with a key or gives for it.
var keyTexts = []string{
	"0", "00", " 0", "0 ", "0abc", "abc", "ABC", "Abc ", "", " ", "1e0", "1E2", "5", "05", "5.0", "5.", ".5", "+5", "-5", "-0", "1.5", "4.5", "-4.5",
	"4.99999999999999999999", "5.00000000000000000001", "4.4999999999999999", "127", "128", "99999", "0x5", "5abc", "a", "A", "é", "e", "É", "de", "us", "7", "007",
	"9007199254740993", "9007199254740993.0", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775808",
	"1e400", "1e-400", "2024-01-01", "2024-1-1", "20240101", "2024-01-01 00:00:00", "2024-01-02 10:00:00.00", "2024-01-01 00:00:00.1199999", "2024-01-01 23:59:59.9999999",
	"24-01-01", "2024-01-01T00:00:00", "2024", "99", "2024.0", "10:11:12", "\\0", "5\\0", "5\\t", "\\t5", "true", "null",
	"ß", "ss", "Ā", "ﬁ", "fi", "１２", "中", "😀", "😁", "e\u0301", "a\u00a0", "\u0301",
}

// keyLiterals are literals of all other kinds.
var keyLiterals = []string{
	"0", "-0", "00", "5", "05", "-5", "7", "127", "128", "-128", "-129", "TRUE", "FALSE", "NULL", "0.0", "-0.0", "5.0", "5.", ".5", "1.5", "4.5", "-4.5", "0.4", "4.99", "4.990", "4.995", "5.01",
	"4.99999999999999999999", "5.000000000000000000000000000000000000000000001", "4.999999999999999999999999999999999999999999999999999999999999999999999999",
	"0e0", "-0e0", "5e0", "50e-1", "1.5e0", "4.5e0", "5.5e0", "1e2", "1e19", "1e300", "9007199254740992", "9007199254740993", "9007199254740993.0", "9007199254740993e0",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
	"99999999999999999999999999999999999999999999999999999999999999999999999999999999", "X'35'", "X'05'", "0x5", "0x616263", "X'C3A9'", "X'E9'", "X''", "b'101'", "b'110101'", "0b0",
	"2024", "24", "99", "20240101", "20240102100000", "240101", "20240101.0", "20240101e0", "DATE'2024-01-01'", "TIMESTAMP'2024-01-02 10:00:00'", "TIMESTAMP'2024-01-01 00:00:00.12'", "TIME'10:11:12'",
	"_latin1'abc'", "_utf8mb4'abc'", "_binary'abc'", "_latin1 X'E9'", "_utf8mb4 X'616263'", "N'abc'", "'abc' COLLATE utf8mb4_bin", "'abc' COLLATE utf8mb4_general_ci", "_latin1'abc' COLLATE latin1_swedish_ci",
	"_utf8mb4'É' COLLATE utf8mb4_unicode_ci", "_latin1 X'DF'", "_utf8mb4 X'C39F'", "BINARY 'abc'", "CAST('5' AS SIGNED)", "2+3", "10-5", "2*0", "-(-5)", "+5", "+'5'", "-'5'", "'5'+0", "'5' '0'", "@n", "@s", "@d", "(5)", "IF(1,5,0)", "COALESCE(NULL,'abc')", "CONCAT('a','bc')",
}

// keyParameters are values of parameters, by the types of the binary protocol.
var keyParameters = []any{
	int8(5), int16(-5), int32(0), int64(9007199254740993), uint64(math.MaxUint64), float32(5), float32(1.5), 5.0, 4.5, -0.0, 9007199254740992.0, "5", "abc", "0", "", "4.99999999999999999999",
	[]byte("5"), []byte("abc"), mysqltest.Date(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)), time.Date(2024, 1, 2, 10, 0, 0, 0, time.UTC), 10 * time.Hour, nil,
}

// keyCollations are those of connections: texts that a column has not the characters of are compared by them.
var keyCollations = []string{"utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci"}

// keyConditions are the ways to compare column k with a literal; ? is its place.
var keyConditions = []string{
	"k=?", "?=k", "k<=>?", "k IN (?)", "k IN (?,5)", "k IN ('abc',?)", "k IN (?,'0',1e0)", "k BETWEEN ? AND ?", "k BETWEEN 0 AND ?", "k BETWEEN ? AND '9'", "k NOT BETWEEN ? AND ?",
	"k<?", "k<=?", "k>?", "k>=?", "k<>?", "NOT k=?", "NOT k<>?", "NOT (k<? OR k>?)", "k LIKE ?", "(k,1)=(?,1)", "(1,k) IN ((1,?),(2,7))", "k=? OR k='abc'", "k>=? AND k<=?", "k=? AND k=?",
	"(k=?) IS TRUE", "k=? XOR 0", "NOT k IN (?,'x')", "!(k<>?)", "k+0=?", "+k=?", "k=(SELECT ?)", "CASE WHEN k=? THEN 1 END", "k=ANY(SELECT ?)",
}

// keyRules are rules in the configuration for which a column can be the key.
var keyRules = []string{
	"{type: hash, nodes: [n], locations: [7]}", "{type: mod, nodes: [n], locations: [7]}", "{type: crc32, nodes: [n], locations: [7]}", "{type: murmur3, nodes: [n], locations: [7]}",
	"{type: slots, nodes: [n], locations: [7]}", "{type: range, nodes: [n], locations: [7], table_row_limit: 2}",
	"{type: list, nodes: [n], locations: [3], values: [['0', '5'], ['7', '-5', '2024'], ['127', '128']]}",
	"{type: list, nodes: [n], locations: [3], values: [['0', 'abc'], ['7', us, '5'], ['', A, '1.5']]}",
	"{type: hash, nodes: [n], locations: [7], strings: ascii_ci}", "{type: list, nodes: [n], locations: [2], strings: ascii_ci, values: [['0', 'abc'], ['5', de]]}",
	"{type: slots, nodes: [n], locations: [7], strings: utf8mb4_general_ci_v1}", "{type: hash, nodes: [n], locations: [7], strings: utf8mb4_unicode_ci_v1}",
	"{type: crc32, nodes: [n], locations: [7], strings: latin1_swedish_ci_v1}", "{type: murmur3, nodes: [n], locations: [7], strings: utf8mb4_bin_v1}",
	"{type: list, nodes: [n], locations: [3], strings: utf8mb4_unicode_ci_v1, values: [['0', ABC], ['ß', É], ['12', fi]]}",
	"{type: date_year, nodes: [n], date_range: [1970-2030]}", "{type: date_day, nodes: [n], date_range: [20240101-20240302]}",
}

// keyTables makes a router with a table for each of keyRules.
func keyTables(t *testing.T) *router.Router {
	t.Helper()
	var text strings.Builder
	text.WriteString("addr: 127.0.0.1:9696\nuser_list:\n- {user: app, password: sesame}\nnodes:\n- {name: n, user: ks, master: \"10.0.0.1:3306\"}\nschema_list:\n- user: app\n  nodes: [n]\n  default: n\n  shard:\n")
	for k, r := range keyRules {
		fmt.Fprintf(&text, "  - {db: keys, table: t%d, key: k, %s\n", k, r[1:])
	}
	c, faults := config.Parse([]byte(text.String()), "", config.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	r, err := router.New(c.SchemaList[0], router.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// keyServer is one server with a table for each of keyColumns.
type keyServer struct {
	*mysqltest.RawClient
	mode    sqltext.Mode
	columns map[string][]mysql.ColumnDefinition41
	stored  map[string]map[int]keyvalue.Value // keys of the rows, by column and id
}

func newKeyServer(t *testing.T, kind mysqltest.Kind) *keyServer {
	t.Helper()
	c, err := mysqltest.DialRaw(oracle(t, kind), mysqltest.ClientConfig{User: "root", Password: "root"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s := &keyServer{RawClient: c, columns: map[string][]mysql.ColumnDefinition41{}, stored: map[string]map[int]keyvalue.Value{}}
	s.mode = sqltext.Mode{ServerVersion: 90700}
	if kind == mysqltest.MariaDB {
		s.mode = sqltext.Mode{MariaDB: true, ServerVersion: 101100}
	}
	s.must(t, "CREATE DATABASE IF NOT EXISTS `keys`", "USE `keys`", "SET sql_mode='', time_zone='+00:00', @n=5, @s='abc', @d='2024-01-01'")
	for _, col := range keyColumns {
		s.must(t, "DROP TABLE IF EXISTS "+col.name, "CREATE TABLE "+col.name+" (id INT AUTO_INCREMENT PRIMARY KEY, k "+col.sqlType+", KEY (k))")
		for _, key := range col.keys {
			s.must(t, "INSERT INTO "+col.name+" (k) VALUES ("+key+")")
		}
		for _, text := range keyTexts {
			_, _ = s.Query("INSERT INTO " + col.name + " (k) VALUES ('" + text + "')")
		}
		for _, literal := range keyLiterals {
			_, _ = s.Query("INSERT INTO " + col.name + " (k) VALUES (" + literal + ")")
		}
		s.must(t, "SET character_set_results=NULL")
		s.columns[col.name] = s.must(t, "SELECT k FROM "+col.name+" LIMIT 0").Columns
		s.must(t, "SET character_set_results=utf8mb4")
		s.stored[col.name] = s.read(t, col.name, "")
		if len(s.stored[col.name]) < 5 {
			t.Fatalf("%s has %d keys", col.name, len(s.stored[col.name]))
		}
	}
	return s
}

func (s *keyServer) must(t *testing.T, texts ...string) (r *mysqltest.RawResult) {
	t.Helper()
	for _, text := range texts {
		var err error
		if r, err = s.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return r
}

// read gives the keys that are in a table, as values that a statement would have for them.
func (s *keyServer) read(t *testing.T, column, where string) map[int]keyvalue.Value {
	t.Helper()
	keys := map[int]keyvalue.Value{}
	r := s.must(t, "SELECT id, k FROM "+column+" "+where)
	for _, row := range r.Rows {
		if id, _ := strconv.Atoi(row[0].(string)); row[1] != nil {
			keys[id] = storedKey(&r.Columns[1], row[1].(string))
		}
	}
	return keys
}

func storedKey(d *mysql.ColumnDefinition41, text string) keyvalue.Value {
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeYear:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return keyvalue.NewInt(n)
		}
		n, _ := strconv.ParseUint(text, 10, 64)
		return keyvalue.NewUint(n)
	case mysql.TypeNewDecimal:
		return keyvalue.NewDecimal(text)
	}
	if d.Charset == 63 && (d.Type == mysql.TypeVarString || d.Type == mysql.TypeString) {
		return keyvalue.NewBytes(text)
	}
	return keyvalue.NewString(text)
}

// places gives the shards of the rows of a table under a rule; rows that no proxy would have put anywhere are left out.
func (s *keyServer) places(t *testing.T, r *router.Router, table *router.Table, column string) map[int]int {
	t.Helper()
	catalog := func(*router.Table) (_, _ []mysql.ColumnDefinition41) { return s.columns[column], nil }
	p := keyPlan(t, r, s.mode, catalog, "INSERT INTO "+table.Name+" (k) VALUES (?)")
	at := map[int]int{}
	if p == nil {
		return at
	}
	for id, key := range s.stored[column] {
		if positions, err := p.InsertShards([]keyvalue.Value{key}); err == nil {
			at[id] = positions[0]
		}
	}
	return at
}

// keyPlan plans a statement; nil for what is refused.
func keyPlan(t *testing.T, r *router.Router, m sqltext.Mode, c plan.Catalog, text string) *plan.Plan {
	t.Helper()
	st, err := sqlparse.Parse(text, m, func(name string) bool { return r.Table("keys", name) != nil })
	if err != nil {
		return nil
	}
	p, err := plan.Build(st, m, r, "keys", c)
	if err != nil {
		return nil
	}
	return p
}

// TestKeyConditions compares keys of every type with literals and parameters of every kind in every way, and checks that
// the shards that each rule chooses have all the rows that one server finds: one in KS_DIFF_KEYS_EVERY of the conditions.
func TestKeyConditions(t *testing.T) {
	r := keyTables(t)
	every := environment(t, "KS_DIFF_KEYS_EVERY", 11)
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			s := newKeyServer(t, kind)
			checked, narrow, failed, turn := 0, 0, 0, 0
			for _, col := range keyColumns {
				catalog := func(*router.Table) (_, _ []mysql.ColumnDefinition41) { return s.columns[col.name], nil }
				var at []map[int]int
				for _, table := range r.Tables() {
					at = append(at, s.places(t, r, table, col.name))
				}
				check := func(condition string, args []keyvalue.Value, found map[int]keyvalue.Value, what any) {
					before := failed
					for k, table := range r.Tables() {
						p := keyPlan(t, r, s.mode, catalog, "SELECT id FROM "+table.Name+" WHERE "+condition)
						if p == nil {
							continue
						}
						set := p.Refs[0].Shards(args)
						checked++
						if len(set) < len(table.Shards) {
							narrow++
						}
						for id, key := range found {
							if shard, placed := at[k][id]; placed && !slices.Contains(set, shard) {
								if failed++; failed == before+1 && failed < 300 {
									t.Errorf("%s %s, %s with %v: row %v is on %d, not among %v", col.name, table.Rule.Kind(), condition, what, key, shard, set)
								}
								break
							}
						}
					}
				}
				var literals []string
				for _, text := range keyTexts {
					literals = append(literals, "'"+text+"'")
				}
				for _, literal := range append(literals, keyLiterals...) {
					for _, form := range keyConditions {
						if turn++; turn%every != 0 {
							continue
						}
						s.must(t, "SET collation_connection="+keyCollations[turn/every%len(keyCollations)])
						condition := strings.ReplaceAll(form, "?", literal)
						if found, err := s.Query("SELECT id FROM " + col.name + " WHERE " + condition); err == nil && found.Err == nil {
							check(condition, nil, s.rows(col.name, found), "")
						}
					}
				}
				for _, form := range keyConditions {
					for _, arg := range keyParameters {
						turn++
						if turn%every != 0 {
							continue
						}
						stmt, err := s.Prepare("SELECT id FROM " + col.name + " WHERE " + form)
						if err != nil {
							continue
						}
						args := make([]any, strings.Count(form, "?"))
						values := make([]keyvalue.Value, len(args))
						for k := range args {
							args[k], values[k] = arg, bound(arg)
						}
						if found, err := stmt.Execute(args...); err == nil && found.Err == nil {
							check(form, values, s.rows(col.name, found), fmt.Sprintf("%T %v", arg, arg))
						}
						_ = stmt.Close()
					}
				}
			}
			t.Logf("%d conditions with a rule, %d of them leave shards out, %d wrong", checked, narrow, failed)
			if checked < 1_000_000/every || narrow < checked/20 {
				t.Errorf("%d checked, %d narrow", checked, narrow)
			}
		})
	}
}

func (s *keyServer) rows(column string, r *mysqltest.RawResult) map[int]keyvalue.Value {
	found := map[int]keyvalue.Value{}
	for _, row := range r.Rows {
		id, _ := strconv.Atoi(row[0].(string))
		found[id] = s.stored[column][id]
	}
	return found
}

// bound is what a session makes of a parameter.
func bound(arg any) keyvalue.Value {
	switch v := arg.(type) {
	case nil:
		return keyvalue.Value{}
	case int8:
		return keyvalue.NewInt(int64(v))
	case int16:
		return keyvalue.NewInt(int64(v))
	case int32:
		return keyvalue.NewInt(int64(v))
	case int64:
		return keyvalue.NewInt(v)
	case uint64:
		return keyvalue.NewUint(v)
	case float32:
		return keyvalue.NewFloat(float64(v))
	case float64:
		return keyvalue.NewFloat(v)
	case string:
		return keyvalue.NewString(v)
	case []byte:
		return keyvalue.NewString(string(v))
	case mysqltest.Date:
		return keyvalue.NewTemporal(time.Time(v).Format("2006-01-02"))
	case time.Time:
		return keyvalue.NewTemporal(v.Format("2006-01-02 15:04:05"))
	case time.Duration:
		return keyvalue.NewTemporal("10:00:00")
	}
	panic(fmt.Sprintf("a parameter of type %T", arg))
}

// TestKeyInserts gives keys of every type as literals and parameters of every kind, in strict mode and without, and checks
// that each row is on the shard of what the server stored, or is refused.
func TestKeyInserts(t *testing.T) {
	r := keyTables(t)
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			s := newKeyServer(t, kind)
			placed, refused, failed := 0, 0, 0
			for _, col := range keyColumns {
				catalog := func(*router.Table) (_, _ []mysql.ColumnDefinition41) { return s.columns[col.name], nil }
				check := func(values string, args []keyvalue.Value, key keyvalue.Value, what any) {
					for _, table := range r.Tables() {
						p := keyPlan(t, r, s.mode, catalog, "INSERT INTO "+table.Name+" (k) VALUES ("+values+")")
						if p == nil {
							refused++
							continue
						}
						got, err := p.InsertShards(args)
						if err != nil {
							refused++
							continue
						}
						placed++
						want, err := keyPlan(t, r, s.mode, catalog, "INSERT INTO "+table.Name+" (k) VALUES (?)").InsertShards([]keyvalue.Value{key})
						if err != nil || got[0] != want[0] {
							if failed++; failed < 40 {
								t.Errorf("%s %s, %s %v: on %d, but it is stored as %v, which belongs to %v, %v", col.name, table.Rule.Kind(), values, what, got[0], key, want, err)
							}
						}
					}
				}
				var literals []string
				for _, text := range keyTexts {
					literals = append(literals, "'"+text+"'")
				}
				for _, mode := range []string{"", "STRICT_ALL_TABLES"} {
					s.must(t, "SET sql_mode='"+mode+"'")
					for _, literal := range append(literals, keyLiterals...) {
						s.must(t, "START TRANSACTION")
						if key, ok := s.inserted(t, col.name, func() (*mysqltest.RawResult, error) {
							return s.Query("INSERT INTO " + col.name + " (k) VALUES (" + literal + ")")
						}); ok {
							check(literal, nil, key, mode)
						}
						s.must(t, "ROLLBACK")
					}
					for _, arg := range keyParameters {
						// A statement of its own: MySQL goes on to read a parameter as the type that it first had.
						stmt, err := s.Prepare("INSERT INTO " + col.name + " (k) VALUES (?)")
						if err != nil {
							t.Fatal(err)
						}
						s.must(t, "START TRANSACTION")
						if key, ok := s.inserted(t, col.name, func() (*mysqltest.RawResult, error) { return stmt.Execute(arg) }); ok {
							check("?", []keyvalue.Value{bound(arg)}, key, fmt.Sprintf("%T %v, mode %q", arg, arg, mode))
						}
						s.must(t, "ROLLBACK")
						_ = stmt.Close()
					}
				}
			}
			t.Logf("%d rows placed, %d refused, %d wrong", placed, refused, failed)
			if placed < 10_000 || refused == 0 {
				t.Errorf("%d placed, %d refused", placed, refused)
			}
		})
	}
}

// inserted runs an INSERT and gives the key that the server stored; ok is false where it stored none.
func (s *keyServer) inserted(t *testing.T, column string, insert func() (*mysqltest.RawResult, error)) (key keyvalue.Value, ok bool) {
	t.Helper()
	r, err := insert()
	if err != nil {
		t.Fatal(err)
	}
	if r.Err != nil {
		return key, false
	}
	for _, key := range s.read(t, column, "WHERE id=LAST_INSERT_ID()") {
		return key, true
	}
	return key, false
}

// TestKeyRefusals checks that the kinds of errors of keys stay apart.
func TestKeyRefusals(t *testing.T) {
	table := keyTables(t).Table("keys", "t7") // a list of texts
	for _, column := range []rule.Column{{Class: rule.CharCI}, {Class: rule.CharBinary}, {}} {
		if _, err := table.Seek([]keyvalue.Value{keyvalue.NewInt(0)}, []rule.Column{column}); !errors.Is(err, rule.ErrConvert) {
			t.Errorf("%v: %v", column.Class, err)
		}
	}
}
