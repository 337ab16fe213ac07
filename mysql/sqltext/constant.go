package sqltext

import "strings"

// Tableless tells whether a query reads no table: it has no FROM but of DUAL alone.
func Tableless(sql string, m Mode) bool {
	l := NewLexer(sql, m)
	for t := l.Next(); t.Kind != KindEOF; t = l.Next() {
		if t.Kind != KindWord || !foldEqual(sql[t.Pos:t.End], "from") {
			continue
		}
		if t = l.Next(); t.Kind != KindWord || !foldEqual(sql[t.Pos:t.End], "dual") {
			return false
		}
		t = l.Next()
		switch text := sql[t.Pos:t.End]; {
		case t.Kind == KindEOF:
			return true
		case t.Kind == KindSemicolon, text == ")", foldEqual(text, "limit"), foldEqual(text, "where"), foldEqual(text, "union"):
		default:
			return false
		}
	}
	return true
}

// constantMax is the length in bytes of the longest text that Constant and ShownVariables read.
const constantMax = 4 << 10

// constantFunctions are those that give the same on every server of a version, for the same arguments in the same session.
var constantFunctions = map[string]bool{
	"cast": true, "char": true, "coalesce": true, "concat": true, "concat_ws": true, "database": true, "schema": true, "version": true, "if": true, "ifnull": true,
	"nullif": true, "lower": true, "upper": true, "length": true, "char_length": true, "replace": true, "left": true, "right": true, "substring": true,
	"connection_id": true, "user": true, "current_user": true, "session_user": true, "system_user": true, "abs": true, "hex": true, "in": true,
	"and": true, "or": true, "not": true, "select": true, "as": true, "limit": true, "varchar": true, "decimal": true, "binary": true,
}

// changing are words that are values of their own, without parentheses, which no two servers need have alike.
var changing = map[string]bool{
	"current_timestamp": true, "current_date": true, "current_time": true, "localtime": true, "localtimestamp": true, "utc_timestamp": true, "utc_date": true,
	"utc_time": true, "sysdate": true, "current_role": true, "next": true, "previous": true, "procedure": true, "rownum": true, "div": true,
}

// Constant tells whether what a query gives follows from its text, the system variables it names and what is the session's own: literals, and
// functions of them that are the same wherever they are computed. A query with tables is none, nor one that names a variable of the server's,
// @@global.x: what the session has of it says nothing there. The names are in lower case and without their scopes.
func Constant(sql string, m Mode) (variables []string, ok bool) {
	if len(sql) > constantMax || !Tableless(sql, m) {
		return nil, false
	}
	l := NewLexer(sql, m)
	word, last := "", ""
	for t := l.Next(); t.Kind != KindEOF; t = l.Next() {
		text := sql[t.Pos:t.End]
		before, ahead := word, last
		word, last = "", strings.ToLower(text)
		switch t.Kind {
		case KindWord:
			word = last
			if (ahead == "select" || ahead == "," || ahead == "(") && !operandWords[word] && !followedBy(l, sql, "(") {
				return nil, false // the name of something
			}
			if word == "convert_tz" && utc(&l, sql) {
				variables = append(variables, TimeZones)
				word = ""
			} else if changing[word] {
				return nil, false
			}
		case KindQuotedIdent:
			word = "`"
		case KindString, KindNumber, KindHex, KindBit, KindSemicolon:
		case KindSysVar:
			scope, name := splitSysVar(text)
			if scope != "" && !foldEqual(scope, "session") && !foldEqual(scope, "local") {
				return nil, false
			}
			variables = append(variables, strings.ToLower(UnquoteIdent(name, m)))
		case KindOp:
			if text == "(" && before != "" && !constantFunctions[before] || text == "." || text == "/" {
				return nil, false // quotients have as many digits as a variable says
			}
		default:
			return nil, false
		}
	}
	return variables, !l.Doubt()
}

// operandWords are the words that may begin an item or an argument and are no names.
var operandWords = map[string]bool{"null": true, "true": true, "false": true, "not": true, "case": true, "binary": true, "distinct": true, "all": true, "sql_no_cache": true,
	"date": true, "time": true, "timestamp": true, "_utf8mb4": true, "_binary": true, "_latin1": true, "_utf8": true, "_utf8mb3": true}

// followedBy tells whether a text is the next token.
func followedBy(l Lexer, sql, text string) bool {
	t := l.Next()
	return sql[t.Pos:t.End] == text
}

// TimeZones is what Constant calls the knowledge of time zones by name, which servers have or have not.
const TimeZones = "convert_tz('','utc','utc')"

// utc passes over the arguments of CONVERT_TZ where both zones are UTC: the question of applications whether the server knows zones by name.
func utc(l *Lexer, sql string) bool {
	after := *l
	for _, want := range []string{"(", "'", ",", "'utc'", ",", "'utc'", ")"} {
		t := after.Next()
		text := sql[t.Pos:t.End]
		if want == "'" && t.Kind == KindString {
			continue
		}
		if !foldEqual(text, want) {
			return false
		}
	}
	*l = after
	return true
}

// ShownVariables gives the names that SHOW VARIABLES asks for by LIKE and =, in lower case; false where it is not plain which these are, and
// for SHOW GLOBAL VARIABLES.
func ShownVariables(sql string, m Mode) (names []string, ok bool) {
	if len(sql) > constantMax {
		return nil, false
	}
	p := newParser(sql, m)
	if !p.words("show") {
		return nil, false
	}
	p.oneOf("session", "local")
	if !p.words("variables") || p.oneOf("like", "where") == "" {
		return nil, false
	}
	for ; p.tok.Kind != KindEOF && p.tok.Kind != KindSemicolon; p.next() {
		text := sql[p.tok.Pos:p.tok.End]
		switch p.tok.Kind {
		case KindString:
			name := strings.ToLower(strings.Trim(text, `'"`))
			if strings.ContainsAny(name, `%'"\`) || name == "" {
				return nil, false
			}
			names = append(names, name)
		case KindWord, KindQuotedIdent:
			switch strings.ToLower(UnquoteIdent(text, m)) {
			case "variable_name", "or", "in", "like":
			default:
				return nil, false
			}
		case KindOp:
			if text != "=" && text != "(" && text != ")" && text != "," {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return names, !p.l.Doubt() && len(names) > 0
}
