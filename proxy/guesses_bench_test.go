package proxy_test

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/mysqltest"
)

// BenchmarkGuesses has b.N logins with wrong passwords come from 50 addresses, a thousand a second, beside a hundred good ones a second from the
// first of these addresses and as many from elsewhere, each with a statement. It reports what 99 of a hundred good ones take at the most, ahead of
// the guesses and meanwhile, and how many fail. Threat 10 of docs/security.md: run it with -benchtime 10000x.
func BenchmarkGuesses(b *testing.B) {
	p := startProxy(b, oneNode(startScript(b, "script").Addr, 8), "addr: 0.0.0.0:0", "max_login_delay: 1s")
	p.addr = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), p.Addr().(*net.TCPAddr).AddrPort().Port()).String()
	connect := func(host byte) (net.Conn, error) {
		from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, host)}}
		return from.Dial("tcp", p.addr)
	}
	var mu sync.Mutex
	var took []time.Duration
	failed := 0
	good := func(host byte, due time.Time) {
		nc, err := connect(host)
		var c *mysqltest.RawClient
		if err == nil {
			c, err = mysqltest.LoginRaw(nc, rootClient())
		}
		if err == nil {
			_, err = c.Query("SELECT name")
			c.Close()
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, time.Since(due))
		if err != nil {
			failed++
			b.Log(err)
		}
	}
	ninetyNine := func() float64 {
		mu.Lock()
		defer mu.Unlock()
		if len(took) == 0 {
			return 0
		}
		slices.Sort(took)
		p99 := took[(len(took)-1)*99/100]
		took = nil
		return float64(p99.Microseconds()) / 1000
	}
	stop := make(chan struct{})
	var logins sync.WaitGroup
	logins.Go(func() {
		for began, n := time.Now(), 1; ; n++ {
			due := began.Add(time.Duration(n) * 10 * time.Millisecond)
			select {
			case <-stop:
				return
			case <-time.After(time.Until(due)):
			}
			logins.Go(func() { good(1, due) })
			logins.Go(func() { good(200, due) })
		}
	})
	enough := func(n int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(took) >= n
		}
	}
	mysqltest.WaitFor(b, "the first logins", enough(200))
	ninetyNine()
	mysqltest.WaitFor(b, "logins ahead of the guesses", enough(1000))
	before := ninetyNine()

	b.ResetTimer()
	var crowd sync.WaitGroup
	var refused atomic.Int64
	for began, k := time.Now(), 0; k < b.N; k++ {
		<-time.After(time.Until(began.Add(time.Duration(k) * time.Millisecond)))
		crowd.Go(func() {
			nc, err := connect(byte(1 + k%50))
			if err != nil {
				b.Error(err)
				return
			}
			err = answerGreeting(nc, mysql.HandshakeResponse41{User: "root", AuthPlugin: auth.NativePassword, AuthResponse: make([]byte, 20)})
			var told *mysql.SQLError
			if !errors.As(err, &told) {
				b.Errorf("a guess ends in %v", err)
			} else if told.Code == mysql.ERHostIsBlocked {
				refused.Add(1)
			}
		})
	}
	crowd.Wait()
	b.StopTimer()
	close(stop)
	logins.Wait()
	b.ReportMetric(before, "ms-p99-before")
	b.ReportMetric(ninetyNine(), "ms-p99-meanwhile")
	b.ReportMetric(float64(failed), "failed")
	b.ReportMetric(float64(refused.Load()), "guesses-not-looked-at")
	b.ReportMetric(0, "ns/op")
}
