package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// maintain reads ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE, whose options differ by server: only the names matter. It is nil
// for every other statement.
func maintain(text string, tokens []token) *Statement {
	s := scan{tokens: tokens}
	if !s.skip("analyze", "check", "checksum", "optimize", "repair") {
		return nil
	}
	s.skip("no_write_to_binlog", "local")
	tables, _ := s.tableList()
	if tables == nil {
		return nil
	}
	return &Statement{Text: text, Kind: Maintain, Tables: tables, CTENames: map[string]bool{}, columns: map[string]int{}}
}

// dropList finds the names of DROP TABLE.
func dropList(tokens []token) Span {
	s := scan{tokens: tokens, k: 1}
	s.skip("temporary")
	_, list := s.tableList()
	return list
}

// tableList reads TABLE [IF EXISTS] name [, name]...; nil if that is not there.
func (s *scan) tableList() (tables []*Table, list Span) {
	if !s.skip("table", "tables") {
		return nil, Span{}
	}
	if s.word() == "if" {
		s.k += 2
	}
	for {
		t := s.tableName()
		if t == nil {
			return nil, Span{}
		}
		tables = append(tables, t)
		if !s.op(",") {
			return tables, Span{tables[0].At.Pos, t.At.End}
		}
	}
}

// tableName reads [db.]name.
func (s *scan) tableName() *Table {
	name, at, ok := s.identifier()
	if !ok {
		return nil
	}
	t := &Table{Name: name, At: at}
	if s.op(".") {
		if name, at, ok = s.identifier(); !ok {
			return nil
		}
		t.DB, t.Name, t.At.End = t.Name, name, at.End
	}
	return t
}

func (s *scan) identifier() (name string, at Span, ok bool) {
	if s.k >= len(s.tokens) {
		return "", at, false
	}
	t := s.tokens[s.k]
	if t.Kind != sqltext.KindWord && t.Kind != sqltext.KindQuotedIdent {
		return "", at, false
	}
	s.k++
	return strings.Clone(t.word), Span{t.Pos, t.End}, true
}

// op passes over an operator, if it is the next token.
func (s *scan) op(op string) bool {
	if s.k >= len(s.tokens) || s.tokens[s.k].Kind != sqltext.KindOp || s.tokens[s.k].word != op {
		return false
	}
	s.k++
	return true
}
