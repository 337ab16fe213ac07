package sqltext

import "strings"

// ShowGrants is SHOW GRANTS, or SHOW GRANTS FOR an account or a role.
type ShowGrants struct {
	Account    Span // the name behind FOR as it is written; empty without one
	Self       bool // it is CURRENT_USER, with parentheses or without
	User, Host string
}

// ParseShowGrants takes SHOW GRANTS apart; ok is false for another statement. What follows the account is left alone. MySQL manual: "SHOW
// GRANTS Statement".
func ParseShowGrants(sql string, m Mode) (g ShowGrants, ok bool) {
	p := newParser(sql, m)
	if !p.words("show", "grants") {
		return g, false
	}
	if !p.words("for") {
		return g, true
	}
	g.Account = Span{Pos: p.tok.Pos, End: p.tok.End}
	var name bool
	switch kind := p.tok.Kind; {
	case p.is("current_user"):
		g.Self = true
		if p.next(); p.op("(") && p.isOp(")") {
			g.Account.End = p.tok.End
		}
		return g, true
	case kind == KindString:
		g.User, name = Unquote(p.text(), m)
		p.next()
	default:
		g.User, name = p.ident()
	}
	if !name {
		return ShowGrants{}, true
	}
	if g.Host = "%"; p.tok.Kind == KindUserVar {
		g.Account.End = p.tok.End
		if g.Host = p.text()[1:]; strings.ContainsRune("'\"`", rune(g.Host[0])) {
			g.Host, _ = Unquote(g.Host, m)
		}
	}
	return g, true
}
