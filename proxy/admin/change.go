package admin

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/queryrule"
)

// setStatus says to load balancers whether to pass over this proxy.
func (a *Admin) setStatus(w who, status string) error {
	return a.act(w, account.Operate, "proxy "+status, "", func() error {
		if status != "online" && status != "offline" {
			return unsupported()
		}
		a.offline.Store(status == "offline")
		return nil
	})
}

func (a *Admin) setLogSQL(w who, value string) error {
	return a.edit(w, "change log_sql", value, func(cfg *config.Config) error {
		if value != "on" && value != "off" {
			return unsupported()
		}
		cfg.LogSQL = value
		return nil
	})
}

func (a *Admin) setSlowLogTime(w who, value string) error {
	return a.edit(w, "change slow_log_time", value, func(cfg *config.Config) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return failed("slow_log_time is a number of milliseconds, not %q", value)
		}
		cfg.SlowLogTime = n
		return nil
	})
}

// errIP is the predecessor's word for an address that cannot be read.
const errIP = "invalid ip address"

func (a *Admin) addAllowIP(w who, entry string) error { return a.addAllowIPs(w, []string{entry}) }

// addAllowIPs adds entries to allow_ips, all or none.
func (a *Admin) addAllowIPs(w who, entries []string) error {
	return a.editAllowIPs(w, "add allow_ip", entries, func(list []string, entry string, net netip.Prefix) []string {
		if slices.ContainsFunc(list, func(have string) bool { return sameNet(have, net) }) {
			return list
		}
		return append(list, entry)
	})
}

func (a *Admin) deleteAllowIP(w who, entry string) error { return a.deleteAllowIPs(w, []string{entry}) }

// deleteAllowIPs takes entries away, all or none; one that is not there is no error, as by the predecessor.
func (a *Admin) deleteAllowIPs(w who, entries []string) error {
	return a.editAllowIPs(w, "del allow_ip", entries, func(list []string, _ string, net netip.Prefix) []string {
		return slices.DeleteFunc(list, func(have string) bool { return sameNet(have, net) })
	})
}

func (a *Admin) editAllowIPs(w who, what string, entries []string, change func(list []string, entry string, net netip.Prefix) []string) error {
	return a.edit(w, what, strings.Join(entries, ", "), func(cfg *config.Config) error {
		list := allowIPs(cfg)
		for _, entry := range entries {
			nets, err := config.ParseNets(entry)
			if err != nil || len(nets) != 1 {
				return failed("%s", errIP)
			}
			list = change(list, strings.TrimSpace(entry), nets[0])
		}
		cfg.AllowIPs = strings.Join(list, ",")
		return nil
	})
}

func sameNet(entry string, net netip.Prefix) bool {
	nets, err := config.ParseNets(entry)
	return err == nil && len(nets) == 1 && nets[0] == net
}

func (a *Admin) addBlackSQL(w who, text string) error {
	return a.act(w, account.Admin, "add black_sql", masked(text), func() error {
		return a.server.EditBlacklist(func(b *queryrule.Blacklist) (*queryrule.Blacklist, error) { return b.With(text) })
	})
}

func (a *Admin) deleteBlackSQL(w who, text string) error {
	return a.act(w, account.Admin, "del black_sql", masked(text), func() error {
		return a.server.EditBlacklist(func(b *queryrule.Blacklist) (*queryrule.Blacklist, error) { return b.Without(text) })
	})
}
