package differential

import "strings"

// part is a piece of a statement: words, a constant, or parts in a row. Shrinking takes parts away.
type part struct {
	text  string
	value *value // a constant, which a prepared statement may have as a parameter
	isDB  bool   // the name of the database
	kids  []*part
	sep   string

	// least is how many kids of a list must stay; a part that is no list keeps them all.
	list  bool
	least int
	// optional parts can be taken away, but not before the part needed by is gone.
	optional bool
	neededBy *part
	// stands are parts inside that can stand for the whole.
	stands []*part

	gone   bool
	chosen *part // one of stands
}

func words(s string) *part { return &part{text: s} }

func constant(v value) *part { return &part{value: &v} }

// phrase is parts with spaces between them; a part that is nil is left out.
func phrase(kids ...*part) *part { return &part{kids: kids, sep: " "} }

// join is parts without anything between them.
func join(kids ...*part) *part { return &part{kids: kids} }

// listOf is parts with commas between them, of which least must stay.
func listOf(least int, kids ...*part) *part {
	return &part{kids: kids, sep: ", ", list: true, least: least}
}

func wordList(names ...string) *part { return words(strings.Join(names, ", ")) }

func maybe(p *part) *part {
	if p != nil {
		p.optional = true
	}
	return p
}

// or lets p be replaced by parts inside it.
func (p *part) or(stands ...*part) *part {
	p.stands = stands
	return p
}

func (p *part) present() bool { return p != nil && !p.gone }

// rendered is a statement as it is sent.
type rendered struct {
	sql  string
	args []any
}

// render gives the text for a database, with the constants as parameters if it is to be prepared.
func (p *part) render(db string, prepared bool) rendered {
	w := writer{db: db, prepared: prepared}
	w.write(p)
	return rendered{w.b.String(), w.args}
}

type writer struct {
	b        strings.Builder
	db       string
	prepared bool
	args     []any
}

func (w *writer) write(p *part) {
	switch {
	case !p.present():
		return
	case p.chosen != nil:
		w.write(p.chosen)
		return
	case p.isDB:
		w.b.WriteString(w.db)
	case p.value != nil && w.prepared && p.value.sql != null.sql:
		w.b.WriteByte('?')
		w.args = append(w.args, p.value.arg)
	case p.value != nil:
		w.b.WriteString(p.value.sql)
	}
	w.b.WriteString(p.text)
	first := true
	for _, kid := range p.kids {
		if !kid.present() {
			continue
		}
		if !first {
			w.b.WriteString(p.sep)
		}
		first = false
		w.write(kid)
	}
}

// steps are the ways to make a statement one step simpler, the largest first. Each gives the way back.
func (p *part) steps(add func(func() (undo func()))) {
	if !p.present() {
		return
	}
	if p.chosen != nil {
		p.chosen.steps(add)
		return
	}
	if p.optional {
		add(func() func() {
			if p.gone || p.neededBy.present() {
				return nil
			}
			p.gone = true
			return func() { p.gone = false }
		})
	}
	for _, stand := range p.stands {
		add(func() func() {
			if p.chosen != nil {
				return nil
			}
			p.chosen = stand
			return func() { p.chosen = nil }
		})
	}
	if p.list {
		for _, kid := range p.kids {
			add(func() func() {
				if kid.gone || kid.optional || p.here() <= p.least {
					return nil
				}
				kid.gone = true
				return func() { kid.gone = false }
			})
		}
	}
	for _, kid := range p.kids {
		if kid != nil {
			kid.steps(add)
		}
	}
}

// here is how many kids are there.
func (p *part) here() int {
	n := 0
	for _, kid := range p.kids {
		if kid.present() {
			n++
		}
	}
	return n
}

// clauses finds the optional parts that begin with a word.
func (p *part) clauses(word string, found func(*part)) {
	switch {
	case !p.present():
	case p.chosen != nil:
		p.chosen.clauses(word, found)
	case p.optional && len(p.kids) > 0 && p.kids[0].text == word:
		found(p)
	default:
		for _, kid := range p.kids {
			kid.clauses(word, found)
		}
	}
}

// leaveOut leaves out all optional parts that begin with one of the words, until back is called, and returns how many these are.
func (p *part) leaveOut(words ...string) (n int, back func()) {
	var left []*part
	for _, word := range words {
		p.clauses(word, func(clause *part) {
			clause.gone = true
			left = append(left, clause)
		})
	}
	return len(left), func() {
		for _, clause := range left {
			clause.gone = false
		}
	}
}

// databaseIn puts the name of the database wherever words have {db}.
func databaseIn(s string) *part {
	p := new(part)
	for k, text := range strings.Split(s, "{db}") {
		if k > 0 {
			p.kids = append(p.kids, &part{isDB: true})
		}
		p.kids = append(p.kids, words(text))
	}
	return p
}
