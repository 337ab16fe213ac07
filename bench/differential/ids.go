package differential

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql/mysqltest"
)

// The ids that the proxy draws for a sharded table are those that one server would make, as long as MySQL says which these are: each row of a plain
// INSERT or REPLACE gets the next one. What it leaves open is how many are used up by rows that fail, that are left out or update another one, or
// that stand beside rows that bring ids. Behind such a statement the subject is told which id the oracle has next; and where the ids of the
// statement itself are others, the n-th that the subject drew stands for the n-th of the oracle up to the end of the scenario, in which nothing more
// is asked than LAST_INSERT_ID(). All else is compared as it is, from the first id of a table to the last.

// renumbering maps ids that the subject drew to the ids that the oracle drew for the same rows, both as decimal text.
type renumbering map[string]string

// pair makes the renumbering of ids that were drawn for one statement, nil where they are the same. So it is where their numbers differ: the rows do, then.
func pair(oracle, subject []uint64) renumbering {
	slices.Sort(oracle)
	slices.Sort(subject)
	if len(oracle) != len(subject) || slices.Equal(oracle, subject) {
		return nil
	}
	n := renumbering{}
	for k := range oracle {
		n[strconv.FormatUint(subject[k], 10)] = strconv.FormatUint(oracle[k], 10)
	}
	return n
}

// rows puts the oracle's ids into a column of rows.
func (n renumbering) rows(rows [][]any, column int) {
	for _, row := range rows {
		if text, ok := row[column].(string); ok && n[text] != "" {
			row[column] = n[text]
		}
	}
}

// answer puts the oracle's ids into all that an answer says.
func (n renumbering) answer(r *mysqltest.RawResult) {
	for ; r != nil; r = r.Next {
		if r.OK != nil {
			if id, err := strconv.ParseUint(n[strconv.FormatUint(r.OK.LastInsertID, 10)], 10, 64); err == nil {
				r.OK.LastInsertID = id
			}
		}
		for k := range r.Columns {
			if name := r.Columns[k].Name; name != "r" && name != "ROW_COUNT()" { // which count rows
				n.rows(r.Rows, k)
			}
		}
	}
}

// forgetIDs has nodes forget which ids proxies of before drew, as for those tables would not begin at 1 again.
func (r Round) forgetIDs() error {
	for _, d := range r.Databases {
		for _, addr := range d.Layout.Nodes {
			if d.Layout.plain() {
				continue
			}
			c, err := dial(addr, "")
			if err != nil {
				return err
			}
			_, err = c.Exec("DROP DATABASE IF EXISTS ks_meta")
			if err = errors.Join(err, c.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

// drawing are the tables of a list whose ids the proxy draws; none where there are no shards.
func (w *worker) drawing(names []string) (list []*table) {
	for _, t := range w.store.schema.tables {
		if t.drawn != "" && !w.database.Layout.plain() && slices.Contains(names, t.name) {
			list = append(list, t)
		}
	}
	return list
}

// nextIDs gives the ids that the oracle has next ahead of a statement, by table, as far as that matters behind it.
func (w *worker) nextIDs(st *statement) (map[string]uint64, error) {
	if !st.draws && !st.begins {
		return nil, nil
	}
	next := map[string]uint64{}
	for _, t := range w.drawing(st.writes) {
		id, err := w.store.nextID(t)
		if err != nil {
			return nil, err
		}
		next[t.name] = id
	}
	return next, nil
}

// mayDrawBrought tells whether a row of a statement may be given an id that another one brings: one server gives ids to the rows as they come, the
// proxy to all of them ahead, above those that are brought.
func (w *worker) mayDrawBrought(st *statement, before map[string]uint64) bool {
	const rows = 8 // more than a statement has
	var brought []uint64
	for _, text := range st.brought {
		if id, err := strconv.ParseUint(text, 10, 64); err == nil && st.draws {
			brought = append(brought, id)
		}
	}
	for _, first := range before {
		for _, from := range append([]uint64{first}, brought...) { // a server goes on from the ones that are brought
			if slices.ContainsFunc(brought, func(id uint64) bool { return id >= first && id > from && id < from+rows || id == first }) {
				return true
			}
		}
	}
	return false
}

// renumber notes which ids of a statement are others on the subject where that is open, and has its answer, and those that follow, name the oracle's.
func (w *worker) renumber(st *statement, before map[string]uint64, want, got answer) error {
	if st.draws && st.gaps && want.Err == nil && got.Err == nil {
		for _, t := range w.drawing(st.writes) {
			oracle, subject, err := w.store.idsFrom(t, before[t.name], st.brought)
			if err != nil {
				return err
			}
			if n := pair(oracle, subject); n != nil {
				w.store.renumbered = map[string]renumbering{t.name: n}
			}
		}
	}
	for n := range maps.Values(w.store.renumbered) {
		n.answer(got.RawResult)
	}
	return nil
}

// settleIDs has the ids that the subject draws next be the oracle's where it is open behind a statement which they are, and LAST_INSERT_ID() be the same
// behind one that failed. levelled says that it was open.
func (w *worker) settleIDs(st *statement, before map[string]uint64, want answer) (levelled bool, err error) {
	if st.draws && want.Err != nil {
		for _, s := range []*side{&w.oracle, &w.subject} {
			if err := s.client(st.client).forgetID(); err != nil {
				return false, err
			}
		}
	}
	names := st.writes
	if strings.HasPrefix(st.root.text, "ROLLBACK") {
		names = slices.Collect(maps.Keys(w.moved)) // rows that have their ids of before: the one that an UPDATE gave is not there any more
	}
	for _, t := range w.drawing(names) {
		open := st.gaps || st.bulk || want.Err != nil || w.moved[t.name] && !st.draws
		if (st.begins || st.moves > 0) && !open {
			after, err := w.store.nextID(t)
			if err != nil {
				return false, err
			}
			// A server lowers the next id, too, and counts on from one that UPDATE gave by the spacing of ids of before.
			open = st.begins && after < before[t.name] || st.moves > 0 && after > st.moves+1
		}
		w.moved[t.name] = w.moved[t.name] || st.moves > 0
		if open {
			levelled = true
			if err := w.level(t); err != nil {
				return false, err
			}
		}
	}
	return levelled, nil
}

// forgetID gives LAST_INSERT_ID() a value.
func (s *side) forgetID() error {
	if s.conn == nil {
		return nil
	}
	_, err := s.conn.Exec("DO LAST_INSERT_ID(100)")
	return err
}

// renumberedAgain gives tables of which a scenario has left other ids on the two sides their first rows, and the sessions another LAST_INSERT_ID().
func (w *worker) renumberedAgain(s scenario) error {
	if len(w.store.renumbered) == 0 {
		return nil
	}
	names := map[string]bool{}
	for name := range w.store.renumbered {
		names[name] = true
	}
	for _, st := range s {
		for _, side := range []*side{&w.oracle, &w.subject} {
			if err := side.client(st.client).forgetID(); err != nil {
				return err
			}
		}
	}
	w.store.renumbered = nil
	return w.refill(names)
}

// levelAll levels all of these tables whose ids the proxy draws.
func (w *worker) levelAll(names []string) error {
	for _, t := range w.drawing(names) {
		if err := w.level(t); err != nil {
			return err
		}
	}
	return nil
}

// level has the subject draw the id next that the oracle has next.
func (w *worker) level(t *table) error {
	if w.database.Layout.plain() || w.round.Subject == "" {
		return nil
	}
	next, err := w.store.nextID(t)
	if err != nil {
		return err
	}
	if err := w.dialControl(); err != nil {
		return err
	}
	_, err = w.control.Exec(fmt.Sprintf("KS SEQUENCE %s.%s SET %d FORCE", w.subject.db, t.name, next))
	return err
}

// nextID is the id that the oracle's table makes next. information_schema does not always know it.
func (s *store) nextID(t *table) (uint64, error) {
	r, err := s.oracle.Exec("SHOW CREATE TABLE " + s.db + "." + t.name)
	if err != nil {
		return 0, err
	}
	text, _ := r.Rows[0][1].(string)
	found := counterOption.FindStringSubmatch(text)
	if found == nil {
		return 1, nil
	}
	return strconv.ParseUint(found[1], 10, 64)
}

// counterOption finds what SHOW CREATE TABLE says of the next id, where that is not 1.
var counterOption = regexp.MustCompile(" AUTO_INCREMENT=([0-9]+) ")

// forgetSpacing has the oracle forget how ids were spaced: MySQL counts on by an increment of before, where an open table is used again.
func (s *store) forgetSpacing() error {
	if s.layout.plain() {
		return nil // so does the subject
	}
	var names []string
	for _, t := range s.schema.tables {
		if t.drawn != "" {
			names = append(names, s.db+"."+t.name)
		}
	}
	_, err := s.oracle.Exec("FLUSH TABLES " + strings.Join(names, ", "))
	return err
}

// idsFrom are the ids of a table from one on, but for those that a statement brought.
func (s *store) idsFrom(t *table, first uint64, brought []string) (oracle, subject []uint64, err error) {
	read := func(c *mysqltest.RawClient, name string) ([]uint64, error) {
		r, err := c.Exec(fmt.Sprintf("SELECT %[1]s FROM %[2]s WHERE %[1]s >= %[3]d", t.drawn, name, first))
		if err != nil {
			return nil, err
		}
		var ids []uint64
		for _, row := range r.Rows {
			text, _ := row[0].(string)
			id, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(brought, text) {
				ids = append(ids, id)
			}
		}
		return ids, nil
	}
	if oracle, err = read(s.oracle, s.db+"."+t.name); err != nil {
		return nil, nil, err
	}
	for _, p := range s.layout.places(t) {
		ids, err := read(s.nodes[p.node], s.subject+"."+p.name)
		if err != nil {
			return nil, nil, err
		}
		subject = append(subject, ids...)
	}
	return oracle, subject, nil
}
