package tracing

import (
	"strings"

	"kingshard/mysql/sqltext"
)

const (
	// summaryMax bounds a summary, in bytes. OpenTelemetry: "Semantic conventions for database client spans".
	summaryMax = 255
	// summaryTokens is how many tokens of a text it is made of, and summaryDepth how deep in parentheses.
	summaryTokens, summaryDepth = 512, 32
)

// Summary names a statement for people: what it does and to which tables, in the order of the text, as "INSERT archive SELECT
// orders". It has no values, so that there are few summaries. It is made of words, not of a tree: a table that it misses is
// missing in a name, nowhere else.
func Summary(text string, m sqltext.Mode) string {
	s := summarizer{text: text, lexer: sqltext.NewLexer(text, m)}
	for range summaryTokens {
		t := s.lexer.Next()
		if t.Kind == sqltext.KindEOF || t.Kind == sqltext.KindSemicolon || len(s.out) >= summaryMax {
			break
		}
		s.take(t)
	}
	return string(s.out[:min(len(s.out), summaryMax)])
}

// level is what is known of one depth of parentheses.
type level struct {
	query bool // it holds a query, not arguments of a function
	from  bool // a list of tables goes on
}

type summarizer struct {
	text  string
	lexer sqltext.Lexer
	out   []byte

	levels [summaryDepth]level
	depth  int
	target bool   // the next name is a table's
	dotted bool   // the next name goes on with the last one
	named  bool   // the last token was the name of a table
	main   bool   // it is known what the statement does to rows
	prev   string // the last word, in upper case; "" behind anything else
}

func (s *summarizer) take(t sqltext.Token) {
	word := s.text[t.Pos:t.End]
	named := s.named
	s.named = false
	switch t.Kind {
	case sqltext.KindWord:
		s.word(word)
		return
	case sqltext.KindQuotedIdent:
		if len(word) > 1 {
			s.name(word[1 : len(word)-1])
		}
	case sqltext.KindOp:
		s.operator(word, named)
	default:
		s.target, s.dotted = false, false
	}
	s.prev = ""
}

func (s *summarizer) operator(op string, named bool) {
	in := &s.levels[s.depth]
	switch op {
	case "(":
		s.target = false
		s.depth = min(s.depth+1, summaryDepth-1)
		s.levels[s.depth] = level{}
	case ")":
		s.depth = max(s.depth-1, 0)
	case ",":
		s.target = in.from
	case ".":
		s.dotted = named
	default:
		s.target = false
	}
}

// name takes an identifier.
func (s *summarizer) name(name string) {
	switch {
	case s.dotted:
		s.out = append(append(s.out, '.'), name...)
	case s.target:
		s.add(name)
	default:
		return
	}
	s.target, s.dotted, s.named = false, false, true
}

func (s *summarizer) add(word string) {
	if len(s.out) > 0 {
		s.out = append(s.out, ' ')
	}
	s.out = append(s.out, word...)
}

// word takes a word, which is one of SQL's or a name.
func (s *summarizer) word(text string) {
	if s.dotted {
		s.name(text)
		s.prev = ""
		return
	}
	word := strings.ToUpper(text)
	prev := s.prev
	s.prev = word
	in := &s.levels[s.depth]
	switch word {
	case "SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE":
		if word == "SELECT" || s.depth == 0 && !s.main {
			s.operation(word)
			return
		}
	}
	if len(s.out) == 0 {
		s.add(word)
		in.query = true
		s.target = word == "CALL" || word == "TRUNCATE" || word == "DESCRIBE"
		return
	}
	switch word {
	case "FROM":
		if in.query { // else it is the one of EXTRACT or TRIM
			s.target, in.from = true, true
		}
	case "JOIN", "STRAIGHT_JOIN", "TABLES":
		s.target, in.from = true, true
	case "INTO", "TABLE", "VIEW":
		if word == "TABLE" && !s.main {
			s.add(word)
		}
		s.target, in.from = true, prev == "DROP"
	case "ON", "USING", "OUTFILE", "DUMPFILE":
		s.target = false
	case "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "SET", "VALUES", "UNION", "WINDOW":
		s.target, in.from = false, false
	case "IF", "NOT", "EXISTS", "IGNORE", "LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK", "ONLY", "LATERAL":
	default:
		s.name(text)
	}
}

// operation takes a word that says what a query or a change does.
func (s *summarizer) operation(word string) {
	s.add(word)
	in := &s.levels[s.depth]
	in.query, in.from = true, word == "UPDATE"
	s.target = word == "UPDATE" || word == "INSERT" || word == "REPLACE"
	s.main = s.main || s.depth == 0
}
