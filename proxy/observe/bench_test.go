package observe

import (
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/querylog"
)

// BenchmarkCommand is what counting a point select costs that the fast lane sent.
func BenchmarkCommand(b *testing.B) {
	stats, accounts := new(Stats), userAccounts(b, nil, "u")
	var sessions atomic.Uint32
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		a, _ := accounts.Lookup("u", netip.Addr{})
		c := New(stats, sessions.Add(1))
		c.SetAccount(a)
		for k := 0; pb.Next(); k++ {
			c.Work = Work{Class: sqltext.Select, Plan: querylog.PlanForward, got: 4 * time.Microsecond, Shards: 1}
			c.CountLooped()
			c.Forward(1, 20)
			c.End(mysql.ComQuery, 104*time.Microsecond+time.Duration(k%16)*10*time.Microsecond)
		}
	})
}

func BenchmarkBucketOf(b *testing.B) {
	sum, k := 0, time.Duration(0)
	for b.Loop() {
		k = (k*5 + 977) & (1<<22 - 1)
		sum += bucketOf(k)
	}
	if sum == 0 {
		b.Fatal("all in bucket 0")
	}
}

func BenchmarkTracingOff(b *testing.B) {
	var c Command
	b.ReportAllocs()
	for b.Loop() {
		EndSpan(c.ShardSpan(nil, "", ""), nil)
	}
}
