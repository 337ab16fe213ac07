package admin

import (
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

// call is one statement under way.
type call struct {
	a      *Admin
	caller *session.Caller
	who    who
	r      *reader
}

// command is a statement that begins with KS and its verb.
type command struct {
	verb   string // in lower case
	usage  string
	about  string
	rights account.Rights
	run    func(c *call) (*session.OwnResult, error)
}

// ksCommands are those of KS HELP, in its order.
var ksCommands []*command

func init() {
	ksCommands = []*command{&explainCommand, &checkCommand, &reloadCommand, &nodeCommand, &pauseCommand, &resumeCommand, &setCommand, &saveCommand, &killCommand, &forgetCommand, &ruleCommand, &resetCommand, &upgradeCommand, &helpCommand}
}

// Statement answers the proxy's own statements; it is the session's Own.
func (a *Admin) Statement(s *session.Caller, text string, m sqltext.Mode) (*session.OwnResult, error) {
	text = strings.Clone(text) // what is kept of it must not alias the session's buffer
	c := &call{
		a: a, caller: s, r: newReader(text, m),
		who: who{name: s.User, from: s.Host, rights: s.Rights, session: s.ID, texts: s.Process},
	}
	switch {
	case c.r.word("show"):
		if c.r.word("ks") {
			return c.show()
		}
	case c.r.word("ks"):
		return c.command()
	case c.r.word("admin"):
		return c.old()
	}
	if s.AdminOnly {
		return c.port(newReader(text, m))
	}
	return nil, nil
}

// command runs KS verb.
func (c *call) command() (*session.OwnResult, error) {
	for _, cmd := range ksCommands {
		if !c.r.is(cmd.verb) {
			continue
		}
		if err := c.who.need(cmd.rights, "KS "+strings.ToUpper(cmd.verb)); err != nil {
			return nil, err
		}
		c.r.next()
		return cmd.run(c)
	}
	if err := c.who.need(account.Read, "KS"); err != nil {
		return nil, err
	}
	var verbs []string
	for _, cmd := range ksCommands {
		verbs = append(verbs, strings.ToUpper(cmd.verb))
	}
	return nil, c.r.expected("one of " + strings.Join(verbs, ", "))
}

// show runs SHOW KS table.
func (c *call) show() (*session.OwnResult, error) {
	if err := c.who.need(account.Read, "SHOW KS"); err != nil {
		return nil, err
	}
	before := *c.r
	name, _ := c.r.anyWord()
	t := tableNamed(name)
	if t == nil {
		var names []string
		for _, t := range tables {
			names = append(names, strings.ToUpper(t.name))
		}
		return nil, before.expected("one of " + strings.Join(names, ", "))
	}
	f, err := c.r.filter(t)
	if err != nil {
		return nil, err
	}
	return result(t.columns, f.apply(t, t.rows(c.a.view(c.who)))), nil
}

// done is the answer of a statement that gives no rows.
func done() *session.OwnResult { return &session.OwnResult{} }

// rowsOf makes the answer of a command.
func rowsOf(columns []column, rows [][]any) (*session.OwnResult, error) {
	return result(columns, rows), nil
}
