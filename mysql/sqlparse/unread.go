package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// unread puts blanks over clauses that the parser does not know and that no plan looks into, and takes their tokens out:
// the alias of the new row in MySQL's INSERT ... VALUES (...) AS new ON DUPLICATE KEY UPDATE, IF EXISTS and its like in MariaDB's ALTER TABLE,
// and MariaDB's RETURNING, which it tells of, with the names that columns in it are qualified by. A clause in which parameters or queries may matter stays. MySQL manual: "INSERT ...
// ON DUPLICATE KEY UPDATE Statement"; MariaDB manual: "INSERT...RETURNING". Of a statement that EXPLAIN is about it only takes them out: who
// explains it parses it by itself.
func unread(text string, tokens []token, m sqltext.Mode) (read string, rest []token, returning bool, names []qualifier) {
	if len(tokens) == 0 {
		return text, tokens, false, nil
	}
	verb, explains := strings.ToLower(tokens[0].word), false
	if first := explainedFrom(tokens); verb == "explain" || verb == "describe" || verb == "desc" || verb == "analyze" && m.MariaDB && first > 0 && !is(tokens[first], "table") {
		text = plainExplain(text, tokens[:first])
		verb, explains = strings.ToLower(tokens[first].word), first > 0
	}
	from, to := 0, 0
	switch {
	case verb == "alter" && m.MariaDB:
		at := 0
		for _, cut := range alterWords(tokens) {
			begin, end := tokens[cut[0]].Pos, tokens[cut[1]-1].End
			read += text[len(read):begin] + strings.Repeat(" ", end-begin)
			rest = append(rest, tokens[at:cut[0]]...)
			at = cut[1]
		}
		return read + text[len(read):], append(rest, tokens[at:]...), false, nil
	case verb == "insert" && !m.MariaDB:
		from, to = newRowAlias(tokens)
	case m.MariaDB && (verb == "insert" || verb == "replace" || verb == "delete"):
		from, to = returningClause(tokens)
		returning, names = from < to, qualifiers(tokens[from:to])
	}
	if from == to {
		return text, tokens, false, nil
	}
	begin, end := tokens[from].Pos, tokens[to-1].End
	rest = append(append(rest, tokens[:from]...), tokens[to:]...)
	if explains {
		returning, names = false, nil
	}
	return text[:begin] + strings.Repeat(" ", end-begin) + text[end:], rest, returning, names
}

// plainExplain has a text begin with EXPLAIN alone, where the parser does not know the words ahead of the statement: ANALYZE, with which MariaDB's begins, and
// the names of formats.
func plainExplain(text string, ahead []token) string {
	b := []byte(text)
	blank := func(from, to int) {
		for k := from; k < to; k++ {
			b[k] = ' '
		}
	}
	for k, t := range ahead {
		switch {
		case k == 0 && is(t, "analyze"):
			copy(b[t.Pos:], "EXPLAIN")
		case is(t, "analyze"), is(t, "extended"), is(t, "partitions"):
			blank(t.Pos, t.End)
		case is(t, "format") && k+2 < len(ahead) && ahead[k+1].word == "=":
			blank(t.Pos, ahead[k+2].End)
		}
	}
	return string(b)
}

// alterWords gives the places of ONLINE, IGNORE, IF EXISTS and IF NOT EXISTS in MariaDB's ALTER TABLE, by token: the parser knows few of them, and no
// plan looks into them. MariaDB manual: "ALTER TABLE".
func alterWords(tokens []token) (cuts [][2]int) {
	table := 1
	for table < len(tokens) && (is(tokens[table], "online") || is(tokens[table], "ignore")) {
		table++
	}
	if table > 1 && table < len(tokens) && is(tokens[table], "table") {
		cuts = append(cuts, [2]int{1, table})
	}
	for k := 1; k+1 < len(tokens); k++ {
		end := k + 1
		if !is(tokens[k], "if") {
			continue
		}
		if is(tokens[end], "not") {
			end++
		}
		if end < len(tokens) && is(tokens[end], "exists") && tokens[k-1].word != "." && tokens[k-1].Kind == sqltext.KindWord {
			cuts = append(cuts, [2]int{k, end + 1})
		}
	}
	return cuts
}

// qualifier is what a column is qualified by: [database.]table.
type qualifier struct {
	Span
	db, table string
}

// qualifiers finds those of a clause.
func qualifiers(clause []token) (found []qualifier) {
	name := func(k int) bool {
		return k < len(clause) && (clause[k].Kind == sqltext.KindWord || clause[k].Kind == sqltext.KindQuotedIdent)
	}
	for k := 0; k < len(clause); {
		first := k
		for name(k) && k+1 < len(clause) && clause[k+1].word == "." && clause[k+1].Kind == sqltext.KindOp {
			k += 2
		}
		switch n := (k - first) / 2; {
		case n == 0:
			k++
			continue
		case n == 1:
			found = append(found, qualifier{Span{clause[first].Pos, clause[first].End}, "", clause[first].word})
		default:
			found = append(found, qualifier{Span{clause[first].Pos, clause[k-2].End}, clause[first].word, clause[k-2].word})
		}
		k++ // the column, or a star
	}
	return found
}

// changed is the table that an INSERT, a REPLACE, or a DELETE from one table is about; nil of other statements.
func (st *Statement) changed() *Table {
	switch {
	case st.Insert != nil:
		return st.Insert.Table
	case st.Kind == DeleteKind && !st.Change.Multi && len(st.Tables) > 0:
		return st.Tables[0]
	}
	return nil
}

// take has the qualifiers of RETURNING be places that name the table that a change is about; false where they are another's.
func (t *Table) take(names []qualifier) bool {
	for _, n := range names {
		if t == nil || n.table != t.Name || n.db != "" && t.DB != "" && n.db != t.DB {
			return false
		}
		t.Qualifiers = append(t.Qualifiers, n.Span)
	}
	return true
}

// newRowAlias finds AS new, or AS new(a, b), ahead of ON DUPLICATE KEY UPDATE; from and to are equal without it.
func newRowAlias(tokens []token) (from, to int) {
	depth := 0
	for k, t := range tokens {
		depth += t.nesting()
		switch {
		case depth > 0 || t.Kind != sqltext.KindWord:
		case is(t, "select"), is(t, "with"), is(t, "table"):
			return 0, 0 // it may be the alias of a table
		case is(t, "as") && k+2 < len(tokens):
			to = k + 2
			if tokens[to].word == "(" {
				for to < len(tokens) && tokens[to].word != ")" {
					to++
				}
				to++
			}
			if to+1 < len(tokens) && is(tokens[to], "on") && is(tokens[to+1], "duplicate") {
				return k, to
			}
			return 0, 0
		}
	}
	return 0, 0
}

// returningClause finds RETURNING and what follows; from and to are equal without it.
func returningClause(tokens []token) (from, to int) {
	depth := 0
	for k, t := range tokens {
		depth += t.nesting()
		switch {
		case from > 0 && (t.Kind == sqltext.KindParam || is(t, "select")):
			return 0, 0
		case from == 0 && depth == 0 && k > 0 && is(t, "returning") && tokens[k-1].word != "." && tokens[k-1].word != "," && !is(tokens[k-1], "as"):
			from = k
		}
	}
	if from == 0 {
		return 0, 0
	}
	return from, len(tokens)
}

// is tells whether a token is a keyword.
func is(t token, word string) bool {
	return t.Kind == sqltext.KindWord && strings.EqualFold(t.word, word)
}
