package tpcc

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Condition is something that holds of the tables whenever no transaction runs.
type Condition struct {
	Name string // the clause of the specification, or a word for those that it does not have
	What string
	// violated is a SELECT of the rows that it does not hold of.
	violated string
	// Or else these two SELECT groups and a sum for each, which must be the same. Rows of the one may be on other nodes than those of the
	// other: a proxy would have to collect them all to join them.
	sums [2]string
}

// Conditions are the first four of clause 3.3.2, each of which looks at one warehouse at a time, and two that look over them: what
// customers paid and what stock was asked for by transactions of other warehouses.
var Conditions = []Condition{
	{
		Name: "3.3.2.1", What: "a warehouse has been paid what its districts have been paid",
		violated: `SELECT w_id, w_ytd, (SELECT SUM(d_ytd) FROM district WHERE d_w_id = w_id) AS districts FROM warehouse
 WHERE NOT (w_ytd <=> (SELECT SUM(d_ytd) FROM district WHERE d_w_id = w_id)) ORDER BY w_id`,
	},
	{
		Name: "3.3.2.2", What: "a district's next order follows its newest, which is the newest of those that are not delivered, if there are any",
		violated: `SELECT d_w_id, d_id, d_next_o_id, (SELECT MAX(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) AS newest,
 (SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id) AS undelivered FROM district
 WHERE NOT (d_next_o_id - 1 <=> (SELECT MAX(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id))
 OR d_next_o_id - 1 <> (SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id) ORDER BY d_w_id, d_id`,
	},
	{
		Name: "3.3.2.3", What: "the orders of a district that are not delivered have numbers without a gap",
		violated: `SELECT no_w_id, no_d_id, MIN(no_o_id) AS oldest, MAX(no_o_id) AS newest, COUNT(*) AS orders FROM new_order
 GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*) ORDER BY no_w_id, no_d_id`,
	},
	{
		Name: "3.3.2.4", What: "the orders of a district have as many lines as they say",
		violated: `SELECT d_w_id, d_id, (SELECT SUM(o_ol_cnt) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) AS said,
 (SELECT COUNT(*) FROM order_line WHERE ol_w_id = d_w_id AND ol_d_id = d_id) AS found FROM district
 WHERE NOT ((SELECT SUM(o_ol_cnt) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id)
 <=> (SELECT COUNT(*) FROM order_line WHERE ol_w_id = d_w_id AND ol_d_id = d_id)) ORDER BY d_w_id, d_id`,
	},
	{
		Name: "payments", What: "the customers of a district have paid what the history of all warehouses says",
		sums: [2]string{
			`SELECT c_w_id, c_d_id, SUM(c_ytd_payment) FROM customer GROUP BY c_w_id, c_d_id`,
			`SELECT h_c_w_id, h_c_d_id, SUM(h_amount) FROM history GROUP BY h_c_w_id, h_c_d_id`,
		},
	},
	{
		Name: "stock", What: "the stock of a warehouse was asked for what the orders of all warehouses say that was not there at first",
		sums: [2]string{
			`SELECT s_w_id, SUM(s_ytd) FROM stock GROUP BY s_w_id HAVING SUM(s_ytd) > 0`,
			`SELECT ol_supply_w_id, SUM(ol_quantity) FROM order_line WHERE ol_o_id > {customers} GROUP BY ol_supply_w_id`,
		},
	},
}

// Finding is what became of a condition.
type Finding struct {
	Name, What string
	Violations []string // of what it does not hold, with the figures
}

// Holds reports whether the condition holds.
func (f Finding) Holds() bool { return len(f.Violations) == 0 }

// Check looks at all conditions, and whether the tables have the rows that clients were told of: those of size, and what all who ran on them
// since saw. No transaction may be running.
func Check(ctx context.Context, db *sql.DB, size Size, seen *Result) ([]Finding, error) {
	findings, err := checkRows(ctx, db, size, seen)
	if err != nil {
		return nil, err
	}
	for _, c := range Conditions {
		f := Finding{Name: c.Name, What: c.What}
		if f.Violations, err = c.violations(ctx, db, size); err != nil {
			return nil, fmt.Errorf("condition %s: %w", c.Name, err)
		}
		findings = append(findings, f)
	}
	return findings, nil
}

// checkRows compares numbers of rows.
func checkRows(ctx context.Context, db *sql.DB, size Size, seen *Result) ([]Finding, error) {
	districts := size.Warehouses * size.Districts
	first := Finding{Name: "rows", What: "the tables have the rows that no transaction makes or deletes"}
	kept := Finding{Name: "kept", What: "orders and payments that were committed are there, and no others but those of which it is unknown"}
	for _, t := range []struct {
		to             *Finding
		table          string
		atLeast, mayBe uint64
	}{
		{&first, "warehouse", uint64(size.Warehouses), 0},
		{&first, "district", uint64(districts), 0},
		{&first, "customer", uint64(districts * size.Customers), 0},
		{&first, "item", uint64(size.Items), 0},
		{&first, "stock", uint64(size.Warehouses * size.Items), 0},
		{&kept, "orders", uint64(size.orders()) + seen.All[NewOrder].Committed, seen.All[NewOrder].Unknown},
		{&kept, "history", uint64(size.orders()) + seen.All[Payment].Committed, seen.All[Payment].Unknown},
	} {
		var n uint64
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+t.table).Scan(&n); err != nil {
			return nil, fmt.Errorf("count %s: %w", t.table, err)
		}
		if n < t.atLeast || n > t.atLeast+t.mayBe {
			t.to.Violations = append(t.to.Violations, fmt.Sprintf("%s has %d rows, not %d to %d", t.table, n, t.atLeast, t.atLeast+t.mayBe))
		}
	}
	return []Finding{first, kept}, nil
}

// violations returns what the condition does not hold of.
func (c Condition) violations(ctx context.Context, db *sql.DB, size Size) ([]string, error) {
	var found []string
	if c.violated != "" {
		columns, rows, err := list(ctx, db, c.violated)
		for _, row := range rows {
			for i := range row {
				row[i] = columns[i] + " " + row[i]
			}
			found = append(found, strings.Join(row, ", "))
		}
		return found, err
	}
	var sums [2]map[string]string
	groups := make(map[string]bool)
	for i, text := range c.sums {
		_, rows, err := list(ctx, db, strings.ReplaceAll(text, "{customers}", strconv.Itoa(size.Customers)))
		if err != nil {
			return nil, err
		}
		sums[i] = make(map[string]string)
		for _, row := range rows {
			last := len(row) - 1
			group := strings.Join(row[:last], ", ")
			groups[group], sums[i][group] = true, row[last]
		}
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		if a, b := sums[0][group], sums[1][group]; a != b {
			found = append(found, fmt.Sprintf("%s: %q and %q", group, a, b))
		}
	}
	return found, nil
}

// list returns the columns and the rows of a SELECT as texts.
func list(ctx context.Context, db *sql.DB, text string) (columns []string, found [][]string, err error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		values, to := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, nil, err
		}
		row := make([]string, len(columns))
		for i, v := range values {
			row[i] = "NULL"
			if v.Valid {
				row[i] = v.String
			}
		}
		found = append(found, row)
	}
	return columns, found, rows.Err()
}
