package differential

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

const (
	// reloadAfter is how many scenarios run between two checks of all tables, after which they get their rows back.
	reloadAfter = 60
	// shrinksMax is how many failures of a database are shrunk; later ones are only counted.
	shrinksMax = 8
)

// refusal is how the kinds of failures begin that are an error of the proxy's own.
const refusal = "refusal"

// worker compares one database.
type worker struct {
	round    Round
	database Database
	report   *Report

	oracle, subject side
	store           store
	dirty           map[string]bool // tables that have had other rows since reset
	moved           map[string]bool // those whose rows have got other ids since
	uncounted       map[string]bool // those of which each side may have counted the ids in its own way, in transactions that are open
	recent          []string
	control         *mysqltest.RawClient // tells the subject which ids are next; nil before the first time
	open            [clientsMax + 1]bool // the clients in a transaction
	grammar         grammar
}

func (w *worker) run(ctx context.Context) error {
	if err := w.create(); err != nil {
		return err
	}
	for n := 0; ctx.Err() == nil && w.report.Statements < w.round.Statements; n++ {
		if n%reloadAfter == 0 {
			if err := w.refresh(n); err != nil {
				return err
			}
		}
		s := w.grammar.scenario()
		before := w.report.Statements
		d, err := w.try(s, w.report)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		f := w.failure(d, before)
		f.Original = w.texts(s)
		if err := w.shrink(s, &f); err != nil {
			return err
		}
		w.report.fail(f)
		if err := w.reset(); err != nil {
			return err
		}
	}
	return nil
}

// refresh checks all tables and gives them back their rows.
func (w *worker) refresh(n int) error {
	if n > 0 {
		d, err := w.store.compare(false)
		if err != nil {
			return err
		}
		if d != nil {
			w.report.fail(w.failure(d, w.report.Statements))
			w.touch(tableNames())
		}
	} else {
		w.touch(tableNames())
	}
	return w.reset()
}

// failure is one that came after so many statements.
func (w *worker) failure(d *Difference, at int) Failure {
	return Failure{
		Difference: *d, Seed: w.round.Seed + w.database.Seed, Database: w.database.Name, Shards: w.database.Layout.shards(),
		Mode: w.oracle.mode, At: at,
	}
}

// touch notes that tables may not have their rows any more.
func (w *worker) touch(names []string) {
	for _, name := range names {
		w.dirty[name] = true
	}
}

// reset ends what a scenario may have left open and gives all tables their rows.
func (w *worker) reset() error {
	w.rollback()
	w.open = [clientsMax + 1]bool{}
	if len(w.dirty) == 0 {
		return nil
	}
	if err := w.refill(w.dirty); err != nil {
		return err
	}
	clear(w.dirty)
	clear(w.moved)
	clear(w.uncounted)
	return nil
}

// refill gives tables the rows and the ids that they had to begin with.
func (w *worker) refill(names map[string]bool) error {
	err := w.store.reload(names)
	if err == nil {
		err = w.refillKeyed(names)
	}
	for _, t := range w.store.schema.tables {
		if err == nil && names[t.name] && t.drawn != "" {
			err = w.level(t)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: behind %q", err, w.recent)
	}
	return nil
}

// rollback ends transactions on both sides, and takes back what a scenario that was broken off has set. A session that cannot is closed, which does the
// same.
func (w *worker) rollback() {
	for _, s := range []*side{&w.oracle, &w.subject} {
		for n := range s.others {
			c := s.client(n)
			if c.conn == nil {
				continue
			}
			if _, err := c.conn.Exec("ROLLBACK; " + unspaced + "; DO LAST_INSERT_ID(100)"); err != nil {
				c.close()
			}
		}
	}
}

// breakOff ends a scenario whose sides may be apart, though neither is wrong: with new sessions, and with the rows that the tables had to begin with.
func (w *worker) breakOff() error {
	w.rollback()
	w.oracle.closeAll()
	w.subject.closeAll()
	return w.reset()
}

// try runs a scenario on both sides and gives the first difference. The error is one of the oracle or of the nodes. What
// happened is counted in count.
//
// The subject goes first: what it refuses is not run on the oracle, so that both stay the same if the subject was honest.
func (w *worker) try(s scenario, count *Report) (*Difference, error) {
	w.recent = append(w.recent[max(0, len(w.recent)-12):], fmt.Sprint(w.texts(s)))
	w.touch(s.tables())
	w.store.renumbered = nil
	var refused [clientsMax + 1]bool
	failed := uint16(0)            // the error of the statement before
	open := false                  // which ids come next
	var begun [clientsMax + 1]bool // a statement that failed may have begun a transaction, of which an error says nothing
	for k, st := range s {
		if (refused[st.client] || len(w.store.renumbered) > 0 && !st.follows) && !st.ends || st.next && open || w.mayCount(st) {
			continue // what follows builds on the statement
		}
		before, err := w.nextIDs(st)
		if err != nil {
			return nil, err
		}
		if w.mayDrawBrought(st, before) {
			refused[st.client] = true
			continue
		}
		count.Statements++
		if st.draws {
			count.Drawing++
		}
		got, err := w.subject.client(st.client).run(st)
		if err != nil {
			w.oracle.closeAll()
			w.subject.closeAll()
			return differ("connection", "%v", err), nil
		}
		if got.ownError() {
			own := got.refusal()
			if !slices.Contains(w.round.Refusals, own.Code) {
				return differ(fmt.Sprintf("%s %d", refusal, own.Code), "%v", own), nil
			}
			count.refuse(own)
			if got.refusedLater() {
				return nil, w.breakOff()
			}
			refused[st.client] = true
			if err := w.levelAll(st.writes); err != nil {
				return nil, err
			}
			if err := w.forgetLast(st.client); err != nil {
				return nil, err
			}
			continue
		}
		want, err := w.oracle.client(st.client).run(st)
		if err != nil {
			return nil, fmt.Errorf("on the oracle: %s: %w", st.root.render(w.oracle.db, false).sql, err)
		}
		if waits(want, got) && slices.ContainsFunc(s, func(other *statement) bool { return other.client != st.client }) {
			// Locks are of the gaps between rows, too, and each side has other neighbours: what follows is open.
			count.Waits++
			return nil, w.breakOff()
		}
		if err := w.renumber(st, before, want, got); err != nil {
			return nil, err
		}
		if st.own && failed != 0 {
			errorAlone(want, failed)
			errorAlone(got, failed)
		}
		if failed = 0; want.Err != nil {
			failed = want.Err.Code
		}
		if got.Err == nil {
			w.open[st.client] = got.Status.Has(mysql.ServerStatusInTrans)
		}
		d := compare(st, want, got, w.oracleName)
		if own := strings.HasPrefix(st.root.text, "PREPARE") || strings.HasPrefix(st.root.text, "DEALLOCATE"); !own {
			begun[st.client] = want.Err != nil
		} else if d != nil && d.Kind == "status" && begun[st.client] {
			d = nil // the proxy has answered by itself
		}
		if d != nil {
			left, err := w.excuse(s[:k+1], want, got, d)
			if left != nil || err != nil {
				return left, err
			}
			count.Planned[d.Kind]++
		}
		if st.root.text == unspaced {
			if err := w.store.forgetSpacing(); err != nil {
				return nil, err
			}
		}
		if count.Equal++; want.Err != nil {
			count.Errors++
		}
		if err := w.countAgain(st, want); err != nil {
			return nil, err
		}
		levelled, err := w.settleIDs(st, before, want)
		if err != nil {
			return nil, err
		}
		open = levelled || open && !st.draws
	}
	if !s.writes() {
		return nil, nil
	}
	d, err := w.store.compare(w.open == [clientsMax + 1]bool{}, s.tables()...)
	if d != nil && d.Kind == "locks" {
		w.subject.closeAll()
	}
	if d != nil || err != nil {
		return d, err
	}
	return nil, w.renumberedAgain(s)
}

// forgetLast has both sessions of a client forget what its last statement left, of which SHOW WARNINGS, ROW_COUNT() and FOUND_ROWS() tell: the subject's was a refusal.
func (w *worker) forgetLast(client int) error {
	for _, s := range []*side{&w.oracle, &w.subject} {
		a, err := s.client(client).run(&statement{root: words("SELECT COUNT(*) FROM ref")})
		if err == nil && a.Err != nil {
			err = a.Err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// waits reports whether one side alone has waited for a lock in vain.
func waits(want, got answer) bool {
	waited := func(a answer) bool { return a.Err != nil && a.Err.Code == erLockWaitTimeout }
	return waited(want) != waited(got)
}

// erLockWaitTimeout is the code of a lock that was not had in time. MySQL manual: "Server Error Message Reference".
const erLockWaitTimeout = 1205

// errorAlone leaves in the rows of SHOW WARNINGS the error that the client has heard: behind a change of several shards that
// failed the proxy has no more, as it knows neither which warnings the rest of the rows would have had nor which came of
// trying. Which of several faulty rows it names is open, as it is for the answer to the change.
func errorAlone(a answer, heard uint16) {
	if a.RawResult == nil {
		return
	}
	code := strconv.Itoa(int(heard))
	a.Rows = slices.DeleteFunc(a.Rows, func(row []any) bool { return row[0] != "Error" || row[1] != code })
	for _, row := range a.Rows {
		if text, ok := row[2].(string); ok {
			row[2] = maskMessage(text)
		}
	}
}

// oracleName is the oracle's name of a database of the subject.
func (w *worker) oracleName(db string) string {
	if db == w.subject.db {
		return w.oracle.db
	}
	return db
}

// texts are a scenario's statements for people: those that are prepared with their arguments in place.
func (w *worker) texts(s scenario) []string {
	var list []string
	for _, st := range s {
		sql := st.root.render(w.subject.db, false).sql
		if st.client != 0 {
			sql = fmt.Sprintf("/* client %d */ %s", st.client, sql)
		}
		if st.prepared {
			sql += " /* prepared */"
		}
		list = append(list, sql)
	}
	return list
}
