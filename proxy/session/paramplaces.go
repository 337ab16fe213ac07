package session

import (
	"encoding/hex"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
)

// argument is the value of a parameter.
type argument struct {
	value    value.Value
	unsigned bool // it is a number that may not go below 0
}

// literal writes the value in SQL, for a place.
func (a argument) literal(p paramPlace, m sqltext.Mode) (text string, err error) {
	if !m.MariaDB && p.converts(a.value.Kind()) {
		return "", newError(KSRefusedSharding, "EXECUTE of a text on a table with a rule, with a value that MySQL converts to what the place of its parameter is for: CAST it in the text")
	}
	switch v := a.value; v.Kind() {
	case value.Int, value.Uint:
		text = v.String()
		switch {
		case p.limit:
		case a.unsigned && (p.selected || p.arithmetic):
			text = "(" + text + " << 0)"
		case p.selected:
			text = "IF(TRUE, " + text + ", -9223372036854775807)"
		case p.ordinal && !m.MariaDB: // which goes by a column of that number
			text = "(" + text + " + 0)"
		}
	case value.Decimal:
		switch text = v.Text(); {
		case p.operand && !m.MariaDB && len(text) <= 36:
			text = "CAST(" + text + " AS DECIMAL(65,30))" // the type of a user variable
		case (p.selected || p.arithmetic) && !strings.Contains(text, "."):
			text = "CAST(" + text + " AS DECIMAL(65))"
		}
	case value.Float:
		text = strconv.FormatFloat(v.Float(), 'e', -1, 64)
	case value.Bytes:
		if text = "x'" + hex.EncodeToString([]byte(v.Text())) + "'"; m.MariaDB {
			text = "_binary " + text
		} else {
			text = "CAST(" + text + " AS BINARY)"
		}
	case value.String:
		var ok bool
		if text, ok = sqltext.QuoteString(v.Text(), m); !ok {
			return "", newError(KSRefusedSharding, "EXECUTE with a value that is no text in the client's character set")
		}
	default:
		switch text = "NULL"; {
		case p.limit:
			text = "0"
		case p.whole && !m.MariaDB:
			text = "CAST(NULL AS CHAR)"
		case p.operand && !m.MariaDB:
			text = "CAST(NULL AS SIGNED)"
		}
	}
	if p.limit && !a.value.IsNull() {
		if err := a.limits(m); err != nil {
			return "", err
		}
	}
	if p.alias {
		text = "(" + text + ")" // a string that follows another is a part of that
	}
	return p.before + text + p.behind, nil
}

// limits returns what servers say of the value in LIMIT.
func (a argument) limits(m sqltext.Mode) error {
	switch v := a.value; {
	case v.Kind() == value.Uint, v.Kind() == value.Int && v.Int() >= 0:
		return nil
	case v.Kind() == value.Int && !m.MariaDB:
		return &mysql.SQLError{Code: erDataOutOfRange, State: "22003", Message: "unsigned integer value is out of range in 'EXECUTE'"}
	case v.Kind() == value.Int, !m.MariaDB:
		return errExecuteArguments
	}
	return newError(KSRefusedSharding, "EXECUTE of a text on a table with a rule, with a LIMIT that is no whole number: SET the variable to one")
}

// erDataOutOfRange is the code of a number that its type has no room for. MySQL manual: "Server Error Message Reference".
const erDataOutOfRange = 1690

var errExecuteArguments = mysql.NewSQLError(mysql.ERWrongArguments, "Incorrect arguments to EXECUTE")

// paramPlace is where a parameter stands in a text.
type paramPlace struct {
	pos, end       int
	before, behind string // what keeps a literal apart from its neighbours
	selected       bool   // in a select list: its type is a column's
	whole          bool   // the column itself
	united         bool   // of a text that may unite the rows of queries
	arithmetic     bool   // of a text that computes: whether a number may be below 0 matters
	operand        bool   // of an operator that computes
	ordinal        bool   // as a whole in ORDER BY or GROUP BY, where a literal counts columns
	limit          bool
	alias          bool // ahead of a string, its alias
}

// converts reports whether MySQL may make another value of one of a kind: to an operator that computes a parameter is a number, in a column of a
// UNION of the type of its others. MySQL manual: "PREPARE Statement".
func (p paramPlace) converts(kind value.Kind) bool {
	switch kind {
	case value.String:
		return p.operand
	case value.Bytes:
		return p.operand || p.whole && p.united
	case value.Decimal:
		return p.whole && p.united
	}
	return false
}

// paramPlaces finds the parameters of a text.
func paramPlaces(text string, m sqltext.Mode) (list []paramPlace) {
	items := sqltext.Items(text, m)
	clauses := []string{""} // by, limit or neither: that at hand, and those outside of open parentheses
	arithmetic := false
	var last sqltext.Token
	was := "" // the text of last, in lower case
	l := sqltext.NewLexer(text, m)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		word, clause := strings.ToLower(text[t.Pos:t.End]), &clauses[len(clauses)-1]
		computes := computing(word, was)
		if n := len(list); last.Kind == sqltext.KindParam {
			list[n-1].alias, list[n-1].operand = t.Kind == sqltext.KindString, list[n-1].operand || computes
		}
		switch {
		case t.Kind == sqltext.KindParam:
			p := paramPlace{pos: t.Pos, end: t.End, limit: *clause == "limit", ordinal: *clause == "by" && (was == "by" || was == ","), operand: operators[was]}
			if t.Pos > 0 && strings.IndexByte(" (,=", text[t.Pos-1]) < 0 {
				p.before = " "
			}
			if t.End < len(text) && strings.IndexByte(" ),=", text[t.End]) < 0 {
				p.behind = " "
			}
			for _, i := range items {
				p.selected = p.selected || i.Pos <= p.pos && p.end <= i.End
				p.whole = p.whole || i.Pos == p.pos && len(paramsOf(text[i.Pos:i.End], m)) == 1 && isAlias(text[p.end:i.End], m)
			}
			list = append(list, p)
		case word == "(":
			clauses = append(clauses, "")
		case word == ")" && len(clauses) > 1:
			clauses = clauses[:len(clauses)-1]
		case word == "by", word == "limit":
			*clause = word
		case endsClause[word]:
			*clause = ""
		}
		arithmetic = arithmetic || computes
		last, was = t, word
	}
	united := sqltext.HasWord(text, m, "union", "except", "intersect")
	for k := range list {
		list[k].arithmetic, list[k].united = arithmetic, united
	}
	return list
}

// endsClause are the words behind which no item of ORDER BY, GROUP BY or LIMIT follows.
var endsClause = map[string]bool{"select": true, "on": true, "set": true, "having": true, "values": true, "rows": true, "range": true}

// operators are those that compute numbers. The star may stand for all columns.
var operators = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true, "div": true, "mod": true}

// computing reports whether a token behind another is an operator that computes numbers.
func computing(word, behind string) bool {
	switch behind {
	case "select", "distinct", "all", ",", "(", ".":
		return word != "*" && operators[word]
	}
	return operators[word]
}

// isAlias reports whether what follows an expression in an item of a select list is its alias.
func isAlias(text string, m sqltext.Mode) bool {
	l := sqltext.NewLexer(text, m)
	t := l.Next()
	if t.Kind == sqltext.KindWord && strings.EqualFold(text[t.Pos:t.End], "as") {
		t = l.Next()
	}
	return (t.Kind == sqltext.KindWord || t.Kind == sqltext.KindQuotedIdent || t.Kind == sqltext.KindString) && l.Next().Kind == sqltext.KindEOF
}
