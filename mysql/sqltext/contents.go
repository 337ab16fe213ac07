package sqltext

import "strings"

// Bounds of ContentsOf: how deep statements may be within each other, and how many of them are read.
const (
	contentsDepth = 8
	contentsMax   = 4096
)

// Inner is a statement that another one contains.
type Inner struct {
	Text string // from its first token to its last, without comments where it has version comments
	Info Info   // of Text
	Mode Mode   // that Text is read in
	// Later tells that it is part of a routine, a trigger or an event: it is carried out when that runs.
	Later bool
	// Expressions tells that it is none by itself but expressions of the statement around it, of class Do: a condition, a default.
	Expressions bool
	// Assigned tells that it is what SET STATEMENT sets, as a SET of its own, of class Set.
	Assigned bool
}

// Dynamic is a text of PREPARE or EXECUTE IMMEDIATE that only the server can tell.
type Dynamic struct {
	// Pos and End bound the expression in the text that ContentsOf was given, if Direct.
	Pos, End int
	// Direct tells that the statement itself, or that behind SET STATEMENT ... FOR, prepares it: it can be known ahead.
	Direct bool
	// Later is as in Inner.
	Later bool
}

// Contents are the statements within one, at any depth, in the order of the text.
type Contents struct {
	Inner   []Inner
	Dynamic []Dynamic
	// Unread tells that some of it was not read: too deep, too much, or nothing that is known.
	Unread bool
	// Versions tells that something in it has a version comment: servers of other versions may read others.
	Versions bool
	// Text is the statement, with blanks in the place of comments if it has version comments.
	Text string

	// modes tells that texts within it may be read in another mode: it names sql_mode, or what runs ahead of them may change it, whose
	// text may be in disguise or have been prepared before.
	modes bool
}

// Contains reports whether a statement is of a class that may contain others.
func (i *Info) Contains() bool {
	switch i.Class {
	case SetStatement, Prepare, Execute, CompoundBegin:
		return true
	case DDL:
		return i.Traits&Body != 0
	case Begin, Other:
		return i.Traits&Doubt != 0 // blocks of MariaDB's Oracle mode
	case Explain:
		return i.Traits&Analyze != 0
	}
	return false
}

// ContentsOf reads the statements that a statement contains, and those within them: what SET STATEMENT is for and what it sets, the
// texts of PREPARE and EXECUTE IMMEDIATE, the statements of compound ones and of the bodies of routines, triggers and events, what
// ANALYZE and EXPLAIN ANALYZE carry out. MariaDB Knowledge Base: "SET STATEMENT", "EXECUTE IMMEDIATE", "BEGIN END"; MySQL
// manual: "PREPARE Statement", "Compound Statement Syntax".
func ContentsOf(sql string, m Mode) Contents {
	var c collector
	text := c.flat(sql, m)
	c.Text, c.modes = text, Mentions(text, "sql_mode")
	c.within(text, m, place{})
	return c.Contents
}

// Know adds the statement whose text a Dynamic was found to be, and what is within it.
func (c *Contents) Know(text string, m Mode) {
	more := collector{Contents: Contents{modes: c.modes}}
	more.quoted(text, m, place{hidden: true})
	c.Inner, c.Dynamic = append(c.Inner, more.Inner...), append(c.Dynamic, more.Dynamic...)
	c.Unread, c.Versions = c.Unread || more.Unread, c.Versions || more.Versions
}

// place is where a statement is found.
type place struct {
	depth int
	later bool
	// hidden tells that it is not carried out at once, or not in the text that was given; else it begins at base there.
	hidden bool
	base   int
}

// collector gathers Contents.
type collector struct {
	Contents
}

// add notes a statement, and what is within it.
func (c *collector) add(in Inner, at place) {
	if len(c.Inner) >= contentsMax || at.depth >= contentsDepth {
		c.Unread = true
		return
	}
	in.Later = at.later
	c.Inner = append(c.Inner, in)
	if in.Info.Contains() && !in.Expressions {
		at.depth++
		c.within(in.Text, in.Mode, at)
	}
}

// statement notes the first statement of a text.
func (c *collector) statement(text string, m Mode, at place) {
	info := Classify(text, m)
	at.base += info.First
	c.add(Inner{Text: text[info.First:info.End], Info: info, Mode: m}, at)
}

// within reads what is in a statement.
func (c *collector) within(text string, m Mode, at place) {
	s := scanner{sql: text, l: NewLexer(text, m), maria: m.MariaDB}
	info := s.run()
	switch {
	case !info.Contains():
	case info.Class == SetStatement:
		c.setStatement(text, m, s.within, at)
	case info.Class == Explain && s.within > 0:
		at.hidden = true
		c.statement(text[s.within:], m, at)
	case info.Class == Prepare, info.Class == Execute:
		c.prepared(text, m, at)
	case info.Class == DDL:
		at.later, at.hidden = true, true
		w := walker{c: c, p: newParser(text, m), at: at}
		if w.header() {
			c.modes = true
			w.body()
		}
	case info.Class == CompoundBegin, m.MariaDB && isBlock(text, m):
		at.hidden = true
		c.modes = true
		w := walker{c: c, p: newParser(text, m), at: at}
		w.body()
	}
}

// isBlock reports whether a text may begin a block of MariaDB's Oracle mode: a label, declarations, BEGIN.
func isBlock(text string, m Mode) bool {
	p := newParser(text, m)
	return p.isOp("<<") || p.is("declare") || p.is("begin")
}

// setStatement reads SET STATEMENT assignments FOR a statement, which begins at within.
func (c *collector) setStatement(text string, m Mode, within int, at place) {
	p := newParser(text, m)
	p.words("set", "statement")
	from := p.tok.Pos
	if within <= from {
		c.Unread = true // there is none
		return
	}
	set := "SET " + strings.TrimSpace(text[from:within])
	if n := len(set) - len("for"); n > 0 && strings.EqualFold(set[n:], "for") {
		set = set[:n]
	}
	c.add(Inner{Text: set, Info: Classify(set, m), Mode: m, Assigned: true}, at)
	at.base += within
	c.statement(text[within:], m, at)
}

// prepared reads PREPARE name FROM text and EXECUTE IMMEDIATE text; there is nothing in EXECUTE name.
func (c *collector) prepared(text string, m Mode, at place) {
	p := newParser(text, m)
	switch {
	case p.words("execute", "immediate"):
	case p.words("prepare"):
		if p.next(); !p.words("from") {
			return // which no server reads
		}
	default:
		return
	}
	first := p.tok
	end, n, least := first.Pos, 0, 0
	depth := 0
	for p.tok.Kind != KindEOF && p.tok.Kind != KindSemicolon && (depth > 0 || !p.is("using")) {
		depth += p.nesting()
		least = min(least, depth)
		end = p.tok.End
		n++
		p.next()
	}
	literal := text[first.Pos:end]
	inner, ok := "", false
	if n == 1 && first.Kind == KindString {
		inner, ok = Unquote(literal, m)
	}
	if !ok {
		d := Dynamic{Later: at.later}
		if !at.hidden && n > 0 && depth == 0 && least == 0 {
			d.Pos, d.End, d.Direct = at.base+first.Pos, at.base+end, true
		}
		c.Dynamic = append(c.Dynamic, d)
		return
	}
	at.hidden = true
	c.quoted(inner, m, at)
}

// quoted notes the statement in a text that is prepared.
func (c *collector) quoted(text string, m Mode, at place) {
	if m.Charset.Multibyte() && !IsASCII(text) {
		c.Unread = true // servers read such texts in another character set
		return
	}
	for _, m := range c.readings(text, m) {
		c.statement(c.flat(text, m), m, at)
	}
}

// readings are the modes in which a quoted text may be read. Those that read it alike count once.
func (c *collector) readings(text string, m Mode) []Mode {
	list := []Mode{m}
	if c.modes && strings.ContainsAny(text, "\\\"") {
		for _, other := range [...]Mode{{}, {ANSIQuotes: true}, {NoBackslashEscapes: true}, {ANSIQuotes: true, NoBackslashEscapes: true}} {
			one := m
			one.ANSIQuotes, one.NoBackslashEscapes = other.ANSIQuotes, other.NoBackslashEscapes
			if one != m {
				list = append(list, one)
			}
		}
	}
	return list
}

// IsASCII reports whether a text has no byte beyond ASCII.
func IsASCII(s string) bool {
	for k := range len(s) {
		if s[k] >= 0x80 {
			return false
		}
	}
	return true
}

// flat gives a text with blanks in the place of its comments and of the marks of its version comments, as long as it was, if it has
// any version comments; else the text itself. Pieces of the outcome read as they do in the text.
func (c *collector) flat(sql string, m Mode) string {
	if !strings.Contains(sql, "/*!") && !strings.Contains(sql, "/*M!") {
		return sql
	}
	c.Versions = true
	b := []byte(strings.Repeat(" ", len(sql)))
	l := NewLexer(sql, m)
	for t := l.Next(); t.Kind != KindEOF; t = l.Next() {
		copy(b[t.Pos:t.End], sql[t.Pos:t.End])
	}
	return string(b)
}

// expressionsOf classifies expressions that are part of another statement.
func expressionsOf(text string, m Mode) Info {
	s := scanner{sql: text, l: NewLexer(text, m), maria: m.MariaDB, class: Do}
	return s.run()
}
