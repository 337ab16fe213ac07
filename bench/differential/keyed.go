package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// overShards is a key over all shards. The oracle has the same as a key of its table.
type overShards struct {
	name    string
	columns []string
	unique  bool
	strings string // in the rule
}

// overShards are a table's keys, in the order in which it has them: of a row that collides with several rows the first tells.
func (t *table) overShards() []overShards {
	if !t.keyed {
		return nil
	}
	return []overShards{
		{"mail", []string{"mail"}, true, "utf8mb4_general_ci_v1"},
		{"code", []string{"tenant", "code"}, true, "utf8mb4_unicode_ci_v1"},
		{"dept", []string{"dept"}, false, ""},
	}
}

// keyRules is what the table's rule says of its keys, with a comma ahead.
func (t *table) keyRules() string {
	var lists [2][]string
	for _, x := range t.overShards() {
		key := fmt.Sprintf("{columns: [%s], name: %s", strings.Join(x.columns, ", "), x.name)
		if x.strings != "" {
			key += ", strings: " + x.strings
		}
		list := &lists[1]
		if x.unique {
			list = &lists[0]
		}
		*list = append(*list, key+"}")
	}
	if len(lists[0]) == 0 {
		return ""
	}
	return fmt.Sprintf(", unique: [%s], lookup: [%s]", strings.Join(lists[0], ", "), strings.Join(lists[1], ", "))
}

// keyedColumns are those of the keys: few values, so that rows collide.
func keyedColumns(r *rand.Rand) []*column {
	word := func(name, collation string) *column {
		c := &column{name: name, decl: "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE " + collation, class: text, folds: true, pool: texts(plainWords...)}
		r.Shuffle(len(c.pool), func(i, j int) { c.pool[i], c.pool[j] = c.pool[j], c.pool[i] })
		return c
	}
	code := word("code", "utf8mb4_unicode_ci")
	code.pool = texts("p", "P", "q", "Q ", "r")
	tenant, dept := smallColumn("tenant"), smallColumn("dept")
	tenant.indexable, dept.indexable = false, false // they have their keys
	return []*column{word("mail", "utf8mb4_general_ci"), tenant, code, dept}
}

// unique gives for each unique key of a row a text that no other row may have, but for those with NULL.
func (t *table) unique(row []value) (list []string) {
	for _, x := range t.overShards() {
		text, isNull := x.name, !x.unique
		for _, name := range x.columns {
			v := row[t.place(name)]
			text += "\x00" + fold(v.text())
			isNull = isNull || v.sql == null.sql
		}
		if !isNull {
			list = append(list, text)
		}
	}
	return list
}

// bySubject tells whether the subject makes and fills a table: it has keys over shards, which are kept where it says.
func (s *store) bySubject(t *table) bool { return t.keyed && !s.layout.plain() && s.routed }

// dialControl opens the session in which the subject is told what no client says.
func (w *worker) dialControl() (err error) {
	if w.control == nil {
		w.control, err = dial(w.round.Subject, "")
	}
	return err
}

// create makes the tables: those with keys over shards through the subject, which makes the tables that keep the keys.
func (w *worker) create() error {
	if err := w.store.create(); err != nil {
		return err
	}
	return w.eachKeyed(tableNames(), func(t *table) []string { return []string{t.create(w.subject.db, t.name)} })
}

// refillKeyed gives tables with keys over shards their rows, through the subject.
func (w *worker) refillKeyed(names map[string]bool) error {
	var list []string
	for name := range names {
		list = append(list, name)
	}
	return w.eachKeyed(list, func(t *table) []string { return t.refill(w.subject.db, t.name, t.rows) })
}

func (w *worker) eachKeyed(names []string, statements func(t *table) []string) error {
	for _, t := range w.store.schema.tables {
		if !w.store.bySubject(t) || !slices.Contains(names, t.name) {
			continue
		}
		if err := w.dialControl(); err != nil {
			return err
		}
		for _, sql := range statements(t) {
			if _, err := w.control.Exec(sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
	}
	return nil
}

// compareKeys wants the tables that keep the keys of a table to have what its rows have.
func (s *store) compareKeys(t *table, rows [][]any) (*Difference, error) {
	for _, x := range t.overShards() {
		columns := append(slices.Clone(x.columns), t.shardKey)
		want := map[string]int{}
		for _, row := range rows {
			cells := make([]any, len(columns))
			for k, name := range columns {
				cells[k] = row[t.place(name)]
			}
			if !slices.Contains(cells, nil) {
				want[entryText(cells)]++
			}
		}
		for node, c := range s.nodes {
			name := fmt.Sprintf("%s.ks_%s_%s_%04d", s.subject, t.name, x.name, node)
			count := "1"
			if !x.unique {
				count = "ks_rows"
			}
			r, err := c.Exec(fmt.Sprintf("SELECT %s, %s FROM %s", count, strings.Join(columns, ", "), name))
			if err != nil {
				return nil, err
			}
			for _, row := range r.Rows {
				n := 0
				_, _ = fmt.Sscan(fmt.Sprint(row[0]), &n)
				want[entryText(row[1:])] -= n
			}
		}
		for text, n := range want {
			if n != 0 {
				return differ("keys", "%d rows of %s more than the key %s has: %s", n, t.name, x.name, text), nil
			}
		}
	}
	return nil, nil
}

// entryText writes the values of a key and the sharding key. Texts that are equal may look different.
func entryText(cells []any) string {
	list := make([]string, len(cells))
	for k, cell := range cells {
		list[k] = fold(fmt.Sprint(cell))
	}
	return strings.Join(list, "\x00")
}
