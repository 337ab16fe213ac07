package differential

import (
	"fmt"
	"testing"
)

// TestConstantsInTheGap compares TIMESTAMPs that have an index with local times that the clocks leave out, of which MySQL warns once for each
// table.
func TestConstantsInTheGap(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			server, pair := oracle(t, kind), twoNodes(t, kind)
			for _, addr := range append(pair[:], server) {
				if err := makeZone(addr); err != nil {
					t.Fatal(err)
				}
			}
			e := exam{setup: []string{
				"CREATE TABLE h (id INT NOT NULL PRIMARY KEY, a INT, ts TIMESTAMP NULL, KEY (ts))",
				"INSERT INTO h (id, a, ts) VALUES (1, 1, '2024-03-31 00:30:00'), (2, 1, '2024-03-31 01:30:00'), (3, 2, '2024-03-31 00:50:00'), (4, 2, '2024-10-27 01:10:00')",
			}}
			for _, condition := range []string{
				"ts IN ('2024-03-31 02:30:00')", "ts = '2024-03-31 02:30:00'", "ts IN ('2024-03-31 02:30:00', '2024-03-31 02:31:00')", "ts < '2024-03-31 02:30:00'", "ts > 20240331023000",
				"ts BETWEEN '2024-03-31 02:30:00' AND '2024-03-31 02:35:00'", "ts NOT BETWEEN '2024-03-31 02:30:00' AND '2024-10-26 23:59:59'", "ts NOT IN ('2024-03-31 02:30:00')", "ts <=> '2024-03-31 02:30:00'",
				"a > 0 AND ts >= '2024-03-31 02:30:00'", "ts = '2024-03-31 02:30:00' OR id = 1", "'2024-03-31 02:30:00' < ts",
			} {
				for _, form := range []string{"SELECT id FROM h WHERE %s", "SELECT id, a FROM h WHERE %s ORDER BY id", "SELECT COUNT(*) FROM h WHERE %s"} {
					e.asked = append(e.asked, fmt.Sprintf(form, condition), "SHOW WARNINGS")
				}
			}
			for _, mode := range []string{"NO_ENGINE_SUBSTITUTION", "STRICT_TRANS_TABLES,NO_ZERO_DATE"} {
				e.settings = "SET time_zone = '" + zone + "', sql_mode = '" + mode + "'"
				e.examined(t, kind)
			}
		})
	}
}
