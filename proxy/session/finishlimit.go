package session

import (
	"strconv"
	"strings"
)

// limitJoin bounds what the final statement may join: the scratch tables have no keys, and a join of all their rows with each other would
// fill the server's disk. MySQL manual: "Server System Variables", max_join_size.
func (f *finishing) limitJoin() error {
	most := f.s.client.snap.Config.FinishMaxJoinSize
	if most == 0 || len(f.made) < 2 || f.own("max_join_size") != "DEFAULT" || f.own("sql_big_selects") != "DEFAULT" {
		return nil // the client has a limit of its own, or has lifted it
	}
	f.limited = true
	return f.s.client.observed.Run(f.last.Pooled, f.s.client.state.DB(), "SET max_join_size = "+strconv.Itoa(most)) // which turns sql_big_selects off
}

// joinAsBefore takes back what limitJoin did.
func (f *finishing) joinAsBefore() string {
	return "SET max_join_size = DEFAULT, sql_big_selects = DEFAULT"
}

// own is the session's value of a variable, as SET takes it.
func (f *finishing) own(name string) string {
	if v := strings.TrimSpace(f.s.client.state.Value(name)); v != "" {
		return v
	}
	return "DEFAULT"
}
