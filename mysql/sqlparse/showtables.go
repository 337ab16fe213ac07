package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// ShowTables is SHOW [FULL] TABLES or SHOW TABLE STATUS.
type ShowTables struct {
	Full, Status bool
	DB           string // "" when not given
	Like         string // the pattern as a literal, quotes included
	LikeText     string // the pattern without quotes
	Where        string
}

// ParseShowTables reads the statement; ok is false for any other.
func ParseShowTables(text string, m sqltext.Mode) (sh ShowTables, ok bool) {
	tokens, ok := lex(text, m)
	if !ok {
		return sh, false
	}
	if n := len(tokens); n > 0 && tokens[n-1].Kind == sqltext.KindSemicolon {
		tokens = tokens[:n-1]
	}
	s := scan{tokens: tokens}
	if s.word() != "show" {
		return sh, false
	}
	s.k++
	if s.word() == "extended" {
		s.k++
	}
	if s.word() == "full" {
		sh.Full = true
		s.k++
	}
	switch s.word() {
	case "tables":
	case "table":
		if s.k++; s.word() != "status" {
			return sh, false
		}
		sh.Status = true
	default:
		return sh, false
	}
	s.k++
	if w := s.word(); w == "from" || w == "in" {
		if s.k+1 >= len(tokens) {
			return sh, false
		}
		sh.DB = tokens[s.k+1].word
		s.k += 2
	}
	switch s.word() {
	case "":
		return sh, s.k >= len(tokens)
	case "like":
		if s.k+2 != len(tokens) || tokens[s.k+1].Kind != sqltext.KindString {
			return sh, false
		}
		sh.Like = text[tokens[s.k+1].Pos:tokens[s.k+1].End]
		sh.LikeText, ok = sqltext.Unquote(sh.Like, m)
		return sh, ok
	case "where":
		if s.k+1 >= len(tokens) {
			return sh, false
		}
		sh.Where = strings.TrimSpace(text[tokens[s.k+1].Pos:tokens[len(tokens)-1].End])
		return sh, true
	}
	return sh, false
}
