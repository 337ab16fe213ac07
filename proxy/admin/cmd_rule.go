package admin

import (
	"net/netip"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/queryrule"
)

var ruleCommand = command{
	verb: "rule", usage: "KS RULE TEST ['user'@'source'] 'statement'", rights: account.Read,
	about: "The query rules that match a statement, of oneself or of a user from an address, and whether they would act; nothing is counted or sent",
	run: func(c *call) (*answer, error) {
		if !c.r.Word("test") {
			return nil, c.r.Expected("TEST")
		}
		user, source := c.caller.User, c.caller.Host
		if c.r.Peek().Kind == sqltext.KindUserVar {
			var ok bool
			if user, source, ok = c.r.Account(); !ok {
				return nil, c.r.Expected("'user'@'source'")
			}
		}
		// Over the unix socket, or said to be of localhost, a client has no address.
		addr, err := netip.ParseAddr(source)
		if err != nil && source != "localhost" && source != "" {
			return nil, change.Failed("%q is not an IP address", source)
		}
		if c.r.Ended() {
			return nil, c.r.Expected("a statement")
		}
		text := c.r.Rest()
		if c.r.Tok.Kind == sqltext.KindString {
			var ok bool
			if text, ok = c.r.Name(); !ok {
				return nil, c.r.Expected("a string")
			}
			if err := c.r.End(); err != nil {
				return nil, err
			}
		}
		return c.testRules(user, addr, text)
	},
}

// testRules shows the rules that match each statement of a text.
func (c *call) testRules(user string, addr netip.Addr, text string) (*answer, error) {
	rules := c.a.shared.Snapshot.Load().Rules
	var rows [][]any
	for info := range sqltext.Split(text, c.r.Mode) {
		one := text[info.First:info.End]
		st := queryrule.Statement{Text: one, Info: info, DB: c.caller.DB, Mode: c.r.Mode}
		st.Info.Traits &^= sqltext.Multi
		for _, t := range rules.Test(user, addr, &st) {
			rows = append(rows, []any{one, t.Rule.Name, t.Rule.Action(), t.Applies, orNil(t.Why), orNil(t.Text)})
		}
	}
	return &answer{texts("statement", "rule", "action", "applies", "why", "becomes"), rows}, nil
}
