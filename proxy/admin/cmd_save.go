package admin

import "kingshard/proxy/account"

var saveCommand = command{
	verb: "save", usage: "KS SAVE CONFIG [FORCE]", rights: account.Admin,
	about: "Writes what KS SET, KS NODE and ADMIN changed into the file, which keeps its comments and order; FORCE also if somebody changed it since it was read",
	run: func(c *call) (*answer, error) {
		if !c.r.Word("config") {
			return nil, c.r.Expected("CONFIG")
		}
		force := c.r.Word("force")
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return changesOf(c.a.Configuration.Save(c.who, force))
	},
}
