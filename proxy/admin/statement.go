package admin

import (
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/admin/statement"
	"kingshard/proxy/session"
)

// call is one statement under way.
type call struct {
	a      *Admin
	caller *session.Caller
	who    change.Who
	r      *reader
}

// command is a statement that begins with KS and its verb.
type command struct {
	verb   string // in lower case
	usage  string
	about  string
	rights account.Rights
	run    func(c *call) (*answer, error)
}

// ksCommands are those of KS HELP, in its order.
var ksCommands []*command

func init() {
	ksCommands = []*command{&explainCommand, &checkCommand, &reloadCommand, &nodeCommand, &pauseCommand, &resumeCommand, &setCommand, &saveCommand, &killCommand, &forgetCommand, &resolveCommand, &sequenceCommand, &indexCommand, &ruleCommand, &resetCommand, &upgradeCommand, &helpCommand}
	ksCommands = append(ksCommands, testCommands...)
}

// Statement answers the proxy's own statements; it is the session's Own.
func (a *Admin) Statement(s *session.Caller, text string, m sqltext.Mode) (*session.OwnResult, error) {
	text = strings.Clone(text) // what is kept of it must not alias the session's buffer
	c := &call{
		a: a, caller: s, r: newReader(text, m),
		who: change.Who{Name: s.User, From: s.Host, Rights: s.Rights, Session: s.ID, Texts: s.Process},
	}
	switch {
	case c.r.Word("show"):
		if c.r.Word("ks") {
			return result(c.show())
		}
	case c.r.Word("ks"):
		return result(c.command())
	case c.r.Word("admin"):
		return c.a.predecessor.Statement(c.who, &c.r.Reader)
	}
	if s.AdminOnly {
		return result(c.port(newReader(text, m)))
	}
	return nil, nil
}

// command runs KS verb.
func (c *call) command() (*answer, error) {
	for _, cmd := range ksCommands {
		if !c.r.Is(cmd.verb) {
			continue
		}
		if err := c.who.Need(cmd.rights, "KS "+strings.ToUpper(cmd.verb)); err != nil {
			return nil, err
		}
		c.r.Next()
		return cmd.run(c)
	}
	if err := c.who.Need(account.Read, "KS"); err != nil {
		return nil, err
	}
	var verbs []string
	for _, cmd := range ksCommands {
		verbs = append(verbs, strings.ToUpper(cmd.verb))
	}
	return nil, c.r.Expected("one of " + strings.Join(verbs, ", "))
}

// show runs SHOW KS table.
func (c *call) show() (*answer, error) {
	if err := c.who.Need(account.Read, "SHOW KS"); err != nil {
		return nil, err
	}
	before := *c.r
	name, _ := c.r.AnyWord()
	t := tableNamed(name)
	if t == nil {
		var names []string
		for _, t := range tables {
			names = append(names, strings.ToUpper(t.name))
		}
		return nil, before.Expected("one of " + strings.Join(names, ", "))
	}
	if t == &keysTable {
		return c.showKeys()
	}
	f, err := c.r.filter(t)
	if err != nil {
		return nil, err
	}
	return &answer{t.columns, f.apply(t, t.rows(c.a.view(c.who)))}, nil
}

// reader reads what is the commands' and tables' own, too.
type reader struct{ statement.Reader }

func newReader(text string, m sqltext.Mode) *reader { return &reader{*statement.New(text, m)} }
