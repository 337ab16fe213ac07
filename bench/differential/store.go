package differential

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// store makes, fills and compares the tables of one database, straight on the oracle and the nodes: what the subject
// makes of a statement plays no part in it.
type store struct {
	schema  *schema
	layout  Layout
	db      string // on the oracle
	subject string // on the nodes
	routed  bool   // there is a subject, which knows the layout

	oracle *mysqltest.RawClient
	nodes  []*mysqltest.RawClient
	// renumbered are, by table, the ids of the oracle that stand for others of the subject in this scenario.
	renumbered map[string]renumbering
}

// storeSettings are of the sessions here: they see rows before they are committed, and bring any id.
const storeSettings = "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"

// open connects to all servers.
func (s *store) open(oracle string) (err error) {
	if s.oracle, err = dial(oracle, ""); err != nil {
		return err
	}
	for _, addr := range s.layout.Nodes {
		c, err := dial(addr, "")
		if err != nil {
			return errors.Join(err, s.close())
		}
		s.nodes = append(s.nodes, c)
	}
	batch := newBatches(s)
	batch.each(storeSettings)
	return batch.run(s)
}

func (s *store) close() error {
	err := s.oracle.Close()
	for _, c := range s.nodes {
		err = errors.Join(err, c.Close())
	}
	return err
}

// create makes both databases anew, with all tables empty.
func (s *store) create() error {
	batch := newBatches(s)
	fresh := func(db string) []string {
		return []string{"DROP DATABASE IF EXISTS " + db, "CREATE DATABASE " + db + " CHARACTER SET utf8mb4"}
	}
	batch.oracle = append(batch.oracle, fresh(s.db)...)
	for k := range s.nodes {
		batch.nodes[k] = append(batch.nodes[k], fresh(s.subject)...)
	}
	for _, t := range s.schema.tables {
		batch.oracle = append(batch.oracle, t.create(s.db, t.name))
		if s.bySubject(t) {
			continue // the subject makes it
		}
		for _, p := range s.layout.places(t) {
			batch.nodes[p.node] = append(batch.nodes[p.node], t.create(s.subject, p.name))
		}
	}
	return batch.run(s)
}

// reload gives tables the rows that they had to begin with.
func (s *store) reload(names map[string]bool) error {
	batch := newBatches(s)
	batch.each("BEGIN")
	for _, t := range s.schema.tables {
		if !names[t.name] {
			continue
		}
		batch.oracle = append(batch.oracle, t.refill(s.db, t.name, t.rows)...)
		if t.drawn != "" {
			batch.oracle = append(batch.oracle, "ALTER TABLE "+s.db+"."+t.name+" AUTO_INCREMENT = 1")
		}
		if s.bySubject(t) {
			continue // the subject fills it
		}
		places := s.layout.places(t)
		rows := make([][][]value, len(places))
		for _, row := range t.rows {
			k, err := s.layout.index(t, row[t.shardColumn()].text())
			if err != nil {
				return err
			}
			for i := range places {
				if i == k || k < 0 {
					rows[i] = append(rows[i], row)
				}
			}
		}
		for i, p := range places {
			batch.nodes[p.node] = append(batch.nodes[p.node], t.refill(s.subject, p.name, rows[i])...)
			if t.drawn != "" && s.layout.plain() {
				batch.nodes[p.node] = append(batch.nodes[p.node], "ALTER TABLE "+s.subject+"."+p.name+" AUTO_INCREMENT = 1")
			}
		}
	}
	batch.each("COMMIT")
	return batch.run(s)
}

// refill are the statements that replace the rows of a physical table.
func (t *table) refill(db, name string, rows [][]value) []string {
	list := []string{"DELETE FROM " + db + "." + name}
	if insert := t.insert(db, name, rows); insert != "" {
		list = append(list, insert)
	}
	if t.counts() {
		list = append(list, "ALTER TABLE "+db+"."+name+" AUTO_INCREMENT = 1") // one more than the largest
	}
	return list
}

// batches are statements for each server, sent as one text.
type batches struct {
	oracle []string
	nodes  [][]string
}

func newBatches(s *store) *batches { return &batches{nodes: make([][]string, len(s.nodes))} }

// each adds a statement for every server.
func (b *batches) each(sql string) {
	b.oracle = append(b.oracle, sql)
	for k := range b.nodes {
		b.nodes[k] = append(b.nodes[k], sql)
	}
}

func (b *batches) run(s *store) error {
	if err := runBatch(s.oracle, b.oracle); err != nil {
		return fmt.Errorf("on the oracle: %w", err)
	}
	for k, c := range s.nodes {
		if err := runBatch(c, b.nodes[k]); err != nil {
			return fmt.Errorf("on node %d: %w", k+1, err)
		}
	}
	return nil
}

func runBatch(c *mysqltest.RawClient, list []string) error {
	if len(list) == 0 {
		return nil
	}
	_, err := c.Exec(strings.Join(list, ";\n"))
	return err
}

// compare compares tables, all of them if none are named, and wants every row to be in the sub-table of its key.
// unlocked says that no row may be locked.
func (s *store) compare(unlocked bool, names ...string) (*Difference, error) {
	for _, t := range s.schema.tables {
		if len(names) > 0 && !slices.Contains(names, t.name) {
			continue
		}
		if d, err := s.compareTable(t, unlocked); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

func (s *store) compareTable(t *table, unlocked bool) (*Difference, error) {
	want, err := read(s.oracle, s.db+"."+t.name, false)
	if err != nil {
		return nil, err
	}
	var all [][]any
	for k, p := range s.layout.places(t) {
		rows, err := read(s.nodes[p.node], s.subject+"."+p.name, unlocked)
		if locked, ok := errors.AsType[*mysql.SQLError](err); ok && (locked.Code == 1205 || locked.Code == 3572) {
			return differ("locks", "rows of %s are locked behind the end of all transactions", p.name), nil
		}
		if err != nil {
			return nil, err
		}
		if t.kind == reference {
			if d := compareTables(p.name, want, rows); d != nil {
				return d, nil
			}
			continue
		}
		for _, row := range rows {
			key, _ := row[t.shardColumn()].(string)
			if index, err := s.layout.index(t, key); err != nil || index != k {
				return differ("placement", "a row with the key %q is in %s", key, p.name), nil
			}
		}
		all = append(all, rows...)
	}
	s.renumbered[t.name].rows(all, t.place(t.drawn))
	if t.kind == reference {
		return nil, nil
	}
	if d := compareTables(t.name, want, all); d != nil || !s.bySubject(t) {
		return d, nil
	}
	return s.compareKeys(t, all)
}

func read(c *mysqltest.RawClient, name string, unlocked bool) ([][]any, error) {
	sql := "SELECT * FROM " + name
	if unlocked {
		sql += " FOR UPDATE NOWAIT"
	}
	r, err := c.Exec(sql)
	if err != nil {
		return nil, err
	}
	return r.Rows, nil
}

// compareTables compares the rows of a table in any order.
func compareTables(name string, oracle, subject [][]any) *Difference {
	want, got := sortedRows(oracle), sortedRows(subject)
	for k := range max(len(want), len(got)) {
		switch {
		case k >= len(got) || k < len(want) && want[k] < got[k]:
			return differ("tables", "%s lacks the row %s", name, want[k])
		case k >= len(want) || want[k] > got[k]:
			return differ("tables", "%s has the row %s", name, got[k])
		}
	}
	return nil
}

func sortedRows(rows [][]any) []string {
	var list []string
	for _, row := range rows {
		list = append(list, plainRow(row))
	}
	slices.Sort(list)
	return list
}
