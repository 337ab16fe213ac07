package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

// oldChange makes a statement that changes something and answers OK.
func oldChange(opt, k, argument, about string, r account.Rights, change func(a *Admin, w who, v string) error) *oldStatement {
	return &oldStatement{
		region: "server", opt: opt, k: k, argument: argument, about: about, rights: r,
		run: func(c *call, _, v string) (*session.OwnResult, error) {
			if err := change(c.a, c.who, v); err != nil {
				return nil, oldError(err)
			}
			return done(), nil
		},
	}
}

var oldChanges = []*oldStatement{
	oldChange("change", "proxy", "online|offline", "what load balancers are told; clients are served all the same", account.Operate, (*Admin).setStatus),
	oldChange("change", "log_sql", "on|off", "log of statements", account.Admin, (*Admin).setLogSQL),
	oldChange("change", "slow_log_time", "50", "least milliseconds of a statement in the log", account.Admin, (*Admin).setSlowLogTime),
	oldChange("add", "allow_ip", "127.0.0.1", "an address or network that may connect", account.Admin, (*Admin).addAllowIP),
	oldChange("del", "allow_ip", "127.0.0.1", "takes one away; without any, all may connect", account.Admin, (*Admin).deleteAllowIP),
	oldChange("add", "black_sql", "delete from t", "a forbidden statement; its literals do not count", account.Admin, (*Admin).addBlackSQL),
	oldChange("del", "black_sql", "delete from t", "takes one away", account.Admin, (*Admin).deleteBlackSQL),
	{
		region: "server", opt: "save", k: "proxy", v: "config", about: "writes what administration changed into the files", rights: account.Admin,
		run: func(c *call, _, _ string) (*session.OwnResult, error) {
			if _, err := c.a.save(c.who, true); err != nil {
				return nil, oldError(err)
			}
			return done(), nil
		},
	},
}
