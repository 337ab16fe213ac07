package differential

import (
	"errors"
	"slices"
	"strings"

	"kingshard/mysql"
)

// A server that counts a table's ids by itself uses up as many as it likes for an INSERT ... SELECT, which does not say how many rows there are: 1, 2, 4 and so on, as more
// come. The proxy sends rows that lie elsewhere as a list. The next id is open behind such a statement, and behind one that failed or left rows out. The same goes for ids that the proxy draws, see level. MySQL manual: "AUTO_INCREMENT
// Handling in InnoDB", of bulk inserts and mixed-mode inserts.

// countAgain has the tables whose ids are open behind a statement go on behind their largest id, on both sides: once no transaction is open.
func (w *worker) countAgain(st *statement, want answer) error {
	if st.gaps || st.bulk || want.Err != nil {
		for _, t := range w.store.schema.tables {
			if t.counts() && slices.Contains(st.writes, t.name) {
				w.uncounted[t.name] = true
			}
		}
	}
	if len(w.uncounted) == 0 || w.open != [clientsMax + 1]bool{} {
		return nil
	}
	err := w.store.countAgain(w.uncounted)
	clear(w.uncounted)
	return err
}

// mayCount reports whether a statement may give ids that are open, until countAgain has been.
func (w *worker) mayCount(st *statement) bool {
	if len(w.uncounted) == 0 {
		return false
	}
	text := st.root.render("", false).sql
	for _, name := range st.writes {
		if w.uncounted[name] && (strings.Contains(text, "INSERT") || strings.Contains(text, "REPLACE") || strings.Contains(text, "EXECUTE")) {
			return true
		}
	}
	return false
}

// countAgain has tables go on behind their largest id. A table that a client's transaction has open stays as it is.
func (s *store) countAgain(names map[string]bool) error {
	batch := newBatches(s)
	for _, t := range s.schema.tables {
		if !names[t.name] {
			continue
		}
		batch.oracle = append(batch.oracle, "SET lock_wait_timeout = 1", "ALTER TABLE "+s.db+"."+t.name+" AUTO_INCREMENT = 1")
		for _, p := range s.layout.places(t) {
			batch.nodes[p.node] = append(batch.nodes[p.node], "SET lock_wait_timeout = 1", "ALTER TABLE "+s.subject+"."+p.name+" AUTO_INCREMENT = 1")
		}
	}
	err := batch.run(s)
	var waited *mysql.SQLError
	if errors.As(err, &waited) && waited.Code == erLockWaitTimeout {
		err = nil
	}
	batch = newBatches(s)
	batch.each("SET lock_wait_timeout = DEFAULT")
	return errors.Join(err, batch.run(s))
}
