package session

import (
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/querylog"
)

// BenchmarkRecord is what counting a point select costs that the fast lane sent.
func BenchmarkRecord(b *testing.B) {
	shared := new(Shared)
	accounts, err := account.New(&config.Config{UserList: []config.User{{User: "u", Password: "p"}}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	var sessions atomic.Uint32
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		a, _ := accounts.Lookup("u", netip.Addr{})
		s := &Session{shared: shared, id: sessions.Add(1)}
		s.stats = shared.Stats.cell(s.id)
		s.setAccount(a)
		for k := 0; pb.Next(); k++ {
			s.work = work{class: sqltext.Select, plan: querylog.PlanForward, got: 4 * time.Microsecond, shards: 1}
			s.stats.class(s.work.class).looped.Add(1)
			s.forwarded(1, 20)
			s.count(mysql.ComQuery, "", 104*time.Microsecond+time.Duration(k%16)*10*time.Microsecond, nil)
		}
	})
}
