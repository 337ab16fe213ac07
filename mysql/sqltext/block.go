package sqltext

// BlockStatement is a statement of a block.
type BlockStatement struct {
	Text string
	Info Info // of Text
	// Line is where it begins in the block's text, from 1.
	Line int
}

// ParseBlock takes a block apart that consists of statements about rows alone, one behind the other: BEGIN NOT ATOMIC ...; ...; END. ok is false for
// every other, such as one that declares something, or has a condition or a loop. MariaDB Knowledge Base: "BEGIN END".
func ParseBlock(sql string, m Mode) (list []BlockStatement, ok bool) {
	p := newParser(sql, m)
	if !p.words("begin") || !p.words("not", "atomic") {
		return nil, false
	}
	line, counted := 1, 0
	for !p.is("end") {
		from, end := p.tok.Pos, p.tok.Pos
		for p.tok.Kind != KindSemicolon {
			if p.tok.Kind == KindEOF {
				return nil, false
			}
			end = p.tok.End
			p.next()
		}
		p.next()
		for ; counted < from; counted++ {
			if sql[counted] == '\n' {
				line++
			}
		}
		st := BlockStatement{Text: sql[from:end], Line: line}
		if st.Info = Classify(st.Text, m); !ofBlock(&st.Info) {
			return nil, false
		}
		list = append(list, st)
	}
	p.next()
	return list, len(list) > 0 && p.done()
}

// ofBlock reports whether a statement is about rows, and can be read for certain.
func ofBlock(i *Info) bool {
	switch i.Class {
	case Select, With, Values, Table, Insert, Replace, Update, Delete, Do:
		return !i.Has(Doubt | VersionComment | Multi | IntoOutfile)
	}
	return false
}
