package stored

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// body is what the definition of a stored object says.
type body struct {
	effects Effects
	writes  bool            // it may change rows
	names   map[string]bool // the identifiers in it, folded
	calls   []string        // what may be stored functions, or procedures
}

// bodyReader reads a definition, with the tokens around the one at hand.
type bodyReader struct {
	body
	variables map[string]bool // the server's system variables
	prev      string          // the token before, in lower case
	tok, next string
	kind      sqltext.Kind
	verb      string // the first word of the statement at hand
	into      bool   // in the list behind INTO
	target    bool   // what SET sets is to come
	loose     bool   // perhaps: a SET came before, of which words in expressions may have hidden how far it goes
	sets      bool   // a SET was seen
	fills     bool   // a CALL or GET DIAGNOSTICS was seen: either gives user variables values
	callee    bool   // the procedure of CALL is to come
	lead      string // the token before a name with its qualifiers
	called    string // the server's function whose '(' is to come
}

// read judges a definition. What it cannot read may do anything.
func read(text string, m sqltext.Mode, variables map[string]bool) body {
	if text == "" {
		return body{effects: Unknown, writes: true}
	}
	r := bodyReader{variables: variables}
	r.names = make(map[string]bool)
	l := sqltext.NewLexer(text, m)
	ahead := l.Next()
	for ahead.Kind != sqltext.KindEOF {
		t := ahead
		ahead = l.Next()
		r.tok, r.kind = strings.ToLower(text[t.Pos:t.End]), t.Kind
		r.next = strings.ToLower(text[ahead.Pos:ahead.End])
		if name, ok := identifier(text, t); ok {
			r.names[name] = true
			r.routine(name)
		}
		r.token()
		if t.Kind == sqltext.KindQuotedIdent {
			r.tok = "`"
		}
		r.prev = r.tok
	}
	if l.Doubt() {
		r.effects, r.writes = Unknown, true
	}
	return r.body
}

// beginsStatement are the tokens behind which a statement of a body begins.
var beginsStatement = map[string]bool{"": true, ";": true, "begin": true, "then": true, "else": true, "do": true, "loop": true, "repeat": true, ":": true, "as": true, "is": true}

func (r *bodyReader) token() {
	if beginsStatement[r.prev] {
		r.verb, r.into, r.target = "", false, false
		if r.kind == sqltext.KindWord && r.tok != "begin" {
			r.verb = r.tok
			r.begins()
		}
	}
	switch r.kind {
	case sqltext.KindWord:
		r.word()
	case sqltext.KindUserVar:
		r.userVariable()
	case sqltext.KindSysVar:
		r.systemVariable()
	case sqltext.KindQuotedIdent:
		if r.next == "(" && r.prev != "." {
			r.call(strings.Trim(r.tok, "`\""))
		}
		if r.target && r.mayBeVariable(strings.Trim(r.tok, "`\"")) {
			r.effects |= State
		}
		r.target, r.into = false, r.into && r.next == ","
	case sqltext.KindOp:
		if r.called == "last_insert_id" && r.next != ")" {
			r.effects |= State
		}
		r.called = ""
		switch {
		case r.tok == ",":
			// Or a comma in an expression: the name behind it is compared with variables' all the same.
			r.target, r.loose = r.verb == "set" || r.sets, r.verb != "set"
		default:
			r.target, r.into = false, false
		}
	default:
		r.target = false
	}
}

// routine deals with a name that may be that of a procedure, or of a function with its database. A function without is dealt with by call.
func (r *bodyReader) routine(name string) {
	if r.prev != "." {
		r.lead = r.prev
	}
	switch {
	case r.next == ".":
	case r.callee, r.prev == "." && r.next == "(" && r.lead != "into":
		r.calls, r.callee = append(r.calls, name), false
	}
}

// begins deals with the first word of a statement.
func (r *bodyReader) begins() {
	switch r.tok {
	case "prepare", "execute", "xa", "handler", "flush", "lock", "use", "load", "call", "backup", "get", "kill":
		if r.tok != "call" && r.tok != "get" {
			r.effects |= Unknown
		}
		r.writes = true
	}
	r.callee = r.tok == "call"
}

func (r *bodyReader) word() {
	target := r.target
	r.target, r.into = false, r.into && r.next == ","
	if r.prev == "." {
		if r.tok == "nextval" {
			r.effects |= State // of a sequence, in Oracle mode
		}
		return
	}
	switch r.tok {
	case "insert", "update", "delete", "replace", "load", "truncate", "merge":
		if r.next != "(" && r.prev != "for" && r.prev != "on" {
			r.writes = true
		}
	case "temporary", "execute", "prepare":
		r.effects |= State
		if r.tok != "temporary" {
			r.effects |= UserVariables
			r.writes = true
		}
	case "call": // a handler's, too, which begins no statement
		r.callee, r.writes, r.fills = true, true, true
	case "get":
		switch r.next {
		case "diagnostics", "current", "stacked":
			r.writes, r.fills = true, true
		}
	case "into":
		r.into = true
		return
	case "value":
		if r.next == "for" && r.prev == "next" {
			r.effects |= State
		}
	case "set":
		if r.prev == "character" || r.prev == "char" {
			return
		}
		switch r.verb {
		case "insert", "update", "replace", "with": // columns
		default:
			r.verb, r.target, r.loose, r.sets = "set", true, false, true
		}
		return
	}
	if target {
		r.assigned()
	}
	if r.next == "(" {
		r.call(r.tok)
	}
}

// assigned deals with an unquoted word as the target of SET.
func (r *bodyReader) assigned() {
	switch r.tok {
	case "global", "session", "local", "persist", "persist_only":
		r.effects |= State
		return
	case "names", "charset", "character", "password", "role", "default", "transaction", "statement", "resource":
		if !r.loose {
			r.effects |= State
		}
		return
	case "new", "old":
		if r.next == "." {
			return
		}
	}
	if r.variables == nil || r.mayBeVariable(r.tok) {
		r.effects |= State
	}
}

// mayBeVariable reports whether the server may take a name for that of a system variable.
func (r *bodyReader) mayBeVariable(name string) bool {
	if !sqltext.Odd(name) {
		return r.variables[name]
	}
	for v := range r.variables {
		if sqltext.MayEqual(name, v) {
			return true
		}
	}
	return false
}

func (r *bodyReader) userVariable() {
	target, into := r.target, r.into
	r.target = false
	switch {
	case r.next == ":=", target, into, r.fills:
		r.effects |= UserVariables
	}
	r.into = into && r.next == ","
}

func (r *bodyReader) systemVariable() {
	if r.target {
		r.effects |= State
		r.target = false
		return
	}
	if sqltext.ReadsIdentity(r.tok) {
		r.effects |= LastInsertID
	}
}

// call deals with a name that '(' follows.
func (r *bodyReader) call(name string) {
	r.called = name
	switch name {
	case "get_lock", "nextval", "setval":
		r.effects |= State
	case "last_insert_id":
		r.effects |= LastInsertID
	default:
		if !sqltext.Harmless(name) && r.prev != "into" {
			r.calls = append(r.calls, name)
		}
	}
}
