package predecessor

import (
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/session"
)

// changing makes a statement that changes something and answers OK.
func changing(opt, k, argument, about string, r account.Rights, do func(a *Admin, w change.Who, v string) error) *Statement {
	return &Statement{
		region: "server", opt: opt, k: k, argument: argument, About: about, Rights: r,
		run: func(a *Admin, w change.Who, _, v string) (*session.OwnResult, error) {
			if err := do(a, w, v); err != nil {
				return nil, asBefore(err)
			}
			return new(session.OwnResult), nil
		},
	}
}

var changes = []*Statement{
	changing("change", "proxy", "online|offline", "what load balancers are told; clients are served all the same", account.Operate, (*Admin).setStatus),
	changing("change", "log_sql", "on|off", "log of statements", account.Admin, (*Admin).setLogSQL),
	changing("change", "slow_log_time", "50", "least milliseconds of a statement in the log", account.Admin, (*Admin).setSlowLogTime),
	changing("add", "allow_ip", "127.0.0.1", "an address or network that may connect", account.Admin, (*Admin).addAllowIP),
	changing("del", "allow_ip", "127.0.0.1", "takes one away; without any, all may connect", account.Admin, (*Admin).deleteAllowIP),
	changing("add", "black_sql", "delete from t", "a forbidden statement; its literals do not count", account.Admin, (*Admin).addBlackSQL),
	changing("del", "black_sql", "delete from t", "takes one away", account.Admin, (*Admin).deleteBlackSQL),
	{
		region: "server", opt: "save", k: "proxy", v: "config", About: "writes what administration changed into the files", Rights: account.Admin,
		run: func(a *Admin, w change.Who, _, _ string) (*session.OwnResult, error) {
			if _, err := a.o.Configuration.Save(w, true); err != nil {
				return nil, asBefore(err)
			}
			return new(session.OwnResult), nil
		},
	},
}
