package sqlparse

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// jsonTable has JSON_TABLE, whose name is a token, be a derived table of its document and of columns with its names. How many rows it has nothing
// tells, as it is a set operation. MySQL manual: "JSON Table Functions".
func jsonTable(tokens []token, k int) []respelling {
	end := closing(tokens, k+1)
	comma := k + 2
	for ; comma < end && !(tokens[comma].word == "," && tokens[comma].Kind == sqltext.KindOp); comma++ {
		if tokens[comma].word == "(" && tokens[comma].Kind == sqltext.KindOp {
			comma = max(closing(tokens, comma), comma)
		}
	}
	if end < 0 || comma >= end {
		return nil
	}
	var names []string
	var lists []bool // of the parentheses that are open: whether they are of COLUMNS
	for at := comma; at < end; at++ {
		switch t := tokens[at]; {
		case t.Kind == sqltext.KindParam:
			return nil
		case t.Kind == sqltext.KindOp && t.word == "(":
			lists = append(lists, is(tokens[at-1], "columns"))
		case t.Kind == sqltext.KindOp && t.word == ")":
			lists = lists[:len(lists)-1]
			continue
		case t.Kind != sqltext.KindOp || t.word != ",":
			continue
		}
		if name := tokens[at+1]; len(lists) > 0 && lists[len(lists)-1] && isName(name) && !is(name, "nested") {
			names = append(names, backquoted(name.word))
		}
	}
	if len(names) == 0 {
		return nil
	}
	columns := " AS " + strings.Join(names, ", 1 AS ") + " UNION ALL SELECT 1" + strings.Repeat(", 1", len(names)-1) + ")"
	return []respelling{respell(tokens, k, k+1, "LATERAL (SELECT "), respell(tokens, comma, end, columns)}
}

// withTies takes FETCH ... WITH TIES, which ends at a token, out of its query block, and gives the block a window, as which rows it returns depends on all of them.
// MariaDB Knowledge Base: "FETCH".
func withTies(tokens []token, last int) []respelling {
	first, windows := last, false
	for ; first > 0 && !is(tokens[first], "fetch"); first-- {
		if tokens[first].Kind == sqltext.KindParam {
			return nil
		}
	}
	if first > 2 && (is(tokens[first-1], "rows") || is(tokens[first-1], "row")) && is(tokens[first-3], "offset") {
		if first -= 3; tokens[first+1].Kind == sqltext.KindParam {
			return nil
		}
	}
	for k, depth := first-1, 0; k > 0 && depth >= 0; k-- {
		depth -= tokens[k].nesting()
		if depth > 0 {
			continue
		}
		windows = windows || is(tokens[k], "window")
		if is(tokens[k], "order") && !windows {
			return []respelling{respell(tokens, k, k, "WINDOW ks_ties AS () ORDER"), respell(tokens, first, last, "")}
		}
	}
	return nil
}

// fetched has [OFFSET ... ROWS] FETCH ... ROWS ONLY be LIMIT, in the text for the server as well, as clauses are found by their words. Everything else stays where it is in the text.
// MariaDB Knowledge Base: "FETCH".
func fetched(text string, tokens []token) string {
	var b []byte
	put := func(from, to int, word string) {
		if b == nil {
			b = []byte(text)
		}
		for k := from + copy(b[from:to], word); k < to; k++ {
			b[k] = ' '
		}
	}
	rows := func(k int) bool { return k < len(tokens) && (is(tokens[k], "row") || is(tokens[k], "rows")) }
	amount := func(k int) bool {
		return k < len(tokens) && (tokens[k].Kind == sqltext.KindNumber || tokens[k].Kind == sqltext.KindParam)
	}
	for k := 1; k+1 < len(tokens); k++ {
		begin := k
		if is(tokens[k], "offset") && amount(k+1) && rows(k+2) {
			k += 3
		}
		if k+1 >= len(tokens) || !is(tokens[k], "fetch") || !is(tokens[k+1], "first") && !is(tokens[k+1], "next") {
			k = begin
			continue
		}
		count := k + 2
		only := count + 1
		if amount(count) {
			only++
		}
		if !rows(only-1) || only >= len(tokens) || !is(tokens[only], "only") {
			k = begin
			continue
		}
		limit, head := "LIMIT", begin
		if begin < k {
			put(tokens[begin].Pos, tokens[begin].End, limit)
			limit, head = ",", begin+2
		}
		if !amount(count) {
			put(tokens[head].Pos, tokens[only].End, limit+" 1")
		} else {
			put(tokens[head].Pos, tokens[count].Pos, limit)
			put(tokens[count].End, tokens[only].End, "")
		}
		k = only
	}
	if b == nil {
		return text
	}
	return string(b)
}

// aggregated finds what the parser does not know of MariaDB's aggregates: MEDIAN and PERCENTILE_CONT over windows, and clauses within JSON_ARRAYAGG. To a plan they are
// windows and aggregates like others. MariaDB Knowledge Base: "MEDIAN", "PERCENTILE_CONT", "JSON_ARRAYAGG".
func aggregated(tokens []token, k int) (list []respelling) {
	end := closing(tokens, k+1)
	if end < 0 {
		return nil
	}
	put := func(from, to int, text string) { list = append(list, respell(tokens, from, to, text)) }
	word := func(at int, w string) bool { return wordAt(tokens, at) == w }
	switch {
	case is(tokens[k], "median") && word(end+1, "over"):
		put(k, k, "MAX")
	case (is(tokens[k], "percentile_cont") || is(tokens[k], "percentile_disc")) && word(end+1, "within") && word(end+2, "group") && word(end+4, "order") && word(end+5, "by"):
		put(k, k, "LEAD")
		put(end, end+5, ", 1, ")
		if last := closing(tokens, end+3) - 1; last > 0 && (is(tokens[last], "asc") || is(tokens[last], "desc")) {
			put(last, last, "")
		}
	case is(tokens[k], "json_arrayagg"):
		for at := k + 2; at < end; at++ {
			switch t := tokens[at]; {
			case t.Kind == sqltext.KindOp && t.word == "(":
				at = max(closing(tokens, at), at)
			case is(t, "distinct") && at == k+2, is(t, "asc"), is(t, "desc"):
				put(at, at, "")
			case is(t, "order") && word(at+1, "by"):
				put(at, at+1, ", ")
			case is(t, "limit"):
				if slices.ContainsFunc(tokens[at:end], func(t token) bool { return t.Kind == sqltext.KindParam }) {
					return nil
				}
				put(at, end-1, "")
				at = end
			}
		}
		if len(list) > 0 {
			put(k+1, k+1, "(CONCAT(")
			put(end, end, "))")
		}
	}
	return list
}

// valuesTable gives the rows of MariaDB's VALUES, whose token this is, the word that MySQL's have. MariaDB Knowledge Base: "Table Value Constructors".
func valuesTable(tokens []token, k int) (list []respelling) {
	for k++; k < len(tokens) && tokens[k].word == "(" && tokens[k].Kind == sqltext.KindOp; k += 2 {
		list = append(list, respell(tokens, k, k, "ROW("))
		if k = closing(tokens, k); k < 0 || k+1 >= len(tokens) || tokens[k+1].word != "," {
			break
		}
	}
	return list
}

// columnNames finds derived tables whose columns have other names than their query's, (SELECT ...) AS t (a, b), and names them by a common table expression.
// MySQL manual: "Derived Tables".
func columnNames(tokens []token) (list []respelling) {
	var open []int
	for k := 0; k < len(tokens); k++ {
		switch tokens[k].nesting() {
		case 1:
			open = append(open, k)
		case -1:
			if len(open) == 0 {
				return nil
			}
			from := open[len(open)-1]
			open = open[:len(open)-1]
			at := k + 1
			if at < len(tokens) && is(tokens[at], "as") {
				at++
			}
			first := tokens[from+1]
			if at+1 >= len(tokens) || !isName(tokens[at]) || tokens[at+1].word != "(" || !is(first, "select") && !is(first, "with") && !is(first, "values") && !is(first, "table") || from == 0 {
				continue
			}
			if prev := tokens[from-1]; prev.word != "," && !slices.ContainsFunc([]string{"from", "join", "straight_join", "lateral"}, func(w string) bool { return is(prev, w) }) {
				continue
			}
			end := closing(tokens, at+1)
			if end < 0 {
				return nil
			}
			var names strings.Builder
			for _, t := range tokens[at+1 : end+1] {
				if t.Kind == sqltext.KindQuotedIdent {
					names.WriteString(backquoted(t.word))
					continue
				}
				names.WriteString(t.word)
			}
			list = append(list,
				respell(tokens, from, from, "(WITH ks_named "+names.String()+" AS ("), respell(tokens, k, k, ") SELECT * FROM ks_named)"), respell(tokens, at+1, end, ""))
		}
	}
	return list
}
