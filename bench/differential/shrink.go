package differential

import "slices"

// triesMax is how many times a failing scenario is run again to make it shorter.
const triesMax = 250

// shrinker makes a scenario shorter as long as it fails in the same way.
type shrinker struct {
	worker *worker
	kind   string
	last   Difference // of the last run that failed
	tries  int
	err    error
}

// shrink makes the scenario of a failure as short as it can and notes it in f. A failure that does not come again from the
// rows that the tables have to begin with stays as it is.
func (w *worker) shrink(s scenario, f *Failure) error {
	f.Statements = f.Original
	if f.more = w.report.shrunk >= shrinksMax; f.more || w.report.known(*f) {
		return nil
	}
	w.report.shrunk++
	k := &shrinker{worker: w, kind: f.Kind}
	if !k.fails(s) {
		f.Once = true
		return k.err
	}
	f.Difference = k.last
	for changed := true; changed && k.tries < triesMax && k.err == nil; {
		s, changed = k.pass(s)
	}
	if k.err != nil {
		return k.err
	}
	k.fails(s) // the last run may have been of a shorter one that does not fail
	f.Statements, f.Difference = w.texts(s), k.last
	return k.err
}

// fails tells whether a scenario still fails in the same way, from the rows that the tables have to begin with.
func (k *shrinker) fails(s scenario) bool {
	if k.err != nil {
		return false
	}
	k.tries++
	if k.err = k.worker.reset(); k.err != nil {
		return false
	}
	var d *Difference
	if d, k.err = k.worker.try(s, newReport()); k.err != nil || d == nil || d.Kind != k.kind {
		return false
	}
	k.last = *d
	return true
}

// pass tries every step once.
func (k *shrinker) pass(s scenario) (shorter scenario, changed bool) {
	s, changed = k.dropStatements(s)
	for _, st := range s {
		if st.prepared {
			st.prepared = false
			if k.fails(s) {
				changed = true
			} else {
				st.prepared = true
			}
		}
		var steps []func() func()
		st.root.steps(func(step func() func()) { steps = append(steps, step) })
		for _, step := range steps {
			if k.tries >= triesMax || k.err != nil {
				return s, false
			}
			before := st.root.render("", false).sql
			undo := step()
			if undo == nil {
				continue
			}
			if st.root.render("", false).sql == before || !k.fails(s) {
				undo()
				continue
			}
			changed = true
		}
	}
	return s, changed
}

// dropStatements leaves out statements one by one, and first all that begin or end transactions.
func (k *shrinker) dropStatements(s scenario) (shorter scenario, changed bool) {
	plain := slices.DeleteFunc(slices.Clone(s), func(st *statement) bool { return st.control })
	if len(plain) > 0 && len(plain) < len(s) && k.fails(plain) {
		return plain, true
	}
	for i := 0; i < len(s) && len(s) > 1; {
		without := slices.Delete(slices.Clone(s), i, i+1)
		needed := i+1 < len(s) && s[i+1].follows
		if !s[i].control && !needed && k.fails(without) {
			s, changed = without, true
			continue
		}
		i++
	}
	return s, changed
}
