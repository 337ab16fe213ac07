package load

import (
	"errors"
	"sync"
	"sync/atomic"

	"kingshard/mysql"
)

// Result is what clients saw while they were measured.
type Result struct {
	Seconds float64
	Queries uint64 // answered, refusals not included
	Errors  uint64
	// FirstError is the first refusal or failure, "" without any.
	FirstError string
	Latency    Latency
}

// QPS is the throughput, queries a second.
func (r Result) QPS() float64 {
	if r.Seconds == 0 {
		return 0
	}
	return float64(r.Queries) / r.Seconds
}

// Window is told when the measured time begins and ends; both are called once, Begin first, by one goroutine. When the
// load cannot even begin, neither is called.
type Window struct {
	Begin, End func()
}

func (w Window) begin() {
	if w.Begin != nil {
		w.Begin()
	}
}

func (w Window) end() {
	if w.End != nil {
		w.End()
	}
}

// faults counts errors and keeps the first.
type faults struct {
	count atomic.Uint64
	once  sync.Once
	first string
}

func (f *faults) add(err error) {
	f.once.Do(func() { f.first = err.Error() })
	f.count.Add(1)
}

// goesOn tells whether a connection can be used after the error: the server refused one statement.
func goesOn(err error) bool {
	var refused *mysql.SQLError
	return errors.As(err, &refused)
}
