package sqltext

// walker reads the statements of a compound statement or of a routine's body. It does not check that they are right: what no server reads
// does no harm, and what one reads is found.
type walker struct {
	c  *collector
	p  *parser
	at place
}

// body reads to the end of the text; a statement is next.
func (w *walker) body() {
	for w.p.tok.Kind != KindEOF {
		w.next()
	}
}

// next reads a statement, or what comes ahead of one.
func (w *walker) next() {
	p := w.p
	switch {
	case p.tok.Kind == KindSemicolon:
		p.next()
	case p.isOp("<<"):
		for p.tok.Kind != KindEOF && !p.isOp(">>") {
			p.next()
		}
		p.next()
	case w.label():
	case p.words("begin"):
		p.words("not", "atomic")
	case p.words("loop"), p.words("repeat"), p.words("else"), p.words("exception"), p.words("is"), p.words("as"):
	case p.words("procedure"), p.words("function"):
		w.routine() // within a package
	case p.words("end"):
		w.pass()
	case p.words("declare"):
		w.declare()
	case p.words("if"), p.words("elseif"), p.words("elsif"), p.words("case"), p.words("when"):
		w.expressions("then", "")
	case p.words("while"), p.words("for"):
		w.expressions("do", "loop")
	case p.words("until"):
		w.expressions("end", "")
	case p.words("open"):
		w.open()
	case p.words("return"), p.words("leave"), p.words("iterate"), p.words("fetch"), p.words("close"), p.words("goto"), p.words("exit"),
		p.words("continue"), p.words("raise"):
		w.expressions("", "")
	default:
		w.statement()
	}
}

// label passes over a name and a colon.
func (w *walker) label() bool {
	if k := w.p.tok.Kind; k != KindWord && k != KindQuotedIdent {
		return false
	}
	saved := *w.p
	if w.p.next(); w.p.op(":") {
		return true
	}
	*w.p = saved
	return false
}

// pass passes over the rest of a statement, and gives its end.
func (w *walker) pass() (end int) {
	for end = w.p.tok.Pos; w.p.tok.Kind != KindEOF && w.p.tok.Kind != KindSemicolon; w.p.next() {
		end = w.p.tok.End
	}
	return end
}

// statement notes the statement at hand.
func (w *walker) statement() {
	from := w.p.tok.Pos
	w.c.statement(w.p.sql[from:w.pass()], w.p.mode, w.at)
}

// expressions notes those up to one of two words, outside of CASE expressions, or up to the statement's end. The word is passed over.
func (w *walker) expressions(until, or string) {
	p := w.p
	from, end, cases := p.tok.Pos, p.tok.Pos, 0
	for p.tok.Kind != KindEOF && p.tok.Kind != KindSemicolon {
		if p.tok.Kind == KindWord {
			if text := p.text(); cases == 0 && until != "" && (foldEqual(text, until) || or != "" && foldEqual(text, or)) {
				break
			} else if foldEqual(text, "case") {
				cases++
			} else if foldEqual(text, "end") {
				cases--
			}
		}
		end = p.tok.End
		p.next()
	}
	if end > from {
		text := p.sql[from:end]
		w.c.add(Inner{Text: text, Info: expressionsOf(text, p.mode), Mode: p.mode, Expressions: true}, w.at)
	}
	switch {
	case p.tok.Kind == KindEOF || until == "":
	case foldEqual(until, "end") && p.is("end"):
		w.pass()
	default:
		p.next()
	}
}

// declare reads DECLARE: behind the conditions of a handler there is a statement, a cursor has a query.
func (w *walker) declare() {
	p := w.p
	if p.oneOf("continue", "exit", "undo") != "" && p.words("handler", "for") {
		for more := true; more; more = p.op(",") {
			switch {
			case p.words("sqlstate"):
				p.words("value")
				p.next()
			case p.words("not", "found"):
			default:
				p.next() // a name, a code, SQLEXCEPTION, SQLWARNING
			}
		}
		return
	}
	saved := *p
	if p.next(); p.words("cursor") {
		w.open()
		return
	}
	*p = saved
	w.expressions("", "")
}

// open reads what is behind the name of a cursor: arguments, and FOR with a query or the name of a prepared statement.
func (w *walker) open() {
	p := w.p
	from, end := p.tok.Pos, p.tok.Pos
	depth := 0
	for p.tok.Kind != KindEOF && p.tok.Kind != KindSemicolon {
		if depth == 0 && (p.is("for") || p.is("is")) {
			p.next()
			w.query()
			return
		}
		depth += p.nesting()
		end = p.tok.End
		p.next()
	}
	if end > from {
		text := p.sql[from:end]
		w.c.add(Inner{Text: text, Info: expressionsOf(text, p.mode), Mode: p.mode, Expressions: true}, w.at)
	}
}

// query notes what a cursor is for: a query, the name of a prepared statement, or a text that is not known.
func (w *walker) query() {
	if w.p.tok.Kind == KindEOF || w.p.tok.Kind == KindSemicolon {
		return
	}
	from := *w.p
	tokens := 0
	for w.p.tok.Kind != KindEOF && w.p.tok.Kind != KindSemicolon {
		tokens++
		w.p.next()
	}
	if k := from.tok.Kind; tokens == 1 && (k == KindWord || k == KindQuotedIdent) {
		return // it was read where it was prepared
	}
	if !from.is("select") && !from.is("with") && !from.is("values") && !from.is("table") && !from.isOp("(") {
		w.c.Dynamic = append(w.c.Dynamic, Dynamic{Later: w.at.later})
	}
	*w.p = from
	w.statement()
}

// header reads the head of CREATE and ALTER of what has a body, up to the body; it returns false where there is none.
func (w *walker) header() bool {
	p := w.p
	for p.tok.Kind != KindEOF {
		switch {
		case p.words("definer"):
			p.op("=")
			p.next()
		case p.words("procedure"), p.words("function"):
			return w.routine()
		case p.words("trigger"):
			return w.trigger()
		case p.words("event"):
			return w.upTo("do")
		case p.words("package"):
			return w.upTo("as") || w.upTo("is")
		case p.words("library"):
			return false
		default:
			p.next()
		}
	}
	return false
}

// upTo passes over all up to a word outside of parentheses, and over that. If it is not there nothing is passed over.
func (w *walker) upTo(word string) bool {
	saved, depth := *w.p, 0
	for w.p.tok.Kind != KindEOF {
		switch {
		case w.p.isOp("("):
			depth++
		case w.p.isOp(")"):
			depth--
		case depth == 0 && w.p.words(word):
			return true
		}
		w.p.next()
	}
	*w.p = saved
	return false
}

// trigger reads up to the body of a trigger.
func (w *walker) trigger() bool {
	if !w.upTo("row") {
		return false
	}
	if w.p.oneOf("follows", "precedes") != "" {
		w.p.next()
	}
	return true
}

// routine reads up to the body of a procedure or function, which is where the first statement begins behind its characteristics.
func (w *walker) routine() bool {
	p := w.p
	p.words("if", "not", "exists")
	for p.next(); p.op("."); {
		p.next()
	}
	w.p.group()
	if p.words("return") {
		w.kind() // of a function, in MariaDB's Oracle mode
	}
	for p.tok.Kind != KindEOF {
		switch {
		case p.words("returns"):
			w.kind()
		case p.words("comment"), p.words("language"), p.words("authid"):
			p.next()
		case p.words("not", "deterministic"), p.words("deterministic"), p.words("contains", "sql"), p.words("no", "sql"),
			p.words("reads", "sql", "data"), p.words("modifies", "sql", "data"), p.words("aggregate"):
		case p.words("sql", "security"):
			p.next()
		case p.words("using"):
			w.p.group()
		case p.words("soname"):
			return false
		case p.words("as"), p.words("is"):
			if p.tok.Kind == KindString || p.tok.Kind == KindInvalid || p.tok.Kind == KindWord && p.text()[0] == '$' {
				return false // in another language
			}
			return true
		case w.begins():
			return true
		default:
			p.next()
		}
	}
	w.c.Unread = true
	return false
}

// begins reports whether a statement is next.
func (w *walker) begins() bool {
	for _, word := range [...]string{
		"begin", "if", "case", "while", "for", "loop", "repeat", "return", "declare", "leave", "iterate", "signal", "resignal",
	} {
		if w.p.is(word) {
			return true
		}
	}
	if saved := *w.p; w.label() {
		*w.p = saved
		return true
	}
	return w.p.isOp("<<") || w.p.isOp("(") || w.p.tok.Kind == KindWord && Classify(w.p.sql[w.p.tok.Pos:], w.p.mode).Class != Other
}

// kind passes over the type of a function.
func (w *walker) kind() {
	p := w.p
	p.next()
	for p.tok.Kind != KindEOF {
		switch {
		case p.isOp("("):
			w.p.group()
		case p.isOp("."), p.isOp("%"), p.words("charset"), p.words("collate"), p.words("character", "set"), p.words("char", "set"):
			if p.isOp(".") || p.isOp("%") {
				p.next()
			}
			p.next()
		case p.oneOf("unsigned", "signed", "zerofill", "ascii", "unicode", "byte", "binary", "national", "varying", "precision", "varchar",
			"varbinary", "char", "character") != "":
		default:
			return
		}
	}
}
