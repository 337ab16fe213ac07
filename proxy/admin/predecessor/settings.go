package predecessor

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/queryrule"
)

// setStatus says to load balancers whether to pass over this proxy.
func (a *Admin) setStatus(w change.Who, status string) error {
	return a.o.Trail.Act(w, account.Operate, "proxy "+status, "", func() error {
		if status != "online" && status != "offline" {
			return unsupported()
		}
		a.o.Offline.Store(status == "offline")
		return nil
	})
}

func (a *Admin) setLogSQL(w change.Who, value string) error {
	return a.o.Configuration.Edit(w, "change log_sql", value, func(cfg *config.Config) error {
		if value != "on" && value != "off" {
			return unsupported()
		}
		cfg.LogSQL = value
		return nil
	})
}

func (a *Admin) setSlowLogTime(w change.Who, value string) error {
	return a.o.Configuration.Edit(w, "change slow_log_time", value, func(cfg *config.Config) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return change.Failed("slow_log_time is a number of milliseconds, not %q", value)
		}
		cfg.SlowLogTime = n
		return nil
	})
}

// errIP is the predecessor's word for an address that cannot be read.
const errIP = "invalid ip address"

func (a *Admin) addAllowIP(w change.Who, entry string) error {
	return a.addAllowIPs(w, []string{entry})
}

// addAllowIPs adds entries to allow_ips, all or none.
func (a *Admin) addAllowIPs(w change.Who, entries []string) error {
	return a.editAllowIPs(w, "add allow_ip", entries, func(list []string, entry string, net netip.Prefix) []string {
		if slices.ContainsFunc(list, func(have string) bool { return sameNet(have, net) }) {
			return list
		}
		return append(list, entry)
	})
}

func (a *Admin) deleteAllowIP(w change.Who, entry string) error {
	return a.deleteAllowIPs(w, []string{entry})
}

// deleteAllowIPs takes entries away, all or none; one that is not there is no error, as by the predecessor.
func (a *Admin) deleteAllowIPs(w change.Who, entries []string) error {
	return a.editAllowIPs(w, "del allow_ip", entries, func(list []string, _ string, net netip.Prefix) []string {
		return slices.DeleteFunc(list, func(have string) bool { return sameNet(have, net) })
	})
}

func (a *Admin) editAllowIPs(w change.Who, what string, entries []string, edit func(list []string, entry string, net netip.Prefix) []string) error {
	return a.o.Configuration.Edit(w, what, strings.Join(entries, ", "), func(cfg *config.Config) error {
		list := allowIPs(cfg)
		for _, entry := range entries {
			nets, err := config.ParseNets(entry)
			if err != nil || len(nets) != 1 {
				return change.Failed("%s", errIP)
			}
			list = edit(list, strings.TrimSpace(entry), nets[0])
		}
		cfg.AllowIPs = strings.Join(list, ",")
		return nil
	})
}

func sameNet(entry string, net netip.Prefix) bool {
	nets, err := config.ParseNets(entry)
	return err == nil && len(nets) == 1 && nets[0] == net
}

func (a *Admin) addBlackSQL(w change.Who, text string) error {
	return a.o.Configuration.EditBlacklist(w, "add black_sql", text, func(b *queryrule.Blacklist) (*queryrule.Blacklist, error) { return b.With(text) })
}

func (a *Admin) deleteBlackSQL(w change.Who, text string) error {
	return a.o.Configuration.EditBlacklist(w, "del black_sql", text, func(b *queryrule.Blacklist) (*queryrule.Blacklist, error) { return b.Without(text) })
}

// allowIPs lists the entries of allow_ips as they are written.
func allowIPs(cfg *config.Config) (list []string) {
	for entry := range strings.SplitSeq(cfg.AllowIPs, ",") {
		if entry = strings.TrimSpace(entry); entry != "" && !slices.Contains(list, entry) {
			list = append(list, entry)
		}
	}
	return list
}
