package backend

import (
	"slices"
	"testing"
)

// What SHOW GRANTS of MySQL and MariaDB says is taken apart: what is too much, and what is missing where.
func TestGrants(t *testing.T) {
	for _, c := range []struct {
		lines           []string
		excess, missing []string // missing of SELECT and CREATE on shop_1
	}{
		{lines: nil, missing: []string{"SELECT", "CREATE"}},
		{lines: []string{"GRANT USAGE ON *.* TO `ks`@`%`", "GRANT SELECT, INSERT ON `shop_1`.* TO `ks`@`%`"}, missing: []string{"CREATE"}},
		{lines: []string{"GRANT USAGE ON *.* TO `ks`@`%` IDENTIFIED BY PASSWORD '*AA'", "GRANT ALL PRIVILEGES ON `shop\\_%`.* TO `ks`@`%` WITH GRANT OPTION"}, excess: []string{"GRANT OPTION"}},
		{lines: []string{"GRANT ALL PRIVILEGES ON `shopX1`.* TO `ks`@`%`"}, missing: []string{"SELECT", "CREATE"}},
		{lines: []string{"GRANT ALL PRIVILEGES ON `shop_1`.* TO `ks`@`%`"}},
		{lines: []string{"GRANT SELECT, CREATE ON `shop_1`.`orders` TO `ks`@`%`"}, missing: []string{"SELECT", "CREATE"}},
		{lines: []string{"GRANT ALL PRIVILEGES ON *.* TO `root`@`%` IDENTIFIED BY PASSWORD '*AA' WITH GRANT OPTION"}, excess: []string{"ALL PRIVILEGES", "GRANT OPTION"}},
		{lines: []string{"GRANT SELECT, CREATE, FILE, SUPER ON *.* TO `ks`@`%`"}, excess: []string{"SUPER", "FILE"}},
		{lines: []string{"GRANT PROXY ON ``@`` TO `root`@`localhost` WITH GRANT OPTION"}, missing: []string{"SELECT", "CREATE"}},
		{lines: []string{"GRANT USAGE ON *.* TO `ks`@`%`", "GRANT `shopper`@`%` TO `ks`@`%`"}},
	} {
		var g Grants
		for _, line := range c.lines {
			g.add(line)
		}
		if got := g.Excess(); !slices.Equal(got, c.excess) {
			t.Errorf("%q: too much: %q, want %q", c.lines, got, c.excess)
		}
		if got := g.Lacks("shop_1", "SELECT", "CREATE"); !slices.Equal(got, c.missing) {
			t.Errorf("%q: missing: %q, want %q", c.lines, got, c.missing)
		}
	}
}

// What an account has on one database is found whatever pattern gives it; GRANT OPTION on the proxies' own schema is no excess.
func TestGrantsOnDatabase(t *testing.T) {
	for _, c := range []struct {
		lines          []string
		excess, onMeta []string // of SELECT, DROP and GRANT OPTION
	}{
		{lines: []string{"GRANT SELECT, CREATE ON `ks_meta`.* TO `own`@`%` WITH GRANT OPTION"}, onMeta: []string{"SELECT", "GRANT OPTION"}},
		{lines: []string{"GRANT SELECT ON `ks\\_meta`.* TO `own`@`%` WITH GRANT OPTION"}, onMeta: []string{"SELECT", "GRANT OPTION"}},
		{lines: []string{"GRANT SELECT ON `%`.* TO `own`@`%` WITH GRANT OPTION"}, excess: []string{"GRANT OPTION"}, onMeta: []string{"SELECT", "GRANT OPTION"}},
		{lines: []string{"GRANT ALL PRIVILEGES ON `ks%`.* TO `own`@`%`"}, onMeta: []string{"SELECT", "DROP"}},
		{lines: []string{"GRANT DROP ON *.* TO `own`@`%`", "GRANT SELECT ON `shop`.* TO `own`@`%`"}, onMeta: []string{"DROP"}},
		{lines: []string{"GRANT USAGE ON *.* TO `own`@`%`", "GRANT `role`@`%` TO `own`@`%`", "GRANT SELECT ON `ks_meta`.`sequence` TO `own`@`%`"}},
	} {
		var g Grants
		for _, line := range c.lines {
			g.add(line)
		}
		if got := g.Excess(); !slices.Equal(got, c.excess) {
			t.Errorf("%q: too much: %q, want %q", c.lines, got, c.excess)
		}
		if got := g.HoldsOn("ks_meta", "SELECT", "DROP", "GRANT OPTION"); !slices.Equal(got, c.onMeta) {
			t.Errorf("%q: on ks_meta: %q, want %q", c.lines, got, c.onMeta)
		}
	}
}
