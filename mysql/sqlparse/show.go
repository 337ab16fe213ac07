package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// ShowWhat is what a SHOW or DESCRIBE statement is about.
type ShowWhat uint8

// The statements about one table, then those about the tables of a database.
const (
	ShowColumns ShowWhat = iota // and DESCRIBE
	ShowIndex
	ShowCreate // of a table or a view
	ShowTables
	ShowTableStatus
	ShowOpenTables
	ShowTriggers
)

// Show is a SHOW or DESCRIBE statement that shows tables. MySQL manual: "SHOW Statements".
type Show struct {
	What ShowWhat
	Full bool
	// Table is the one that it is about, in the database that it is in; nil where it is about a database.
	Table *Table
	// From spans what names the table's database behind it, blanks included.
	From Span
	DB   string // that FROM names; "" without one
	Like string // the pattern as a literal, quotes included; "" without one
	// LikeText is the pattern without quotes.
	LikeText string
	Where    Span // of the condition
	// Named are the places in the condition of the column that has the table's name.
	Named []Span
	// NamedKeys are those of the column that has the name of an index.
	NamedKeys []Span
}

// OneTable tells whether the statement is about one table.
func (sh *Show) OneTable() bool { return sh.What <= ShowCreate }

// ParseShow reads the statement; ok is false for any other.
func ParseShow(text string, m sqltext.Mode) (sh Show, ok bool) {
	tokens, ok := lex(text, m)
	if !ok {
		return sh, false
	}
	return parseShow(text, tokens, m)
}

func parseShow(text string, tokens []token, m sqltext.Mode) (sh Show, ok bool) {
	s := newScan(tokens)
	switch w := s.word(); w {
	case "show":
		s.k++
		if s.skip("extended") && m.MariaDB {
			return sh, false // which does not know it
		}
		return sh, sh.read(&s) && sh.filter(&s, text, m)
	case "desc", "describe", "explain":
		s.k++
		return sh, sh.describe(&s, w == "explain")
	}
	return sh, false
}

// explained are the words that may follow EXPLAIN ahead of a statement.
var explained = map[string]bool{
	"select": true, "insert": true, "replace": true, "update": true, "delete": true, "with": true, "table": true, "values": true, "value": true,
	"analyze": true, "format": true, "extended": true, "partitions": true, "for": true, "into": true, "all": true,
}

// describe reads what follows DESCRIBE: a table, and perhaps a column or a pattern.
func (sh *Show) describe(s *scan, explain bool) bool {
	if w := s.word(); explained[w] && (w != "format" || explain) && w != "all" {
		return false
	}
	sh.Table = s.tableName()
	if sh.Table == nil {
		return false
	}
	if s.k < len(s.tokens) {
		switch s.tokens[s.k].Kind {
		case sqltext.KindWord, sqltext.KindQuotedIdent, sqltext.KindString:
			s.k++
		}
	}
	return s.k == len(s.tokens)
}

// read reads what follows SHOW, up to LIKE or WHERE.
func (sh *Show) read(s *scan) bool {
	sh.Full = s.skip("full")
	w := s.word()
	s.k++
	switch w {
	case "columns", "fields":
		return sh.ofTable(s)
	case "index", "indexes", "keys":
		sh.What = ShowIndex
		return sh.ofTable(s)
	case "create":
		sh.What = ShowCreate
		if !s.skip("table", "view") {
			return false
		}
		sh.Table = s.tableName()
		return sh.Table != nil
	case "tables":
		sh.What = ShowTables
	case "triggers":
		sh.What = ShowTriggers
	case "table":
		sh.What = ShowTableStatus
		if !s.skip("status") {
			return false
		}
	case "open":
		sh.What = ShowOpenTables
		if !s.skip("tables") {
			return false
		}
	default:
		return false
	}
	if !s.from() {
		return true
	}
	name, _, ok := s.identifier()
	sh.DB = name
	return ok
}

// ofTable reads FROM table [FROM db].
func (sh *Show) ofTable(s *scan) bool {
	if !s.from() {
		return false
	}
	if sh.Table = s.tableName(); sh.Table == nil {
		return false
	}
	if s.from() {
		name, at, ok := s.identifier()
		if !ok {
			return false
		}
		sh.Table.DB, sh.From = name, Span{sh.Table.At.End, at.End}
	}
	return true
}

// from passes over FROM or IN.
func (s *scan) from() bool { return s.skip("from", "in") }

// filter reads LIKE or WHERE, if they are there, up to the end.
func (sh *Show) filter(s *scan, text string, m sqltext.Mode) (ok bool) {
	switch w := s.word(); {
	case s.k >= len(s.tokens):
		return true
	case sh.What == ShowCreate:
		return false
	case w == "like" && s.k+2 == len(s.tokens) && s.tokens[s.k+1].Kind == sqltext.KindString:
		sh.Like = text[s.tokens[s.k+1].Pos:s.tokens[s.k+1].End]
		sh.LikeText, ok = sqltext.Unquote(sh.Like, m)
		return ok
	case w == "where" && s.k+1 < len(s.tokens):
		sh.Where = Span{s.tokens[s.k+1].Pos, s.tokens[len(s.tokens)-1].End}
		if sh.What == ShowIndex {
			sh.named(s.tokens[s.k+1:])
		}
		return true
	}
	return false
}

// named finds the places of the columns that have the table's name, and an index's.
func (sh *Show) named(tokens []token) {
	for k, t := range tokens {
		if t.Kind != sqltext.KindQuotedIdent && t.Kind != sqltext.KindWord || k > 0 && tokens[k-1].word == "." {
			continue
		}
		if w := strings.ToLower(t.word); w == "table" || w == "table_name" {
			sh.Named = append(sh.Named, Span{t.Pos, t.End})
		} else if w == "key_name" || w == "index_name" {
			sh.NamedKeys = append(sh.NamedKeys, Span{t.Pos, t.End})
		}
	}
}

// shown reads a statement that shows one table; nil for every other.
func shown(text string, tokens []token, m sqltext.Mode) *Statement {
	sh, ok := parseShow(text, tokens, m)
	if !ok || !sh.OneTable() {
		return nil
	}
	st := &Statement{Text: text, Kind: Describe, Tables: []*Table{sh.Table}, Show: &sh, CTENames: map[string]bool{}, columns: map[string]int{}}
	st.Params = paramsOf(tokens)
	return st
}
