package collation

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestNames compares the ids of collations with those of the servers. With -update it adds those that are new.
func TestNames(t *testing.T) {
	known := maps.Clone(byID())
	for _, kind := range mysqltest.Kinds() {
		a := ask(t, kind)
		from := "SELECT id, collation_name FROM information_schema.collations"
		if kind == mysqltest.MariaDB {
			from = "SELECT id, full_collation_name FROM information_schema.collation_character_set_applicability"
		}
		rows, err := a.db.Query(from)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for rows.Next() {
			var id uint16
			var name string
			if err := rows.Scan(&id, &name); err != nil {
				t.Fatal(err)
			}
			count++
			name = strings.Replace(name, "utf8_", "utf8mb3_", 1)
			switch {
			case known[id] == "" && *update:
				known[id] = name
			case strings.Replace(known[id], "_mysql561", "", 1) != name && known[id] != name: // MariaDB has a croatian_ci of its own
				t.Errorf("%s: %d is %s, not %q", kind, id, name, known[id])
			}
		}
		if err := rows.Err(); err != nil || count < 200 {
			t.Errorf("%s: %d collations, %v", kind, count, err)
		}
	}
	if *update {
		var text strings.Builder
		for _, id := range slices.Sorted(maps.Keys(known)) {
			fmt.Fprintf(&text, "%d %s\n", id, known[id])
		}
		if err := os.WriteFile("tables/names.txt", []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
