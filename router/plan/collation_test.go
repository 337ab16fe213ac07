package plan

import (
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/router"
)

// A collation that a rule does not follow is refused where a definition names it for the key, in every form, and nowhere
// else.
func TestKeyCollations(t *testing.T) {
	c, faults := config.Parse([]byte(`addr: 127.0.0.1:9696
user_list: [{user: app, password: sesame}]
nodes: [{name: n1, user: ks, master: "10.0.0.1:3306"}]
schema_list:
- user: app
  nodes: [n1]
  default: n1
  shard:
  - {db: kingshard, table: plain, key: k, nodes: [n1], type: hash, locations: [3]}
  - {db: kingshard, table: folds, key: k, nodes: [n1], type: list, values: [[a], [b]], locations: [2], strings: ascii_ci}
  - {db: kingshard, table: alone, key: k, nodes: [n1], type: hash}
  - {db: kingshard, table: pairs, key: [n, k], nodes: [n1], type: crc32, locations: [2]}
  - {db: kingshard, table: dates, key: k, nodes: [n1], type: date_year, date_range: [2023-2024]}
  - {db: kingshard, table: counts, key: n, nodes: [n1], type: mod, locations: [2]}
`), "", config.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	r, err := router.New(c.SchemaList[0], router.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	catalog := func(*router.Table) (_, _ []mysql.ColumnDefinition41) {
		return columns("n", bigint, "k", varbin, "o", varchar), nil
	}
	// # stands for the table.
	for _, s := range []struct {
		text    string
		refused string // the tables for which it is
	}{
		{"CREATE TABLE # (n INT, k VARCHAR(20) COLLATE utf8mb4_general_ci)", "plain pairs"},
		{"CREATE TABLE # (n INT, k VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci)", "plain pairs"},
		{"CREATE TABLE # (n INT, `K` CHAR(20)) COLLATE=utf8mb4_unicode_ci", "plain pairs"},
		{"CREATE TABLE # (n INT, k TEXT) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_lithuanian_ci", "plain folds pairs"},
		{"CREATE TABLE # (n INT, k VARCHAR(20) COLLATE utf8mb4_bin) COLLATE=utf8mb4_unicode_ci", ""},
		{"CREATE TABLE # (n INT, k VARCHAR(20), o VARCHAR(20) COLLATE utf8mb4_general_ci)", ""},
		{"CREATE TABLE # (n INT, k VARBINARY(20)) COLLATE=utf8mb4_unicode_ci", ""},
		{"CREATE TABLE # (n INT, k INT) COLLATE=utf8mb4_unicode_ci", ""},
		{"ALTER TABLE # MODIFY k VARCHAR(40) COLLATE utf8mb4_general_ci", "plain pairs"},
		{"ALTER TABLE # CHANGE k k VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_lithuanian_ci", "plain folds pairs"},
		{"ALTER TABLE # MODIFY k VARCHAR(40) COLLATE utf8mb4_bin", ""},
		{"ALTER TABLE # MODIFY o VARCHAR(40) COLLATE utf8mb4_general_ci", ""},
		{"ALTER TABLE # MODIFY k VARCHAR(40), COLLATE utf8mb4_unicode_ci", "plain pairs"},
		{"CREATE TABLE # (n INT, k VARCHAR(20) BINARY) COLLATE=utf8mb4_unicode_ci", ""},
		{"CREATE TABLE # (n INT, k VARCHAR(20) BINARY) COLLATE swe7_bin", "plain folds pairs"},
		{"ALTER TABLE # MODIFY k VARCHAR(20) BINARY, COLLATE utf8mb4_unicode_ci", ""},
		{"ALTER TABLE # CONVERT TO CHARACTER SET utf8mb4", "plain folds pairs"},
		{"ALTER TABLE # CONVERT TO CHARACTER SET latin1 COLLATE latin1_bin", "plain folds pairs"},
		{"ALTER TABLE # DEFAULT CHARACTER SET latin1", ""},
	} {
		for _, table := range r.Tables() {
			_, err := build(strings.Replace(s.text, "#", table.Name, 1), r, catalog)
			if err != nil && !IsRefusal(err) {
				t.Errorf("%s, %s: %v", s.text, table.Name, err)
			}
			if refused := strings.Contains(s.refused, table.Name); refused != (err != nil) {
				t.Errorf("%s, %s: %v, refused should be %v", s.text, table.Name, err, refused)
			}
		}
	}
}
