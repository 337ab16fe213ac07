package session

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/process"
	"kingshard/proxy/querylog"
)

// used lists what users' sessions counted, but zeros.
func used(accounts *account.Store) (list []string) {
	Usages(accounts, func(u Usage) {
		for range u.N {
			list = append(list, strings.Join([]string{u.User, u.Command, u.Plan, u.Outcome, u.Origin}, " "))
		}
	})
	slices.Sort(list)
	return list
}

func userAccounts(t *testing.T, previous *account.Store, names ...string) *account.Store {
	t.Helper()
	cfg := new(config.Config)
	for _, name := range names {
		cfg.UserList = append(cfg.UserList, config.User{User: name, Password: "p"})
	}
	accounts, err := account.New(cfg, previous)
	if err != nil {
		t.Fatal(err)
	}
	return accounts
}

// Each command is counted once, under its user, with what came of it; over reloads, as long as there is the user.
func TestUsage(t *testing.T) {
	shared := new(Shared)
	accounts := userAccounts(t, nil, "u", "v")
	enter := func(accounts *account.Store, user string, id uint32) *Session {
		s := &Session{shared: shared, id: id, stats: shared.Stats.cell(id)}
		a, _ := accounts.Lookup(user, netip.Addr{})
		s.setAccount(a)
		return s
	}
	s := enter(accounts, "u", 1)
	for _, c := range []struct {
		cmd  mysql.Command
		work work
		end  *endError
	}{
		{mysql.ComQuery, work{class: sqltext.Select, plan: querylog.PlanForward}, nil},
		{mysql.ComQuery, work{class: sqltext.Select, plan: querylog.PlanForward}, &endError{process.EndDrained, nil}},
		{mysql.ComQuery, work{class: sqltext.Update, plan: querylog.PlanRefuse, errorCode: KSRefusedSharding, origin: OriginProxy}, nil},
		{mysql.ComStmtExecute, work{class: sqltext.Select, plan: querylog.PlanMerge, errorCode: 1054, origin: OriginBackend}, nil},
		{mysql.ComStmtExecute, work{class: sqltext.Select, plan: querylog.PlanFinish}, &endError{process.EndBackendLost, nil}},
		{mysql.ComStmtPrepare, work{}, nil},
		{mysql.ComPing, work{}, nil},
		{mysql.ComQuit, work{}, errQuit},
		{mysql.ComSetOption, work{errorCode: mysql.ERMalformedPacket, origin: OriginClient}, nil},
		{mysql.ComQuery, work{class: sqltext.Select}, clientEnd(errors.New("gone"))},
		{0xFE, work{errorCode: mysql.ERUnknownCom, origin: OriginProxy}, nil}, // no command of the protocol
	} {
		s.work = c.work
		s.count(c.cmd, "", time.Millisecond, c.end)
	}
	want := []string{
		"u COM_QUERY forward ok ", "u COM_QUERY forward ok ", "u COM_QUERY local error client", "u COM_QUERY refuse error proxy",
		"u COM_STMT_EXECUTE finish error backend", "u COM_STMT_EXECUTE merge error backend", "u COM_STMT_PREPARE local ok ",
		"u other local error client", "u other local error proxy", "u other local ok ", "u other local ok ",
	}
	if got := used(accounts); !slices.Equal(got, want) {
		t.Errorf("counted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := shared.Stats.Totals().Commands; got["COM_QUERY"] != 4 || got["COM_STMT_EXECUTE"] != 2 || got["COM_PING"] != 1 || got["COM_STMT_PREPARE"] != 1 {
		t.Errorf("of all: %v", got)
	}

	// Sessions of several accounts of one user, before and after a reload.
	after := userAccounts(t, accounts, "u")
	other := enter(after, "u", 18)
	for _, s := range []*Session{s, other} {
		s.work = work{class: sqltext.Select, plan: querylog.PlanForward}
		s.count(mysql.ComQuery, "", time.Millisecond, nil)
	}
	if got := used(after); len(got) != len(want)+2 {
		t.Errorf("after a reload: %q", got)
	}
	if got := used(userAccounts(t, after, "v")); len(got) != 0 {
		t.Errorf("of a user who is not there any more: %q", got)
	}
}

// The parts of a statement's time add up to the whole, and each part knows of every statement.
func TestTimesAddUp(t *testing.T) {
	shared := new(Shared)
	classes := []sqltext.Class{sqltext.Select, sqltext.Update, sqltext.Show}
	for k := range 300 {
		s := &Session{shared: shared, stats: shared.Stats.cell(uint32(k))}
		s.work = work{class: classes[k%3], got: time.Duration(k) * 1700 * time.Nanosecond}
		if k%2 == 0 {
			s.work.asked = time.Duration(k) * 1200 * time.Nanosecond
		}
		s.count(mysql.ComQuery, "", time.Duration(k)*time.Microsecond*3, nil)
	}
	totals := shared.Stats.Totals()
	var sum uint64
	for class := range totals.Parts {
		for part := range totals.Parts[class] {
			p := &totals.Parts[class][part]
			if p.Count() != 100 {
				t.Errorf("%s, %s: %d of 100 statements", ClassNames[class], PartNames[part], p.Count())
			}
			sum += p.Nanos
		}
	}
	if want := uint64(300*299/2) * 3000; sum != want || totals.Latency.Nanos != want || totals.Latency.Count() != 300 {
		t.Errorf("%d ns in parts, %d of %d statements in all, want %d of 300", sum, totals.Latency.Nanos, totals.Latency.Count(), want)
	}
	if waits := totals.Parts[0][partWait]; waits.Nanos != 50*49/2*6*500 || waits.Buckets[0] == 0 || waits.Buckets[0] == 100 {
		t.Errorf("waits of reads: %+v", waits)
	}
}
