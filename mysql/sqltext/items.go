package sqltext

import "strings"

// Item is an item of a select list.
type Item struct {
	Pos, End int // bytes of the text, an alias included
	// Unnamed tells that it has no alias for certain: its text is the column's name.
	Unnamed bool
	// Plain tells that it is a column's name, or all columns.
	Plain bool
}

// Items finds the items of all select lists in a text, at any depth of parentheses, in the order in which they end.
func Items(sql string, m Mode) []Item {
	w := itemsWalk{sql: sql, levels: []itemLevel{{}}}
	l := NewLexer(sql, m)
	for t := l.Next(); t.Kind != KindEOF; t = l.Next() {
		w.token(t)
	}
	for len(w.levels) > 0 {
		w.close()
	}
	return w.items
}

// itemsWalk is one Items under way.
type itemsWalk struct {
	sql    string
	levels []itemLevel // the text's, and those of the open parentheses
	items  []Item
}

// itemLevel is what is known within one pair of parentheses.
type itemLevel struct {
	listed bool    // within a select list
	item   []Token // the tokens of the item at hand; a pair of parentheses is one
	open   int     // where the pair at hand begins in the level above
	maybe  bool    // the item's last token is one of mayEndItems: an alias, or the end of the list
}

func (w *itemsWalk) token(t Token) {
	level := &w.levels[len(w.levels)-1]
	text := w.sql[t.Pos:t.End]
	word := ""
	if t.Kind == KindWord && !w.pointed(level.item) {
		word = strings.ToLower(text)
	}
	if level.maybe {
		level.maybe = false
		if !(text == "," || text == ")" || t.Kind == KindSemicolon || endsItems[word] || mayEndItems[word]) {
			level.item = level.item[:len(level.item)-1]
			w.end()
			level.listed = false
		}
	}
	switch {
	case t.Kind == KindSemicolon:
		w.end()
		level.listed = false
	case t.Kind == KindOp && text == "(":
		w.levels = append(w.levels, itemLevel{open: t.Pos})
	case t.Kind == KindOp && text == ")":
		if len(w.levels) == 1 {
			return
		}
		from := level.open
		w.close()
		if level = &w.levels[len(w.levels)-1]; level.listed {
			level.item = append(level.item, Token{Kind: KindOp, Pos: from, End: t.End})
		}
	case word == "select":
		w.end()
		level.listed = true
	case !level.listed:
	case t.Kind == KindOp && text == ",":
		w.end()
	case endsItems[word]:
		w.end()
		level.listed = false
	case len(level.item) == 0 && itemOptions[word]:
	default:
		level.maybe = mayEndItems[word] && w.complete(level.item)
		level.item = append(level.item, t)
	}
}

// endsItems are the words that end a select list, or the statement that it is of: reserved ones.
var endsItems = wordSet("from into where group having order limit union for lock procedure on fetch")

// mayEndItems are further ones, which are aliases as well, as some servers do not reserve them: what follows tells.
var mayEndItems = wordSet("except intersect minus offset returning rows window")

// itemOptions are the words between SELECT and its first item.
var itemOptions = wordSet("all distinct distinctrow high_priority straight_join sql_big_result sql_buffer_result sql_cache sql_calc_found_rows sql_no_cache sql_small_result")

// operatorWords are the words that an operand follows: reserved ones.
var operatorWords = wordSet("collate and or not like div mod xor is regexp rlike between binary case when then else interval")

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// end ends the item at hand.
func (w *itemsWalk) end() {
	level := &w.levels[len(w.levels)-1]
	if n := len(level.item); level.listed && n > 0 {
		w.items = append(w.items, Item{level.item[0].Pos, level.item[n-1].End, w.unnamed(level.item), w.plain(level.item)})
	}
	level.item = level.item[:0]
}

// close ends a pair of parentheses.
func (w *itemsWalk) close() {
	w.end()
	w.levels = w.levels[:len(w.levels)-1]
}

// plain tells whether an item is a name, or ends with the * that stands for all columns.
func (w *itemsWalk) plain(item []Token) bool {
	for k, t := range item {
		text := w.sql[t.Pos:t.End]
		if named := t.Kind == KindWord || t.Kind == KindQuotedIdent; named != (k%2 == 0) && text != "*" || !named && text != "." && (text != "*" || k < len(item)-1) {
			return false
		}
	}
	return true
}

// unnamed tells whether an item has no alias for certain.
func (w *itemsWalk) unnamed(item []Token) bool {
	ends := 0 // of CASE
	for k, t := range item {
		if t.Kind != KindWord || w.pointed(item[:k]) {
			continue
		}
		switch strings.ToLower(w.sql[t.Pos:t.End]) {
		case "as":
			return false
		case "case":
			ends--
		case "end":
			ends++
		}
	}
	n := len(item) - 1
	last := item[n]
	text := w.sql[last.Pos:last.End]
	switch {
	case n == 0:
		return true
	case last.Kind == KindOp:
		return text[0] == '('
	case last.Kind != KindWord && last.Kind != KindQuotedIdent && last.Kind != KindString:
		return true
	case strings.EqualFold(text, "end") && ends == 0:
		return true
	}
	for n > 1 && w.sql[item[n-1].Pos:item[n-1].End] == "." {
		n -= 2
	}
	return n == 0 || !w.complete(item[:n])
}

// pointed tells whether tokens end with a point, behind which any word is a name.
func (w *itemsWalk) pointed(item []Token) bool {
	n := len(item) - 1
	return n >= 0 && w.sql[item[n].Pos:item[n].End] == "."
}

// complete tells whether the tokens of an item may be a whole expression, which an alias may follow.
func (w *itemsWalk) complete(item []Token) bool {
	n := len(item) - 1
	if n < 0 {
		return false
	}
	text := w.sql[item[n].Pos:item[n].End]
	switch item[n].Kind {
	case KindOp:
		return text[0] == '('
	case KindWord:
		return w.pointed(item[:n]) || !operatorWords[strings.ToLower(text)]
	}
	return true
}
