package observe

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
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

func userAccounts(t testing.TB, previous *account.Store, names ...string) *account.Store {
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

// enter gives the Command of a session of a user's.
func enter(t testing.TB, s *Stats, accounts *account.Store, user string, id uint32) *Command {
	t.Helper()
	a, known := accounts.Lookup(user, netip.Addr{})
	if !known {
		t.Fatalf("no user %s", user)
	}
	c := New(s, id)
	c.SetAccount(a)
	return &c
}

// Each command is counted once, under its user, with what came of it; over reloads, as long as there is the user.
func TestUsage(t *testing.T) {
	stats, accounts := new(Stats), userAccounts(t, nil, "u", "v")
	c := enter(t, stats, accounts, "u", 1)
	cut := func(o Origin) uint8 { return 1 + uint8(o) }
	for _, of := range []struct {
		cmd  mysql.Command
		work Work
	}{
		{mysql.ComQuery, Work{Class: sqltext.Select, Plan: querylog.PlanForward}},
		{mysql.ComQuery, Work{Class: sqltext.Update, Plan: querylog.PlanRefuse, ErrorCode: 9012, Origin: OriginProxy}},
		{mysql.ComStmtExecute, Work{Class: sqltext.Select, Plan: querylog.PlanMerge, ErrorCode: 1054, Origin: OriginBackend}},
		{mysql.ComStmtExecute, Work{Class: sqltext.Select, Plan: querylog.PlanFinish, cut: cut(OriginBackend)}},
		{mysql.ComStmtPrepare, Work{}},
		{mysql.ComPing, Work{}},
		{mysql.ComSetOption, Work{ErrorCode: mysql.ERMalformedPacket, Origin: OriginClient, cut: cut(OriginProxy)}}, // the first says more
		{mysql.ComQuery, Work{Class: sqltext.Select, cut: cut(OriginClient)}},
		{0xFE, Work{ErrorCode: mysql.ERUnknownCom, Origin: OriginProxy}}, // no command of the protocol
	} {
		c.Work = of.work
		c.End(of.cmd, time.Millisecond)
	}
	want := []string{
		"u COM_QUERY forward ok ", "u COM_QUERY local error client", "u COM_QUERY refuse error proxy",
		"u COM_STMT_EXECUTE finish error backend", "u COM_STMT_EXECUTE merge error backend", "u COM_STMT_PREPARE local ok ",
		"u other local error client", "u other local error proxy", "u other local ok ",
	}
	if got := used(accounts); !slices.Equal(got, want) {
		t.Errorf("counted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := stats.Totals().Commands; got["COM_QUERY"] != 3 || got["COM_STMT_EXECUTE"] != 2 || got["COM_PING"] != 1 || got["COM_STMT_PREPARE"] != 1 {
		t.Errorf("of all: %v", got)
	}

	// Sessions of several accounts of one user, before and after a reload.
	after := userAccounts(t, accounts, "u")
	for _, c := range []*Command{c, enter(t, stats, after, "u", 18)} {
		c.Work = Work{Class: sqltext.Select, Plan: querylog.PlanForward}
		c.End(mysql.ComQuery, time.Millisecond)
	}
	if got := used(after); len(got) != len(want)+2 {
		t.Errorf("after a reload: %q", got)
	}
	if got := used(userAccounts(t, after, "v")); len(got) != 0 {
		t.Errorf("of a user who is not there any more: %q", got)
	}
}

// A user who has done nothing yet has a count to begin with, of each of the commands that run statements.
func TestUsageBegins(t *testing.T) {
	var zeros []string
	Usages(userAccounts(t, nil, "u"), func(u Usage) {
		if u.Origin != "" || u.N != 0 {
			return
		}
		zeros = append(zeros, u.Command+" "+u.Plan)
	})
	if want := []string{"COM_QUERY forward", "COM_STMT_EXECUTE forward"}; !slices.Equal(zeros, want) {
		t.Errorf("%q, want %q", zeros, want)
	}
}

// The time of a statement falls into parts by when it asked for a connection, and when it got one.
func TestParts(t *testing.T) {
	for name, of := range map[string]struct {
		asked, got, took time.Duration
		want             Parts
	}{
		"neither":             {0, 0, 9, Parts{Proxy: 9}},
		"had one already":     {0, 3, 9, Parts{Proxy: 3, Backend: 6}},
		"asked and got":       {1, 3, 9, Parts{Proxy: 1, Wait: 2, Backend: 6}},
		"asked in vain":       {2, 0, 9, Parts{Proxy: 2, Wait: 7}},
		"the clock went back": {1, 3, 2, Parts{Wait: 2}},
		"and in vain":         {5, 0, 2, Parts{Proxy: 2}},
		"to before the begin": {0, 0, -2, Parts{}},
	} {
		t.Run(name, func(t *testing.T) {
			stats := new(Stats)
			c := New(stats, 7)
			c.asked, c.got = of.asked*time.Millisecond, of.got*time.Millisecond
			p, statement := c.End(mysql.ComQuery, of.took*time.Millisecond)
			of.want.Proxy, of.want.Wait, of.want.Backend = of.want.Proxy*time.Millisecond, of.want.Wait*time.Millisecond, of.want.Backend*time.Millisecond
			if !statement || p != of.want {
				t.Errorf("%+v, %v, want %+v", p, statement, of.want)
			}
			sums := stats.Totals().Parts[classOf(0)]
			if sums[partProxy].Nanos != uint64(p.Proxy) || sums[partWait].Nanos != uint64(p.Wait) || sums[partBackend].Nanos != uint64(p.Backend) {
				t.Errorf("in all: %d, %d and %d ns", sums[partProxy].Nanos, sums[partWait].Nanos, sums[partBackend].Nanos)
			}
		})
	}
}

// Only the first asking and the first exchange count, from the command's begin on; Begin forgets them.
func TestAskAndExchange(t *testing.T) {
	first, second := &backend.Instance{Addr: "first"}, &backend.Instance{Addr: "second"}
	c := New(new(Stats), 1)
	for range 2 {
		c.Begin()
		if c.Work != (Work{}) {
			t.Errorf("after Begin: %+v", c.Work)
		}
		c.Ask(time.Millisecond)
		c.Ask(time.Second)
		begin := time.Now().Add(-time.Minute)
		c.Exchange(first, begin)
		c.Exchange(second, begin.Add(-time.Hour))
		if c.Instance != first || c.asked != time.Millisecond || c.got < time.Minute || c.got > time.Hour || c.Plan != querylog.PlanForward || c.Shards != 1 {
			t.Errorf("%+v", c.Work)
		}
		c.Spread(querylog.PlanMerge, 4)
		c.Exchange(second, begin)
		if c.Plan != querylog.PlanMerge || c.Shards != 4 {
			t.Errorf("on several shards: %+v", c.Work)
		}
		c.Fail(1062, OriginBackend)
	}
}

// A server is told of a statement once: by End, unless it was told of its part.
func TestEndTellsTheServer(t *testing.T) {
	i := &backend.Instance{}
	c := New(new(Stats), 1)
	c.Exchange(i, time.Now())
	c.Forward(2, 30)
	c.Fail(1054, OriginBackend)
	c.End(mysql.ComQuery, time.Hour)
	c.Begin()
	c.Exchange(i, time.Now())
	c.Fail(9007, OriginProxy) // which is not the server's
	c.End(mysql.ComStmtExecute, time.Hour)
	c.End(mysql.ComPing, time.Hour)
	c.EachCounted = true
	c.End(mysql.ComQuery, time.Hour)
	if l := i.Load(); l.Statements != 2 || l.Bytes != 30 || l.Errors != 1 || l.Busy < time.Hour {
		t.Errorf("%+v", l)
	}
}

// What a statement counts is in the sums of its class, and of all.
func TestClasses(t *testing.T) {
	stats := new(Stats)
	for k, of := range []struct {
		class sqltext.Class
		place int
	}{
		{sqltext.Select, 0}, {sqltext.With, 0}, {sqltext.Table, 0}, {sqltext.Values, 0},
		{sqltext.Insert, 1}, {sqltext.Replace, 1}, {sqltext.Update, 1}, {sqltext.Delete, 1}, {sqltext.LoadData, 1}, {sqltext.LoadDataLocal, 1},
		{sqltext.Show, 2}, {sqltext.Set, 2}, {sqltext.DDL, 2},
	} {
		c := New(stats, uint32(k))
		c.Class = of.class
		before := stats.Totals()
		c.Forward(2, 100)
		c.Forward(0, 7) // of an answer without rows
		c.CountLooped()
		c.CountShared()
		c.CountReplica()
		c.Counters.Late.Add(1)
		c.End(mysql.ComQuery, time.Millisecond)
		if c.Rows != 2 || c.Bytes != 107 {
			t.Errorf("%v: %+v", of.class, c.Work)
		}
		if after := stats.Totals(); after.Parts[of.place][partProxy].Count() != before.Parts[of.place][partProxy].Count()+1 {
			t.Errorf("%v is not counted as %s", of.class, ClassNames[of.place])
		}
	}
	n := New(stats, 3)
	n.Fail(1064, OriginBackend)
	totals := stats.Totals()
	if totals.Rows != 26 || totals.Bytes != 1300 || totals.Looped != 13 || totals.Shared != 13 || totals.ReplicaReads != 13 || totals.Late != 13 || stats.Looped() != 13 {
		t.Errorf("%+v", totals)
	}
	if e := totals.Errors; e["backend"] != 1 || e["client"] != 0 || e["proxy"] != 0 || len(e) != 3 {
		t.Errorf("errors: %v", e)
	}
}

// The parts of a statement's time add up to the whole, and each part knows of every statement.
func TestTimesAddUp(t *testing.T) {
	stats := new(Stats)
	classes := []sqltext.Class{sqltext.Select, sqltext.Update, sqltext.Show}
	for k := range 300 {
		c := New(stats, uint32(k))
		c.Work = Work{Class: classes[k%3], got: time.Duration(k) * 1700 * time.Nanosecond}
		if k%2 == 0 {
			c.asked = time.Duration(k) * 1200 * time.Nanosecond
		}
		c.End(mysql.ComQuery, time.Duration(k)*time.Microsecond*3)
	}
	totals := stats.Totals()
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

// A plain command, neither labelled nor traced, takes no memory.
func TestPlainCommandAllocatesNothing(t *testing.T) {
	var labels Labels
	i := &backend.Instance{}
	c := enter(t, new(Stats), userAccounts(t, nil, "u"), "u", 1)
	if n := testing.AllocsPerRun(200, func() {
		c.Begin()
		if labels.On() || c.Traced() || c.Labelled() {
			t.Fatal("it is labelled or traced")
		}
		c.Class = sqltext.Select
		c.Ask(time.Microsecond)
		EndSpan(c.WaitSpan(i, "d"), nil)
		c.Exchange(i, time.Now())
		span := c.ShardSpan(i, "d", "SELECT 1")
		c.Forward(1, 20)
		c.EndResponse(span, false, nil)
		c.End(mysql.ComQuery, time.Millisecond)
		c.Unlabel()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// An answer that is more than a user's limits is counted for the user, by the limit; no other error is.
func TestExceeded(t *testing.T) {
	accounts := userAccounts(t, nil, "u")
	a, _ := accounts.Lookup("u", netip.Addr{})
	q := &mysql.Quota{RowsOver: &mysql.SQLError{Code: 1}, BytesOver: &mysql.SQLError{Code: 2}}
	if !Exceeded(a, q, q.RowsOver) || !Exceeded(a, q, q.BytesOver) || !Exceeded(a, q, q.BytesOver) || Exceeded(a, q, &mysql.SQLError{Code: 1}) ||
		Exceeded(a, q, nil) || Exceeded(a, nil, q.RowsOver) || Exceeded(a, &mysql.Quota{}, nil) {
		t.Error("an error is taken for another")
	}
	got := map[account.Limit]uint64{}
	accounts.Refusals(func(_ string, l account.Limit, n uint64) { got[l] += n })
	if got[account.LimitRows] != 1 || got[account.LimitBytes] != 2 {
		t.Errorf("%v", got)
	}
}
