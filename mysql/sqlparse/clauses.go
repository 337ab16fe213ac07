package sqlparse

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// Clauses are the places of the clauses of a SELECT of one block that begins the text: no WITH, no parentheses around it, no
// set operation.
type Clauses struct {
	Calc    Span   // SQL_CALC_FOUND_ROWS
	Fields  []Span // the items of the select list, aliases included
	From    int    // of the word FROM; the end of the list without one
	Where   Span   // of WHERE and its condition
	Group   []Span // items
	GroupBy Span   // the whole clause, WITH ROLLUP included
	Having  Span   // the whole clause
	Order   []Span // items, without ASC and DESC
	OrderBy Span   // the whole clause
	Limit   Span   // the whole clause
	// Tail is behind LIMIT: FOR UPDATE and the like begin there.
	Tail int
	End  int // of the statement, a trailing semicolon and blanks left out
}

// clauseWords begin a clause at the outermost level.
var clauseWords = map[string]int{
	"from": 1, "where": 2, "group": 3, "having": 4, "window": 5, "order": 6, "limit": 7, "procedure": 8, "into": 8, "for": 8, "lock": 8,
}

// selectOptions stand between SELECT and the list.
var selectOptions = map[string]bool{
	"all": true, "distinct": true, "distinctrow": true, "high_priority": true, "straight_join": true, "sql_small_result": true,
	"sql_big_result": true, "sql_buffer_result": true, "sql_no_cache": true, "sql_cache": true, "sql_calc_found_rows": true,
}

// scan walks tokens with the depth of parentheses.
type scan struct {
	tokens []token
	k      int
}

// newScan begins at the first of tokens, of which it leaves out a semicolon at the end.
func newScan(tokens []token) scan {
	if n := len(tokens); n > 0 && tokens[n-1].Kind == sqltext.KindSemicolon {
		tokens = tokens[:n-1]
	}
	return scan{tokens: tokens}
}

// skip passes over one of the words, if one comes next.
func (s *scan) skip(words ...string) bool {
	if s.k >= len(s.tokens) || !slices.ContainsFunc(words, func(w string) bool { return is(s.tokens[s.k], w) }) {
		return false
	}
	s.k++
	return true
}

func (s *scan) word() string {
	if s.k >= len(s.tokens) || s.tokens[s.k].Kind != sqltext.KindWord {
		return ""
	}
	return strings.ToLower(s.tokens[s.k].word)
}

// SelectClauses finds the clauses; ok is false for any other form.
func SelectClauses(text string, m sqltext.Mode) (c Clauses, ok bool) {
	tokens, ok := lex(text, m)
	if !ok || len(tokens) == 0 {
		return c, false
	}
	s := newScan(tokens)
	tokens = s.tokens
	if !s.skip("select") {
		return c, false
	}
	for ; selectOptions[s.word()]; s.k++ {
		if s.word() == "sql_calc_found_rows" {
			c.Calc = Span{tokens[s.k].Pos, tokens[s.k].End}
		}
	}
	c.End = tokens[len(tokens)-1].End
	c.Tail = c.End
	c.From = c.End
	return c, c.walk(&s)
}

// group is the text within a pair of parentheses, or all of it.
type group struct {
	any     bool  // it has a word
	query   bool  // it begins with SELECT or WITH
	parted  bool  // it has a set operation
	selects []int // where SELECT stands in it
}

// block returns the query block of a group that ends there.
func (g *group) block(end int) (Span, bool) {
	if len(g.selects) != 1 || g.parted {
		return Span{}, false
	}
	return Span{g.selects[0], end}, true
}

// BlockAround finds the query block that has a place of the text in its own clauses, not in those of a subquery: from its SELECT to the end of the block, or of the text. ok is false where the block is
// one of a set operation, or that is not certain.
func BlockAround(text string, at Span, m sqltext.Mode) (block Span, ok bool) {
	tokens, ok := lex(text, m)
	if !ok {
		return block, false
	}
	groups := []group{{query: true}}
	found := -1 // the depth of the group that is the block
	for _, t := range tokens {
		if found < 0 && t.Pos >= at.Pos {
			for found = len(groups) - 1; found > 0 && !groups[found].query; found-- {
			}
		}
		g := &groups[len(groups)-1]
		word := ""
		if t.Kind == sqltext.KindWord {
			word = strings.ToLower(t.word)
		}
		if !g.any {
			g.any, g.query = true, g.query || word == "select" || word == "with"
		}
		switch n := t.nesting(); {
		case n > 0:
			groups = append(groups, group{})
		case n < 0:
			if found == len(groups)-1 && found > 0 {
				return groups[found].block(t.Pos)
			}
			if groups = groups[:len(groups)-1]; len(groups) == 0 {
				return block, false
			}
		case word == "select":
			g.selects = append(g.selects, t.Pos)
		case word == "union" || word == "except" || word == "intersect":
			g.parted = true
		}
	}
	if found != 0 || len(groups) != 1 || len(tokens) == 0 {
		return block, false
	}
	return groups[0].block(tokens[len(tokens)-1].End)
}

// walk goes through the clauses behind the options.
func (c *Clauses) walk(s *scan) bool {
	clause, depth := 0, 0
	start := s.k
	var begin int // where the present item begins
	if s.k < len(s.tokens) {
		begin = s.tokens[s.k].Pos
	}
	for ; s.k <= len(s.tokens); s.k++ {
		end := s.k == len(s.tokens)
		var t token
		next := -1
		if !end {
			t = s.tokens[s.k]
			depth += t.nesting()
			if depth < 0 {
				return false
			}
			if depth > 0 {
				continue
			}
			w := s.word()
			if w == "union" || w == "except" || w == "intersect" {
				return false
			}
			if clauses, is := clauseWords[w]; is && s.k > start && s.tokens[s.k-1].word != "." && !s.indexHint(w) {
				next = clauses
			}
			if clause == 8 {
				continue
			}
			if next < 0 && t.word == "," {
				c.item(s, clause, begin, t.Pos)
				if s.k+1 < len(s.tokens) {
					begin = s.tokens[s.k+1].Pos
				}
				continue
			}
		}
		if next < 0 && !end {
			continue
		}
		if next >= 0 && next < clause {
			return false
		}
		at := c.End
		if !end {
			at = s.tokens[s.k-1].End
		}
		c.item(s, clause, begin, at)
		if span := c.span(clause); span != nil {
			span.End = at
		}
		if end {
			return depth == 0
		}
		clause = next
		c.open(clause, t.Pos)
		if (clause == 3 || clause == 6) && s.k+1 < len(s.tokens) {
			s.k++ // BY
		}
		if s.k+1 < len(s.tokens) {
			begin = s.tokens[s.k+1].Pos
		}
	}
	return true
}

// indexHint tells whether a word that looks like a clause belongs to an index hint: USE INDEX FOR ORDER BY (i).
func (s *scan) indexHint(w string) bool {
	prev := func(n int) string {
		if s.k < n {
			return ""
		}
		return strings.ToLower(s.tokens[s.k-n].word)
	}
	isIndex := func(p string) bool { return p == "index" || p == "key" }
	switch w {
	case "for":
		return isIndex(prev(1))
	case "order", "group":
		return prev(1) == "for" && isIndex(prev(2))
	}
	return false
}

// item notes the end of an item of a list.
func (c *Clauses) item(s *scan, clause, begin, end int) {
	if begin >= end {
		return
	}
	span := Span{begin, end}
	switch clause {
	case 0:
		c.Fields = append(c.Fields, span)
	case 3:
		if w := s.wordBefore(end); w == "rollup" {
			span.End = s.behind(end, 2)
		}
		if w := s.wordBefore(span.End); w == "asc" || w == "desc" {
			span.End = s.behind(span.End, 1)
		}
		c.Group = append(c.Group, span)
	case 6:
		if w := s.wordBefore(end); w == "asc" || w == "desc" {
			span.End = s.behind(end, 1)
		}
		c.Order = append(c.Order, span)
	}
}

// wordBefore is the word that ends at end, in lower case.
func (s *scan) wordBefore(end int) string {
	for k := min(s.k, len(s.tokens)-1); k >= 0; k-- {
		if s.tokens[k].End == end && s.tokens[k].Kind == sqltext.KindWord {
			return strings.ToLower(s.tokens[k].word)
		}
	}
	return ""
}

// behind is where the text ends when the n tokens that end at end are left out.
func (s *scan) behind(end, n int) int {
	for k := min(s.k, len(s.tokens)-1); k >= n; k-- {
		if s.tokens[k].End == end {
			return s.tokens[k-n].End
		}
	}
	return end
}

func (c *Clauses) open(clause, pos int) {
	switch clause {
	case 1:
		c.From = pos
	case 8:
		c.Tail = pos
	}
	if span := c.span(clause); span != nil {
		span.Pos = pos
	}
}

// span is where the place of a clause is noted; nil if it is not.
func (c *Clauses) span(clause int) *Span {
	switch clause {
	case 2:
		return &c.Where
	case 3:
		return &c.GroupBy
	case 4:
		return &c.Having
	case 6:
		return &c.OrderBy
	case 7:
		return &c.Limit
	}
	return nil
}

// RowSpan is a row of VALUES, its parentheses included, and the places of its expressions.
type RowSpan struct {
	Span
	Cells []Span
}

// ValuesRows finds the rows of INSERT ... VALUES (...), (...) ...; ok is false when there are none.
func ValuesRows(text string, m sqltext.Mode) (rows []RowSpan, ok bool) {
	tokens, ok := lex(text, m)
	if !ok {
		return nil, false
	}
	depth, k := 0, 0
	for ; k < len(tokens); k++ {
		w := tokens[k].word
		depth += tokens[k].nesting()
		if depth == 0 && tokens[k].Kind == sqltext.KindWord && (strings.EqualFold(w, "values") || strings.EqualFold(w, "value")) &&
			k > 0 && tokens[k-1].word != "." && k+1 < len(tokens) && tokens[k+1].word == "(" {
			break
		}
	}
	for k++; k < len(tokens) && tokens[k].word == "("; {
		row := RowSpan{Span: Span{Pos: tokens[k].Pos}}
		depth, begin := 1, k+1
		for k++; k < len(tokens) && depth > 0; k++ {
			depth += tokens[k].nesting()
			if depth == 0 || depth == 1 && tokens[k].word == "," {
				if k > begin {
					row.Cells = append(row.Cells, Span{tokens[begin].Pos, tokens[k-1].End})
				}
				begin = k + 1
			}
		}
		if depth != 0 {
			return nil, false
		}
		row.End = tokens[k-1].End
		rows = append(rows, row)
		if k >= len(tokens) || tokens[k].word != "," {
			break
		}
		k++
	}
	return rows, len(rows) > 0
}

// InsertList finds where a column is added to those that an INSERT lists: behind the parenthesis that begins the list, behind SET in that form,
// and ahead of VALUES where listed says that there is no list. ok is false for other forms.
func InsertList(text string, m sqltext.Mode) (at int, listed, ok bool) {
	tokens, ok := lex(text, m)
	if !ok {
		return 0, false, false
	}
	depth, list := 0, -1
	for k, t := range tokens {
		if depth += t.nesting(); depth == 1 && t.word == "(" {
			list = k
		}
		if depth > 0 || t.Kind != sqltext.KindWord || k == 0 || tokens[k-1].word == "." {
			continue
		}
		switch {
		case strings.EqualFold(t.word, "set"):
			return t.End, true, true
		case !strings.EqualFold(t.word, "values") && !strings.EqualFold(t.word, "value") || k+1 == len(tokens) || tokens[k+1].word != "(":
		case tokens[k-1].word == ")" && list > 0 && !strings.EqualFold(tokens[list-1].word, "partition"):
			return tokens[list].End, true, true
		default:
			return t.Pos, false, true
		}
	}
	return 0, false, false
}

// InsertSelectList finds, in an INSERT ... SELECT, where its columns are listed, behind the parenthesis, unless listed is false, and where the word
// SELECT begins. ok is false for other forms, and for a query in parentheses.
func InsertSelectList(text string, m sqltext.Mode) (list int, listed bool, query int, ok bool) {
	tokens, ok := lex(text, m)
	depth, open := 0, -1
	for k, t := range tokens {
		if depth += t.nesting(); depth == 1 && t.word == "(" {
			open = k
		}
		if ok && depth == 0 && k > 0 && is(t, "select") && tokens[k-1].word != "." {
			listed = tokens[k-1].word == ")" && open > 0 && !is(tokens[open-1], "partition")
			if listed {
				list = tokens[open].End
			}
			return list, listed, t.Pos, true
		}
	}
	return 0, false, 0, false
}

// WithoutAlias gives the place of an item's expression: of "a + 1 AS x" and "a + 1 x" that of "a + 1". The item is known
// to have an alias.
func WithoutAlias(text string, s Span) Span {
	tokens, ok := lex(text[s.Pos:s.End], sqltext.Mode{})
	if !ok || len(tokens) < 2 {
		return s
	}
	last := len(tokens) - 2
	if tokens[last].Kind == sqltext.KindWord && strings.EqualFold(tokens[last].word, "as") {
		last--
	}
	if last < 0 {
		return s
	}
	return Span{s.Pos, s.Pos + tokens[last].End}
}

// CallArgument gives what is between the parentheses of a call that is all of a span: of "f(a, b)" that of "a, b".
func CallArgument(text string, s Span) (Span, bool) {
	tokens, ok := lex(text[s.Pos:s.End], sqltext.Mode{})
	if !ok || len(tokens) < 4 || tokens[1].word != "(" || tokens[len(tokens)-1].word != ")" {
		return s, false
	}
	return Span{s.Pos + tokens[2].Pos, s.Pos + tokens[len(tokens)-2].End}, true
}

// Explained gives the statement that EXPLAIN is about; ok is false for other forms, such as EXPLAIN FOR CONNECTION.
func Explained(text string, m sqltext.Mode) (string, bool) {
	tokens, ok := lex(text, m)
	if !ok {
		return "", false
	}
	first := explainedFrom(tokens)
	if first == 0 {
		return "", false
	}
	return text[tokens[first].Pos:], true
}

// explainedFrom finds the first token of the statement that EXPLAIN is about; 0 is none.
func explainedFrom(tokens []token) int {
	opened := 0 // parentheses right ahead of the word: a set operation may begin with one
	for k := 1; k < len(tokens) && k < 6+opened; k++ {
		switch strings.ToLower(tokens[k].word) {
		case "select", "insert", "replace", "update", "delete", "with", "table", "values":
			return k - opened
		case "(":
			opened++
		default:
			opened = 0
		}
	}
	return 0
}
