package queryrule

import (
	"time"

	"kingshard/mysql/sqltext"
)

// Statement is what rules look at.
type Statement struct {
	Text string
	Info sqltext.Info // of the text
	DB   string       // the current database; "" without one
	Mode sqltext.Mode
}

// Decision is what is to be done with a statement. The zero Decision is that of a statement that no rule is about.
type Decision struct {
	// Hits are the rules that match and were reached, those of a dry run too. They are the scratch's, until its next use.
	Hits []*Rule
	// Block is the rule that refuses the statement; nil if none does. Fault says why where the rule itself does not.
	Block *Rule
	Fault string
	// Rewrite is the last rule that changes the text, Outcome what it is then; nil if none does.
	Rewrite *Rule
	Outcome *Statement
	// Primary and Replica choose the instance. Of several rules the first that says something counts.
	Primary, Replica bool
	// Node is the rule whose Node runs the statement; nil for none.
	Node    *Rule
	Timeout time.Duration // 0: none
	// CrossShard is the rule that says what becomes of the statement if its rows are brought together from several shards; nil for none.
	CrossShard *Rule
	// Throttle is the rule that the statement enters before it runs; nil for none.
	Throttle *Rule
	// Mirror is the rule whose Mirror the statement is sent to, too; nil for none.
	Mirror *Rule
}

// Acts tells whether anything is to be done but to count, with a statement whose rows are not brought together from several shards.
func (d *Decision) Acts() bool {
	return d.Block != nil || d.Rewrite != nil || d.Primary || d.Replica || d.Node != nil || d.Timeout > 0 || d.Throttle != nil || d.Mirror != nil
}

// add takes up what a rule says, as far as no rule before it did.
func (d *Decision) add(r *Rule) {
	if r.Block != "" {
		d.Block = r
	}
	if !d.Primary && !d.Replica {
		d.Primary, d.Replica = r.Primary, r.Replica
	}
	if d.Node == nil && r.Node != "" {
		d.Node = r
	}
	if d.Timeout == 0 {
		d.Timeout = r.Timeout
	}
	if d.CrossShard == nil && r.CrossShard != "" {
		d.CrossShard = r
	}
	if d.Mirror == nil && r.Mirror != "" {
		d.Mirror = r
	}
	if d.Throttle == nil && r.bounds.Set() {
		d.Throttle = r
	}
}

// Count counts the hits.
func (d *Decision) Count() {
	for _, r := range d.Hits {
		r.hits.Add(1)
	}
}

// Scratch is the memory of a decision, used again for the next one. The zero Scratch is ready.
type Scratch struct {
	hits                 []*Rule
	canon, folded, plain []byte
	name, qualifier      []byte
	tables, databases    []bool // by rule of the view: names were found
}

// scratchMax is how many bytes of a buffer are kept for the next statement.
const scratchMax = 64 << 10

// begin forgets what was found in another text.
func (sc *Scratch) begin() {
	sc.canon, sc.plain, sc.tables = sc.canon[:0], sc.plain[:0], sc.tables[:0]
}

// Release lets go of memory that is more than most need.
func (sc *Scratch) Release() {
	for _, b := range []*[]byte{&sc.canon, &sc.folded, &sc.plain, &sc.name, &sc.qualifier} {
		if cap(*b) > scratchMax {
			*b = nil
		}
	}
	clear(sc.hits)
	sc.hits = sc.hits[:0]
}

// Decide finds the rules that match a statement. It reads the text once for each of the ways in which rules look at it. Rules behind
// one that rewrites the text look at the outcome.
func (v *View) Decide(sc *Scratch, st *Statement) (d Decision) {
	if v == nil {
		return d
	}
	sc.hits = sc.hits[:0]
	sc.begin()
	classes := classesOf(&st.Info)
	for k, r := range v.rules {
		if !r.classed(&st.Info, classes) || !v.matches(sc, st, k) {
			continue
		}
		sc.hits = append(sc.hits, r)
		if r.DryRun {
			continue
		}
		d.add(r)
		if r.Rewrite != "" {
			next, fault := r.rewritten(sc.plain, st)
			if fault != "" {
				d.Block, d.Fault = r, fault
				break
			}
			st = next
			d.Rewrite, d.Outcome = r, st
			sc.begin()
			classes = classesOf(&st.Info)
		}
		if !r.Next {
			break
		}
	}
	d.Hits = sc.hits
	return d
}

// matches compares a rule with the text.
func (v *View) matches(sc *Scratch, st *Statement, k int) bool {
	r := v.rules[k]
	if r.named() {
		if len(sc.tables) == 0 {
			v.findNames(sc, st)
		}
		if len(r.tables) > 0 && !sc.tables[k] || len(r.databases) > 0 && !sc.databases[k] {
			return false
		}
	}
	if r.digest != nil {
		if len(sc.canon) == 0 {
			sc.canon, sc.folded = appendCanon(sc.canon, sc.folded, st.Text, st.Mode)
		}
		if !r.digested(sc.canon) {
			return false
		}
	}
	if r.pattern != nil {
		if len(sc.plain) == 0 {
			sc.plain = appendPlain(sc.plain, st.Text, st.Mode)
		}
		return r.pattern.Match(sc.plain)
	}
	return true
}

// findNames notes for each rule whether names that it looks for are in the text, or are the current database.
func (v *View) findNames(sc *Scratch, st *Statement) {
	sc.tables, sc.databases = clearedBools(sc.tables, len(v.rules)), clearedBools(sc.databases, len(v.rules))
	sc.name = appendLower(sc.name[:0], st.DB)
	v.foundDatabase(sc)
	l := sqltext.NewLexer(st.Text, st.Mode)
	// name is the last name in lower case; qualifier the one before it, if a dot is between.
	sc.qualifier, sc.name = sc.qualifier[:0], sc.name[:0]
	named := false
	for {
		t := l.Next()
		switch {
		case t.Kind == sqltext.KindWord || t.Kind == sqltext.KindQuotedIdent:
			if named {
				v.foundTable(sc, st)
				sc.qualifier = sc.qualifier[:0]
			}
			sc.name, named = sc.name[:0], true
			if t.Kind == sqltext.KindWord {
				sc.name = appendLower(sc.name, st.Text[t.Pos:t.End])
			} else {
				sc.name = appendLower(sc.name, sqltext.UnquoteIdent(st.Text[t.Pos:t.End], st.Mode))
			}
			v.foundDatabase(sc)
		case named && t.Kind == sqltext.KindOp && st.Text[t.Pos:t.End] == ".":
			v.foundTable(sc, st) // a.b.c: b is a's table, c one of its columns
			sc.qualifier = append(sc.qualifier[:0], sc.name...)
			named = false
		default:
			if named {
				v.foundTable(sc, st)
			}
			sc.qualifier, named = sc.qualifier[:0], false
		}
		if t.Kind == sqltext.KindEOF {
			return
		}
	}
}

// foundTable notes the rules about the table in sc.name.
func (v *View) foundTable(sc *Scratch, st *Statement) {
	for _, w := range v.tables[string(sc.name)] {
		switch {
		case w.db == "", len(sc.qualifier) > 0 && w.db == string(sc.qualifier), len(sc.qualifier) == 0 && equalLower(w.db, st.DB):
			sc.tables[w.rule] = true
		}
	}
}

// foundDatabase notes the rules about the database in sc.name.
func (v *View) foundDatabase(sc *Scratch) {
	for _, k := range v.databases[string(sc.name)] {
		sc.databases[k] = true
	}
}

// equalLower tells whether name in lower case is low.
func equalLower(low, name string) bool {
	if low == name {
		return true
	}
	var b [64]byte
	return string(appendLower(b[:0], name)) == low
}

func clearedBools(b []bool, n int) []bool {
	if cap(b) < n {
		return make([]bool, n)
	}
	b = b[:n]
	clear(b)
	return b
}
