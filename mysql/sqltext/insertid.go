package sqltext

import "strings"

// MayGiveID tells whether an INSERT or REPLACE may itself say that the AUTO_INCREMENT column of a row is id, which is not 0: then
// the OK packet has the id, while LAST_INSERT_ID() stays as it was. False is certain but for parameters and triggers. MySQL
// manual: "Information Functions", "mysql_insert_id()".
func MayGiveID(sql string, m Mode, id uint64) bool {
	l := NewLexer(sql, m)
	values := false // the words that bring the values were seen
	for {
		t := l.Next()
		switch t.Kind {
		case KindEOF, KindSemicolon:
			return l.Doubt()
		case KindNumber:
			if n, ok := digits(sql[t.Pos:t.End]); !ok || n == id {
				return true
			}
		case KindString:
			if text := sql[t.Pos:t.End]; IsNumberID(text[strings.IndexAny(text, `'"`)+1:], id) {
				return true
			}
		case KindHex, KindBit, KindUserVar, KindSysVar, KindInvalid:
			return true
		case KindOp:
			if !strings.Contains("(),=.", sql[t.Pos:t.End]) {
				return true
			}
		case KindQuotedIdent:
			if values && !assigned(l, sql) {
				return true
			}
		case KindWord:
			word := sql[t.Pos:t.End]
			switch {
			case foldEqual(word, "select"), foldEqual(word, "table"), foldEqual(word, "with"), foldEqual(word, "duplicate"), foldEqual(word, "returning"):
				return true
			case foldEqual(word, "values"), foldEqual(word, "value"), foldEqual(word, "set"):
				values = true
			case values && !wordsOfNoID[strings.ToLower(word)] && word[0] != '_' && !assigned(l, sql):
				return true
			case values && id == 1 && foldEqual(word, "true"):
				return true
			}
		}
	}
}

// wordsOfNoID are those among the values of an INSERT that give no number like an id.
var wordsOfNoID = map[string]bool{
	"null": true, "default": true, "true": true, "false": true, "row": true, "now": true, "current_timestamp": true, "current_date": true,
	"current_time": true, "curdate": true, "curtime": true, "utc_timestamp": true, "utc_date": true, "utc_time": true, "localtime": true,
	"localtimestamp": true, "sysdate": true, "uuid": true, "date": true, "time": true, "timestamp": true, "n": true,
}

// assigned tells whether = follows a name, or the rest of the name: it is a column that gets a value.
func assigned(l Lexer, sql string) bool {
	t := l.Next()
	return t.Kind == KindOp && (sql[t.Pos] == '=' || sql[t.Pos] == '.')
}

// digits reads an unsigned integer.
func digits(text string) (n uint64, ok bool) {
	for k := range len(text) {
		if !isDigit(text[k]) || n > (1<<64-1)/10-1 {
			return 0, false
		}
		n = n*10 + uint64(text[k]-'0')
	}
	return n, len(text) > 0
}

// IsNumberID tells whether a text may be id for a server that takes it for a number.
func IsNumberID(text string, id uint64) bool {
	text = strings.TrimLeft(text, " \t\r\n\v\f")
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	if n == 0 {
		return len(text) > 0 && strings.IndexByte(`+-.\`, text[0]) >= 0
	}
	if n < len(text) && strings.IndexByte(`.eE\`, text[n]) >= 0 {
		return true
	}
	got, ok := digits(text[:n])
	return !ok || got == id
}

// MayInsertSome tells whether an INSERT or REPLACE that fails may have inserted rows before: it has several, or a query.
func MayInsertSome(sql string, m Mode) bool {
	l := NewLexer(sql, m)
	depth, rows := 0, 0
	for values := false; ; {
		t := l.Next()
		switch t.Kind {
		case KindEOF, KindSemicolon:
			return rows > 1
		case KindWord:
			switch word := sql[t.Pos:t.End]; {
			case foldEqual(word, "select"), foldEqual(word, "table"), foldEqual(word, "with"):
				return true
			case depth == 0 && (foldEqual(word, "values") || foldEqual(word, "value")):
				values = true
			}
		case KindOp:
			switch sql[t.Pos] {
			case '(':
				if depth++; depth == 1 && values {
					rows++
				}
			case ')':
				depth--
			}
		}
	}
}
