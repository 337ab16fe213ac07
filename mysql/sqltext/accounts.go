package sqltext

// Accounts are those that an account statement names.
type Accounts struct {
	Names []string // of users and roles, without hosts and quotes; "" for the anonymous one
	// Self tells that the account of the connection is named: CURRENT_USER, USER(), or none where one is needed.
	Self bool
}

// AccountsOf lists the accounts that a statement of the class Grant, or a SET DEFAULT ROLE, names. What may be an account is taken for
// one. MySQL manual: "Account Management Statements", "Specifying Account Names".
func AccountsOf(sql string, m Mode) Accounts {
	a := accountParser{parser: newParser(sql, m)}
	switch {
	case a.words("grant"), a.words("revoke"):
		a.grant()
	case a.words("set"):
		if a.words("default", "role"); !a.upTo("for", "to") {
			a.Self = true
		}
		a.list("")
	default:
		if a.upTo("user", "role") {
			a.words("if")
			a.words("not")
			a.words("exists")
			a.list("to")
		}
	}
	return a.Accounts
}

type accountParser struct {
	*parser
	Accounts
}

// upTo passes over all up to one of two words, and over that; false is the end of the text.
func (a *accountParser) upTo(word, or string) bool {
	for a.tok.Kind != KindEOF {
		found := a.is(word) || a.is(or)
		if a.next(); found {
			return true
		}
	}
	return false
}

// account takes the token at hand for the name of an account.
func (a *accountParser) account() {
	text := a.text()
	switch a.tok.Kind {
	case KindWord:
		current := foldEqual(text, "current_user")
		user := foldEqual(text, "user") || foldEqual(text, "session_user") || foldEqual(text, "system_user")
		a.next()
		if current || user && a.isOp("(") {
			a.Self = true
			return
		}
	case KindString, KindQuotedIdent:
		if name, ok := Unquote(text, a.mode); ok {
			text = name
		}
		a.next()
	default:
		return
	}
	a.Names = append(a.Names, text)
}

// list reads accounts, each with what may follow it, and others behind commas and the word.
func (a *accountParser) list(also string) {
	for a.account(); a.tok.Kind != KindEOF; {
		switch {
		case a.isOp("("):
			a.group()
		case a.op(","), also != "" && a.words(also):
			a.account()
		default:
			a.next()
		}
	}
}

// grant reads the rest of GRANT and REVOKE: roles, which may be accounts, and those that get or lose them.
func (a *accountParser) grant() {
	a.words("proxy", "on")
	for a.account(); a.tok.Kind != KindEOF; {
		switch {
		case a.isOp("("):
			a.group()
		case a.op(","), a.words("to"), a.words("from"), a.words("as"):
			a.account()
		case a.words("on"):
			if a.tok.Kind != KindEOF {
				a.object()
			}
		default:
			a.next()
		}
	}
}

// object passes over what rights are on.
func (a *accountParser) object() {
	for a.tok.Kind != KindEOF && !a.is("to") && !a.is("from") {
		a.next()
	}
}
