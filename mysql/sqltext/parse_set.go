package sqltext

import "strings"

// Scope is what an assignment of SET reaches.
type Scope uint8

// The scopes.
const (
	Session Scope = iota // and LOCAL, and no scope at all
	Global
	Persist
	PersistOnly
	NextTransaction // SET TRANSACTION, SET @@transaction_isolation and the like without a scope
	User            // @x
	Names           // SET NAMES
	CharacterSet    // SET CHARACTER SET
	Password
	Role // SET ROLE, SET DEFAULT ROLE
	ResourceGroup
)

var scopeNames = [...]string{
	"session", "global", "persist", "persist_only", "next transaction", "user variable", "names", "character set", "password",
	"role", "resource group",
}

// String names the scope in lower case, the way SET spells it where it has a word for it.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return "scope(?)"
}

// Assignment is one of the things that a SET statement sets.
type Assignment struct {
	Scope Scope
	// Name is that of the variable, in lower case, without quotes and @; with Names and CharacterSet that of the character
	// set, or "default"; with Role "role" or "default role". SET TRANSACTION gives transaction_isolation and
	// transaction_read_only.
	Name string
	// Value is the expression as written; for SET TRANSACTION 'READ-COMMITTED' and the like, or 0 or 1. Empty with Names,
	// CharacterSet and Password.
	Value string
	// Literal tells that Value is a number, with a sign perhaps, a string or a word: not an expression, variable or
	// function.
	Literal bool
	Collate string // of SET NAMES ... COLLATE, in lower case
}

// ParseSet takes a SET statement apart. MySQL manual: "SET Syntax for Variable Assignment", "SET NAMES Statement", "SET
// CHARACTER SET Statement", "SET TRANSACTION Statement".
func ParseSet(sql string, m Mode) ([]Assignment, bool) {
	p := &setParser{parser: newParser(sql, m)}
	if !p.words("set") || !p.statement() || !p.done() {
		return nil, false
	}
	return p.list, true
}

// setParser reads SET.
type setParser struct {
	*parser
	list  []Assignment
	scope Scope // of names without one: the last that was given as a word
}

func (p *setParser) statement() bool {
	switch {
	case p.mode.MariaDB:
		if p.is("statement") {
			return false
		}
	case p.words("password"):
		return (p.isOp("=") || p.isOp(":=") || p.is("for") || p.is("to")) && p.rest(Assignment{Scope: Password})
	case p.words("default", "role"):
		return p.rest(Assignment{Scope: Role, Name: "default role"})
	case p.words("resource", "group"):
		return p.rest(Assignment{Scope: ResourceGroup, Name: "resource group"})
	case p.is("role"):
		p.next()
		return !p.isOp("=") && !p.isOp(":=") && p.rest(Assignment{Scope: Role, Name: "role"})
	}
	if done, ok := p.transaction(); done {
		return ok
	}
	for {
		if !p.assignment() {
			return false
		}
		if !p.op(",") {
			return true
		}
	}
}

// account reads PASSWORD, ROLE and DEFAULT ROLE, which MariaDB takes anywhere in the list. done is false when it is something else.
func (p *setParser) account() (done, ok bool) {
	if !p.mode.MariaDB {
		return false, false
	}
	saved := *p.parser
	var a Assignment
	switch {
	case p.words("default", "role"):
		a = Assignment{Scope: Role, Name: "default role"}
	case p.words("role") && !p.isOp("=") && !p.isOp(":="):
		a = Assignment{Scope: Role, Name: "role"}
	case p.words("password") && (p.isOp("=") || p.isOp(":=") || p.is("for") || p.is("to")):
		a = Assignment{Scope: Password}
	default:
		*p.parser = saved
		return false, false
	}
	text, n, ok := p.expression(true)
	if a.Scope == Role {
		a.Value = text
	}
	p.list = append(p.list, a)
	return true, ok && n > 0
}

// rest takes all that is left of the statement as the value.
func (p *setParser) rest(a Assignment) bool {
	text, n, ok := p.expression(false)
	if a.Scope != Password {
		a.Value = text
	}
	p.list = append(p.list, a)
	return ok && n > 0
}

// transaction reads [GLOBAL | SESSION] TRANSACTION and its characteristics. done is false when it is something else.
func (p *setParser) transaction() (done, ok bool) {
	scope := NextTransaction
	saved := *p.parser
	switch p.oneOf("session", "local", "global") {
	case "session", "local":
		scope = Session
	case "global":
		scope = Global
	}
	if !p.words("transaction") || !p.is("isolation") && !p.is("read") {
		*p.parser = saved
		return false, false
	}
	for {
		a := Assignment{Scope: scope, Literal: true}
		switch {
		case p.words("isolation", "level"):
			a.Name, a.Value = "transaction_isolation", p.isolation()
		case p.words("read", "only"):
			a.Name, a.Value = "transaction_read_only", "1"
		case p.words("read", "write"):
			a.Name, a.Value = "transaction_read_only", "0"
		}
		if a.Value == "" || len(p.list) > 0 && p.list[0].Name == a.Name {
			return true, false
		}
		p.list = append(p.list, a)
		if !p.op(",") {
			return true, true
		}
		if len(p.list) == 2 {
			return true, false
		}
	}
}

// isolation reads a level; "" if there is none.
func (p *setParser) isolation() string {
	switch {
	case p.words("read", "uncommitted"):
		return "'READ-UNCOMMITTED'"
	case p.words("read", "committed"):
		return "'READ-COMMITTED'"
	case p.words("repeatable", "read"):
		return "'REPEATABLE-READ'"
	case p.words("serializable"):
		return "'SERIALIZABLE'"
	}
	return ""
}

// assignment reads one of the list.
func (p *setParser) assignment() bool {
	if done, ok := p.account(); done {
		return ok
	}
	switch {
	case p.tok.Kind == KindUserVar:
		name, ok := p.userVar()
		return ok && p.value(Assignment{Scope: User, Name: name})
	case p.tok.Kind == KindSysVar:
		return p.sysVar()
	case p.words("names"):
		return p.names()
	case p.words("charset"), p.words("character", "set"), p.words("char", "set"):
		name, ok := p.charset()
		p.list = append(p.list, Assignment{Scope: CharacterSet, Name: name})
		return ok
	}
	if p.tok.Kind == KindWord && scopeWord(p.text()) {
		p.scope = scopeOf(p.text())
		p.next()
	}
	if p.tok.Kind == KindWord && reservedTarget(p.text()) {
		return false
	}
	name, ok := p.ident()
	if ok && p.op(".") {
		var part string
		part, ok = p.ident()
		name += "." + part
	}
	return ok && p.value(Assignment{Scope: p.scope, Name: strings.ToLower(name)})
}

// reservedTarget tells words that begin something else than the name of a variable.
func reservedTarget(w string) bool {
	for _, r := range [...]string{"password", "names", "charset", "character", "char", "transaction", "role", "default"} {
		if foldEqual(w, r) {
			return true
		}
	}
	return scopeWord(w)
}

func scopeOf(word string) Scope {
	switch strings.ToLower(word) {
	case "global":
		return Global
	case "persist":
		return Persist
	case "persist_only":
		return PersistOnly
	}
	return Session
}

// sysVar reads @@[scope.]name = value. Its scope does not carry to what follows.
func (p *setParser) sysVar() bool {
	scope, text := splitSysVar(p.text())
	var parts []string
	for text != "" {
		part := text
		if text[0] == '`' {
			l := NewLexer(text, p.mode)
			part = text[:l.Next().End]
		} else if k := strings.IndexByte(text, '.'); k >= 0 {
			part = text[:k]
		}
		text = strings.TrimPrefix(text[len(part):], ".")
		if part[0] == '`' {
			var ok bool
			if part, ok = Unquote(part, p.mode); !ok || part == "" {
				return false
			}
		}
		parts = append(parts, part)
	}
	if len(parts) > 2 {
		return false
	}
	p.next()
	a := Assignment{Scope: scopeOf(scope), Name: strings.ToLower(strings.Join(parts, "."))}
	if scope == "" {
		switch a.Name {
		case "transaction_isolation", "tx_isolation", "transaction_read_only", "tx_read_only":
			a.Scope = NextTransaction
		}
	}
	return p.value(a)
}

// names reads what follows SET NAMES.
func (p *setParser) names() bool {
	name, ok := p.charset()
	a := Assignment{Scope: Names, Name: name}
	if ok && name != "default" && p.words("collate") {
		a.Collate, ok = p.charset()
	}
	p.list = append(p.list, a)
	return ok
}

// charset reads the name of a character set or collation, quoted in any way or not, and gives it in lower case.
func (p *setParser) charset() (string, bool) {
	text := p.text()
	switch p.tok.Kind {
	case KindWord:
	case KindString, KindQuotedIdent:
		var ok bool
		if text, ok = Unquote(text, p.mode); !ok || text == "" || foldEqual(text, "default") {
			return "", false
		}
	default:
		return "", false
	}
	p.next()
	return strings.ToLower(text), true
}

// value reads = and the expression.
func (p *setParser) value(a Assignment) bool {
	if !p.op("=") && !p.op(":=") {
		return false
	}
	first, l := p.tok, p.l
	if first.Kind == KindOp && strings.IndexByte("(+-!~{", p.sql[first.Pos]) < 0 {
		return false
	}
	text, n, ok := p.expression(true)
	a.Value = text
	switch n {
	case 1:
		a.Literal = p.literal(first, a.Scope == User)
	case 2:
		sign := p.sql[first.Pos]
		a.Literal = first.Kind == KindOp && (sign == '-' || sign == '+') && l.Next().Kind == KindNumber
	}
	p.list = append(p.list, a)
	return ok && n > 0
}

// literal tells whether a token alone is a literal. A word is the value of a system variable, but a column in the value of
// a user variable.
func (p *setParser) literal(t Token, user bool) bool {
	text := p.sql[t.Pos:t.End]
	switch t.Kind {
	case KindString:
		return text[0] == '\'' || text[0] == '"' // N'x' has a character set of its own
	case KindNumber, KindHex, KindBit:
		return true
	case KindQuotedIdent:
		return !user
	case KindWord:
		switch strings.ToLower(text) {
		case "true", "false", "null":
			return true
		case "current_user", "current_date", "current_time", "current_timestamp", "current_role", "localtime",
			"localtimestamp", "utc_date", "utc_time", "utc_timestamp", `\n`:
			return false
		}
		return !user
	}
	return false
}

// expression reads up to a comma outside of parentheses, or to the end of the statement, and gives the text and the number
// of its tokens. It is not ok when the parentheses do not match or a version comment begins or ends within.
func (p *setParser) expression(commaEnds bool) (text string, n int, ok bool) {
	pos, end, edges, depth := p.tok.Pos, p.tok.Pos, p.edges, 0
	for p.tok.Kind != KindEOF && p.tok.Kind != KindSemicolon {
		if p.tok.Kind == KindInvalid || p.edges != edges {
			return "", n, false
		}
		switch {
		case p.isOp("("):
			depth++
		case p.isOp(")"):
			depth--
		case commaEnds && depth == 0 && p.isOp(","):
			return p.sql[pos:end], n, true
		}
		if depth < 0 {
			return "", n, false
		}
		end = p.tok.End
		n++
		p.next()
	}
	return p.sql[pos:end], n, depth == 0
}

// SelectOfSet gives the query for what SET gives user variables, and their names, where one SELECT can tell it all: not where the value of one may be
// that of another which is set ahead of it. ok is false for every other SET.
func SelectOfSet(sql string, m Mode) (query string, names []string, ok bool) {
	list, ok := ParseSet(sql, m)
	if !ok {
		return "", nil, false
	}
	var values []string
	for _, a := range list {
		if a.Scope != User || len(list) > 1 && strings.Contains(a.Value, "@") {
			return "", nil, false
		}
		names, values = append(names, a.Name), append(values, a.Value)
	}
	return "SELECT " + strings.Join(values, ", "), names, true
}
