package proxy_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// steadyLoad offers statements at a constant rate, whatever becomes of them, to a table test.t (id INT PRIMARY KEY): of five operations four are a
// statement by itself, an INSERT or a SELECT, and one is a transaction of four. What an operation took counts from when it was due.
type steadyLoad struct {
	clients chan *mysqltest.RawClient
	stop    chan struct{}
	done    sync.WaitGroup

	mu     sync.Mutex
	took   []timed
	faults map[string]int // errors by what they say
	acked  []int          // ids of rows
	lost   int            // connections
}

type timed struct {
	due, begun, end time.Time
	fault           bool
}

// startLoad has so many clients of a proxy send so many statements a second until finish.
func startLoad(t testing.TB, p *testProxy, user string, clients, statements int) *steadyLoad {
	l := &steadyLoad{clients: make(chan *mysqltest.RawClient, clients), stop: make(chan struct{}), faults: map[string]int{}}
	for range clients {
		l.clients <- dial(t, p.addr, mysqltest.ClientConfig{User: user, Password: user})
	}
	gap := time.Second * 8 / 5 / time.Duration(statements)
	began := time.Now()
	l.done.Go(func() {
		for n := 1; ; n++ {
			due := began.Add(time.Duration(n) * gap)
			select {
			case <-l.stop:
				return
			case <-time.After(time.Until(due)):
			}
			c := <-l.clients
			l.done.Go(func() { l.operate(c, n, due) })
		}
	})
	return l
}

func (l *steadyLoad) operate(c *mysqltest.RawClient, n int, due time.Time) {
	texts := []string{fmt.Sprintf("INSERT INTO test.t VALUES (%d)", n)}
	switch n % 5 {
	case 0:
		texts = []string{"BEGIN", texts[0], fmt.Sprintf("SELECT id FROM test.t WHERE id = %d FOR UPDATE", n-1), "COMMIT"}
	case 1, 3:
		texts = []string{fmt.Sprintf("SELECT id FROM test.t WHERE id = %d", n-100)}
	}
	fault, begun := "", time.Now()
	for _, text := range texts {
		if fault = told(c.Query(text)); fault != "OK" {
			break
		}
	}
	end := time.Now()
	if fault != "OK" && len(texts) > 1 {
		_, _ = c.Query("ROLLBACK") // it may go on
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, timed{due, begun, end, fault != "OK"})
	if fault != "OK" {
		l.faults[fault]++
	} else if n%5 != 1 && n%5 != 3 {
		l.acked = append(l.acked, n)
	}
	l.clients <- c
}

// finish ends the load when all that was sent is answered.
func (l *steadyLoad) finish() {
	close(l.stop)
	l.done.Wait()
}

// percentile is what a thousand in thousandths of the operations took at the most that were due in a time.
func (l *steadyLoad) percentile(thousandths int, from, to time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []time.Duration
	for _, one := range l.took {
		if !one.due.Before(from) && one.due.Before(to) {
			all = append(all, one.end.Sub(one.due))
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)*thousandths/1000]
}

// errors is how many operations had one.
func (l *steadyLoad) errors() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.faults {
		n += one
	}
	return n
}

// slowest is what the slowest operation took from when it was sent.
func (l *steadyLoad) slowest() (most time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.took {
		most = max(most, one.end.Sub(one.begun))
	}
	return most
}

// served is when the first operation was answered behind a time, without an error.
func (l *steadyLoad) served(t testing.TB, after time.Time) time.Time {
	var first time.Time
	mysqltest.WaitFor(t, "an answer", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, one := range l.took {
			if !one.fault && one.end.After(after) {
				first = one.end
				return true
			}
		}
		return false
	})
	return first
}
