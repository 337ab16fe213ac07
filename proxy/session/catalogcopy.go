package session

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// informationTables are those of information_schema that speak of tables, with the columns that name them: the database's and the
// table's, in pairs. The first pair says what the row is about.
var informationTables = map[string][]string{
	"tables":                       {"TABLE_SCHEMA", "TABLE_NAME"},
	"tables_extensions":            {"TABLE_SCHEMA", "TABLE_NAME"},
	"columns":                      {"TABLE_SCHEMA", "TABLE_NAME"},
	"columns_extensions":           {"TABLE_SCHEMA", "TABLE_NAME"},
	"statistics":                   {"TABLE_SCHEMA", "TABLE_NAME"},
	"key_column_usage":             {"TABLE_SCHEMA", "TABLE_NAME", "REFERENCED_TABLE_SCHEMA", "REFERENCED_TABLE_NAME"},
	"table_constraints":            {"TABLE_SCHEMA", "TABLE_NAME"},
	"table_constraints_extensions": {"CONSTRAINT_SCHEMA", "TABLE_NAME"},
	"referential_constraints":      {"CONSTRAINT_SCHEMA", "TABLE_NAME", "UNIQUE_CONSTRAINT_SCHEMA", "REFERENCED_TABLE_NAME"},
	"partitions":                   {"TABLE_SCHEMA", "TABLE_NAME"},
	"check_constraints":            {"CONSTRAINT_SCHEMA", "TABLE_NAME"},
	"triggers":                     {"EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"},
	"column_statistics":            {"SCHEMA_NAME", "TABLE_NAME"},
	"st_geometry_columns":          {"TABLE_SCHEMA", "TABLE_NAME"},
	"geometry_columns":             {"F_TABLE_SCHEMA", "F_TABLE_NAME"},
}

// constraintColumns are the columns of some of them that have names of constraints, or of indexes that may have the name of one: a column
// for each pair.
var constraintColumns = map[string][]string{
	"statistics": {"INDEX_NAME"}, "key_column_usage": {"CONSTRAINT_NAME"}, "table_constraints": {"CONSTRAINT_NAME"}, "table_constraints_extensions": {"CONSTRAINT_NAME"},
	"referential_constraints": {"CONSTRAINT_NAME", "UNIQUE_CONSTRAINT_NAME"}, "check_constraints": {"CONSTRAINT_NAME"},
}

// alikeTables are those of information_schema that have the same rows on all servers of a version.
var alikeTables = map[string]bool{
	"character_sets": true, "collations": true, "collation_character_set_applicability": true, "engines": true, "keywords": true, "sql_functions": true,
	"schemata": true, "dual": true, "st_spatial_reference_systems": true, "st_units_of_measure": true,
}

// mysqlChecks is CHECK_CONSTRAINTS of MySQL, which lacks the name of the table, with it; mysqlCheckColumns are its own columns.
const (
	mysqlChecks = "(SELECT c.*, t.TABLE_NAME FROM information_schema.CHECK_CONSTRAINTS AS c LEFT JOIN information_schema.TABLE_CONSTRAINTS AS t " +
		"ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME AND t.CONSTRAINT_TYPE = 'CHECK') AS checks"
	mysqlCheckColumns = "CONSTRAINT_CATALOG, CONSTRAINT_SCHEMA, CONSTRAINT_NAME, CHECK_CLAUSE"
)

// summed are the columns of TABLES that add up over the shards.
var summed = []string{"TABLE_ROWS", "DATA_LENGTH", "INDEX_LENGTH", "DATA_FREE"}

// listed is how servers list the rows of some tables where nothing else is asked for.
var listed = map[string]string{
	"tables":     " ORDER BY TABLE_SCHEMA, TABLE_NAME",
	"columns":    " ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION",
	"statistics": " ORDER BY TABLE_SCHEMA, TABLE_NAME",
}

// dbTable is a table by the names that its server knows.
type dbTable struct{ db, table string }

// fill makes a copy of a table of information_schema, about one database or with db "" about all: of each table that has a rule, the rows of one shard, under
// the logical name.
func (i *copying) fill(name, db string) (table string, err error) {
	if table, err = i.scratch(); err != nil {
		return "", err
	}
	c := filling{copying: i, source: "information_schema." + strings.ToUpper(name), columns: informationTables[name], constraints: constraintColumns[name], sized: name == "tables" && i.sized(),
		shards: map[router.Shard]*router.Table{}, here: map[dbTable]bool{}, next: map[*router.Table]uint64{}}
	shown, order := "*", listed[name]
	if name == "check_constraints" && !i.c.mode.MariaDB {
		c.source, shown = mysqlChecks, mysqlCheckColumns
	}
	var dbs []string
	for _, t := range i.s.client.schema.Plans.router().Tables() {
		if db != "" && t.DB != db {
			continue
		}
		if t.Keeps == nil { // else no client is to see it
			c.tables = append(c.tables, t)
		}
		for _, shard := range t.Shards {
			c.shards[shard] = t
			if lit := state.Quote(shard.DB); !slices.Contains(dbs, lit) {
				dbs = append(dbs, lit)
			}
		}
	}
	where := ""
	if db != "" {
		where = " WHERE " + c.columns[0] + " IN (" + strings.Join(append(dbs, i.s.client.textIn("character_set_client", db)), ", ") + ")"
	}
	if err := i.s.client.observed.Run(i.f.last.Pooled, i.s.client.state.DB(), "CREATE TEMPORARY TABLE "+table+" AS SELECT * FROM "+c.source+where); err != nil {
		return "", err
	}
	i.f.made = append(i.f.made, table)
	c.table = table
	if err := c.place(); err != nil {
		return "", err
	}
	if shown != "*" || order != "" && c.moved {
		// A copy with the servers' columns in the servers' order: a table that is altered so may ignore the order.
		sorted, err := i.scratch()
		if err != nil {
			return "", err
		}
		if err := i.s.client.observed.Run(i.f.last.Pooled, i.s.client.state.DB(), "CREATE TEMPORARY TABLE "+sorted+" AS SELECT "+shown+" FROM "+table+order); err != nil {
			return "", err
		}
		i.f.made = append(i.f.made, sorted)
		return sorted, nil
	}
	return table, nil
}

// filling is one fill under way.
type filling struct {
	*copying
	table, source string
	columns       []string
	constraints   []string
	sized, moved  bool
	tables        []*router.Table
	shards        map[router.Shard]*router.Table
	here          map[dbTable]bool         // tables that the copy has rows of
	next          map[*router.Table]uint64 // AUTO_INCREMENT: the largest of the shards
}

// place brings what the copy says of tables that have a rule into order.
func (c *filling) place() error {
	if err := c.look(); err != nil {
		return err
	}
	home := c.s.client.schema.Default.Name
	keep := map[*router.Table]router.Shard{}
	var gone []dbTable
	for _, t := range c.tables {
		logical := dbTable{t.DB, t.Name}
		own := false
		for _, shard := range t.Shards {
			at := dbTable{shard.DB, shard.Table}
			if shard.Node != home || !c.here[at] {
				continue
			}
			if own = own || at == logical; keep[t] == (router.Shard{}) {
				keep[t] = shard
			}
		}
		if c.here[logical] && !own {
			gone = append(gone, logical) // it is not the table that the client means
		}
	}
	if err := c.remove(gone); err != nil {
		return err
	}
	totals := map[*router.Table][]string{}
	for k := range c.f.loans {
		if err := c.nodeRows(&c.f.loans[k], keep, totals); err != nil {
			return err
		}
	}
	gone = gone[:0]
	for shard, t := range c.shards {
		if at := (dbTable{shard.DB, shard.Table}); c.here[at] && at != (dbTable{keep[t].DB, keep[t].Table}) && (shard.Node == home || shard == keep[t]) {
			gone = append(gone, at)
		}
	}
	if err := c.remove(gone); err != nil {
		return err
	}
	for _, t := range c.tables {
		shard, ok := keep[t]
		if !ok {
			continue
		}
		if err := c.name(shard, t); err != nil {
			return err
		}
		if next := c.next[t]; next > 0 {
			if drawn := c.s.routing.nextID(t); drawn > 0 {
				next = drawn
			}
			totals[t] = append(totals[t], "AUTO_INCREMENT = "+strconv.FormatUint(next, 10))
		}
		if len(totals[t]) > 0 {
			if err := c.exec("UPDATE " + c.table + " SET " + strings.Join(totals[t], ", ") + " WHERE " + c.in(c.columns[:2], []dbTable{{t.DB, t.Name}})); err != nil {
				return err
			}
		}
	}
	return c.mention()
}

// look finds which tables the copy has rows of.
func (c *filling) look() error {
	return c.f.last.Conn.Rows("SELECT DISTINCT "+c.columns[0]+", "+c.columns[1]+" FROM "+c.table+noLimit, 2, func(row []string) {
		c.here[dbTable{row[0], row[1]}] = true
	})
}

// nodeRows brings the rows of tables that have none in the copy yet from a node, and adds up the sizes there.
func (c *filling) nodeRows(l *txn.Lease, keep map[*router.Table]router.Shard, totals map[*router.Table][]string) error {
	if l.Node == scratchLoan {
		return nil
	}
	var wanted, sized []dbTable
	owner := map[dbTable]router.Shard{}
	for _, t := range c.tables {
		_, placed := keep[t]
		for _, shard := range t.Shards {
			if shard.Node != l.Node {
				continue
			}
			at := dbTable{shard.DB, shard.Table}
			owner[at] = shard
			if !placed && l.Node != c.s.client.schema.Default.Name {
				wanted = append(wanted, at)
			}
			if c.sized && len(t.Shards) > 1 && t.Kind == router.Sharded {
				sized = append(sized, at)
			}
		}
	}
	if len(sized) > 0 {
		if err := c.size(l, sized, owner, totals); err != nil {
			return err
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	// Which of them are there; each table's first one is taken.
	there := map[dbTable]bool{}
	in := c.in(c.columns[:2], wanted)
	err := l.Conn.Rows("SELECT DISTINCT "+c.columns[0]+", "+c.columns[1]+" FROM "+c.source+" WHERE "+in+noLimit, 2, func(row []string) {
		there[dbTable{row[0], row[1]}] = true
	})
	if err != nil {
		return unknownTable(err)
	}
	var take []dbTable
	for _, at := range wanted {
		t := c.shards[owner[at]]
		if _, placed := keep[t]; !placed && there[at] {
			keep[t] = owner[at]
			take = append(take, at)
		}
	}
	if len(take) == 0 {
		return nil
	}
	c.moved = true
	back, err := c.s.shards.ownCharsets(l.Pooled)
	if err != nil {
		return err
	}
	err = c.f.move(l, "INSERT IGNORE INTO "+c.table+" ", "SELECT * FROM "+c.source+" WHERE "+c.in(c.columns[:2], take)+noLimit, nil)
	if err = back(err); err != nil {
		return err
	}
	for _, at := range take {
		// At once: a table of another rule, or of none, may have the name that it has on its node.
		t := c.shards[owner[at]]
		if err := c.name(owner[at], t); err != nil {
			return err
		}
	}
	return nil
}

// size adds the sizes of shards on a node to those of their tables, as assignments of an UPDATE.
func (c *filling) size(l *txn.Lease, shards []dbTable, owner map[dbTable]router.Shard, totals map[*router.Table][]string) error {
	return l.Conn.Rows("SELECT TABLE_SCHEMA, TABLE_NAME, "+strings.Join(summed, ", ")+", AUTO_INCREMENT FROM information_schema.TABLES WHERE "+c.in(c.columns[:2], shards)+noLimit, 3+len(summed),
		func(row []string) {
			shard, ok := owner[dbTable{row[0], row[1]}]
			if !ok {
				return
			}
			t := c.shards[shard]
			if n, err := strconv.ParseUint(row[2+len(summed)], 10, 64); err == nil {
				c.next[t] = max(c.next[t], n)
			}
			for k, column := range summed {
				if n := row[2+k]; n != "NULL" && len(totals[t]) > k {
					totals[t][k] += " + " + n
				} else if len(totals[t]) <= k {
					if n == "NULL" {
						n = "0"
					}
					totals[t] = append(totals[t], column+" = "+n)
				}
			}
		})
}

// name gives the rows of a shard the table's logical name.
func (c *filling) name(shard router.Shard, t *router.Table) error {
	at, logical := dbTable{shard.DB, shard.Table}, dbTable{t.DB, t.Name}
	if at == logical {
		return nil
	}
	c.moved = true
	delete(c.here, at)
	return c.rename(0, t, []dbTable{at})
}

// rename gives shards of a table that a pair of columns of the copy names the table's name, and their constraints theirs.
func (c *filling) rename(k int, t *router.Table, shards []dbTable) error {
	pair := c.columns[k : k+2]
	if k/2 < len(c.constraints) {
		if err := c.renameConstraints(c.constraints[k/2], c.in(pair, shards), t); err != nil {
			return err
		}
	}
	return c.exec("UPDATE " + c.table + " SET " + pair[0] + " = " + state.Quote(t.DB) + ", " + pair[1] + " = " + state.Quote(t.Name) + " WHERE " + c.in(pair, shards))
}

// renameConstraints gives constraints of a table's shards that a column of the copy names, where a condition holds, the names that clients know.
func (c *filling) renameConstraints(column, where string, t *router.Table) error {
	var cases strings.Builder
	// Hexadecimal: a name may have characters that the client's set lacks.
	err := c.f.last.Conn.Rows("SELECT DISTINCT HEX(CONVERT("+column+" USING utf8mb4)) FROM "+c.table+" WHERE ("+where+") AND "+column+" IS NOT NULL"+noLimit, 1, func(row []string) {
		own, err := hex.DecodeString(row[0])
		if err != nil {
			return
		}
		if name, changed := plan.ConstraintOf(t, t.Shards[0], string(own)); changed {
			fmt.Fprintf(&cases, " WHEN X'%s' THEN X'%x'", row[0], name)
		}
	})
	var unknown *mysql.SQLError
	switch {
	case errors.As(err, &unknown) && unknown.Code == erBadField:
		return nil // an old server's
	case err != nil || cases.Len() == 0:
		return err
	}
	return c.exec("UPDATE " + c.table + " SET " + column + " = CONVERT(CASE CONVERT(CONVERT(" + column + " USING utf8mb4) USING binary)" + cases.String() +
		" ELSE CONVERT(" + column + " USING utf8mb4) END USING utf8mb4) WHERE " + where)
}

// mention gives the tables that rows are not about but name, too, their logical names.
func (c *filling) mention() error {
	for k := 2; k+1 < len(c.columns); k += 2 {
		for _, t := range c.tables {
			var tables []dbTable
			for _, shard := range t.Shards {
				if at := (dbTable{shard.DB, shard.Table}); at != (dbTable{t.DB, t.Name}) {
					tables = append(tables, at)
				}
			}
			if len(tables) > 0 {
				if err := c.rename(k, t, tables); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// remove takes the rows of tables out of the copy.
func (c *filling) remove(tables []dbTable) error {
	if len(tables) == 0 {
		return nil
	}
	for _, t := range tables {
		delete(c.here, t)
	}
	return c.exec("DELETE FROM " + c.table + " WHERE " + c.in(c.columns[:2], tables))
}

// in is a condition that a row is about one of some tables.
func (c *filling) in(pair []string, tables []dbTable) string {
	byDB := map[string][]string{}
	var dbs []string
	for _, t := range tables {
		if byDB[t.db] == nil {
			dbs = append(dbs, t.db)
		}
		byDB[t.db] = append(byDB[t.db], state.Quote(t.table))
	}
	var b strings.Builder
	for k, db := range dbs {
		if k > 0 {
			b.WriteString(" OR ")
		}
		b.WriteString(pair[0] + " = " + state.Quote(db) + " AND " + pair[1] + " IN (" + strings.Join(byDB[db], ", ") + ")")
	}
	return b.String()
}

// exec runs a statement on a copy. Old servers lack some of the columns: then nothing is to be done.
func (c *filling) exec(sql string) error {
	err := c.s.client.observed.Run(c.f.last.Pooled, c.s.client.state.DB(), sql)
	if e, ok := err.(*mysql.SQLError); ok && e.Code == erBadField {
		return nil
	}
	return err
}

// erBadField says that there is no such column. MySQL manual: "Server Error Message Reference".
const erBadField = 1054

// unknownTable lets pass that a server has no such table in information_schema.
func unknownTable(err error) error {
	var e *mysql.SQLError
	if errors.As(err, &e) && e.Code == 1109 {
		return nil
	}
	return err
}
