package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/config"
	"kingshard/proxy"
)

// ruleForms are rules of tables; %s is the table's name.
var ruleForms = []string{
	"{db: d, table: %s, type: reference}",
	"{db: d, table: %s, type: reference, nodes: [a, c]}",
	"{db: d, table: %s, type: single, nodes: [b]}",
	"{db: d, table: %s, key: id, type: mod, nodes: [a], locations: [2]}",
	"{db: d, table: %s, key: id, type: hash, nodes: [a, b], locations: [2, 1]}",
	"{db: d, table: %s, key: id, type: mod, nodes: [a, b], sub_table: '{table}'}",
	"{db: d, table: %s, key: id, type: mod, nodes: [a, b], sub_table: '{table}', sub_db: '{db}{index}'}",
	"{db: d, table: %s, key: id, type: mod, nodes: [c], locations: [3], sub_table: same_{index}}",
	"{db: d, table: %s, key: id, type: mod, nodes: [a], locations: [2], sub_table: same}",
	"{db: d, table: %s, key: id, type: mod, nodes: [a], locations: [2], sub_table: '{table'}",
	"{db: d, table: %s, key: id, type: crc32, tables: [{node: a, table: t1_0000}, {node: b, db: e, table: T1}]}",
	"{db: d, table: %s, key: id, type: crc32, tables: [{node: a, table: x}, {node: a, db: d, table: x}]}",
	"{db: d, table: %s, key: id, type: list, nodes: [a, b], values: [[1, 2], [3]]}",
	"{db: d, table: %s, key: id, type: list, nodes: [a, b], values: [[1, 2], ['01']]}",
	"{db: d, table: %s, key: id, type: list, nodes: [a, b], values: [[a, b], [A]], strings: ascii_ci}",
	"{db: d, table: %s, key: id, type: slots, nodes: [a, b], slots: ['0-9', '10-4095']}",
	"{db: d, table: %s, key: id, type: slots, nodes: [a, b], slots: ['0-9', '9-4095']}",
	"{db: d, table: %s, key: id, type: range, nodes: [a], locations: [4], table_row_limit: 10}",
	"{db: d, table: %s, key: id, type: range, nodes: [a, b], locations: [1000, 1000], table_row_limit: 2147483647}",
	"{db: d, table: %s, key: at, type: date_day, nodes: [a, b], date_range: [20240101-20240103, '20240104']}",
	"{db: d, table: %s, key: at, type: date_month, nodes: [a, b], date_range: [202401-202403, 202403-202405]}",
	"{db: d, table: %s, key: at, type: date_year, nodes: [a], date_range: ['2024'], sub_table: year, time_zone: Mars}",
	"{db: d, table: %s, key: id, colocate_with: t1}",
	"{db: d, table: %s, key: id, colocate_with: t2, sub_table: '{table}'}",
}

// ruleTables are names of tables: some are alike but for case, some the sub-table of another, some too long for servers, by themselves or
// with an index.
var ruleTables = []string{"t1", "t2", "T1", "t1_0000", "same", "same_1", "x", strings.Repeat("n", 60), strings.Repeat("n", 61), "'sp '"}

// masters are addresses of the three nodes: some are the same.
var masters = [][3]string{
	{"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}, {"127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:3"}, {"127.0.0.1:1", "localhost:1", "[::ffff:127.0.0.1]:0001"},
	{"/nowhere/a", "/nowhere//a", "/nowhere/c"},
}

// aConfiguration makes one from random numbers: in many something is wrong.
func aConfiguration(r *rand.Rand) string {
	var b strings.Builder
	m := masters[r.IntN(len(masters))]
	fmt.Fprintf(&b, "addr: 127.0.0.1:0\nfast_lane: false\nuser_list: [{user: u, password: p}, {user: v, password: p}]\nnodes:\n")
	for k, name := range []string{"a", "b", "c"} {
		more := ""
		if r.IntN(30) == 0 {
			more = []string{", slave: '127.0.0.1:9@0'", ", tls: {mode: verify_ca}", ", tls: {mode: required, ca: check_start_test.go}", ", slave: '127.0.0.1:1@2'", ", server_public_key: check_start_test.go"}[r.IntN(5)]
		}
		fmt.Fprintf(&b, "- {name: %s, user: u, password: p, master: %q%s}\n", name, m[k], more)
	}
	fmt.Fprintf(&b, "schema_list:\n- {user: v, nodes: [b, a], default: b}\n- user: u\n  nodes: [a, b, c]\n  default: a\n  shard:\n")
	for range r.IntN(4) {
		fmt.Fprintf(&b, "  - "+ruleForms[r.IntN(len(ruleForms))]+"\n", ruleTables[r.IntN(len(ruleTables))])
	}
	if r.IntN(20) == 0 {
		b.WriteString([]string{
			"query_rules: [{name: r, pattern: '(', block: no}]\n", "query_rules: [{name: r, digest: 'SELECT (', block: no}]\n", "query_rules: [{name: r, pattern: '(a)', rewrite: '\\2'}]\n",
			"blacklist_sql_file: check_start_test.go\n", "blacklist_sql_file: /nowhere\n", "query_rules: [{name: r, node: d}]\n", "tracing: {endpoint: ':'}\n",
		}[r.IntN(7)])
	}
	return b.String()
}

// What check says of a configuration, a start does.
func TestCheckIsStart(t *testing.T) {
	dir := t.TempDir()
	stdout, stderr := os.Stdout, os.Stderr
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	verdicts := map[string]int{}
	for k := range 600 {
		text := aConfiguration(rand.New(rand.NewPCG(1, uint64(k))))
		file := filepath.Join(dir, "ks.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Stdout, os.Stderr = null, null
		checked := run([]string{"check", file}) == 0
		os.Stdout, os.Stderr = stdout, stderr
		var started error
		cfg, faults := config.Load(file, config.Options{})
		switch {
		case cfg == nil:
			started = fmt.Errorf("%v", faults)
			verdicts["faults"]++
		default:
			var server *proxy.Server
			if server, started = start(cfg, slog.New(slog.DiscardHandler), nil); started != nil {
				verdicts["no start"]++
				break
			}
			verdicts["start"]++
			if err := server.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		}
		if checked != (started == nil) {
			t.Errorf("check says %v, the start %v:\n%s", checked, started, text)
		}
	}
	t.Log(verdicts)
	for _, verdict := range []string{"faults", "no start", "start"} {
		if verdicts[verdict] < 50 {
			t.Errorf("%d: %s", verdicts[verdict], verdict)
		}
	}
}
