package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kingshard/mysql/mysqltest"
)

// Options say how faults are run.
type Options struct {
	Kind     mysqltest.Kind
	Proxy    string  // path of the kingshard binary
	Revision string  // of it
	Rate     float64 // operations a second
	Faults   []Fault
	Warmup   time.Duration // ahead of each fault
	Lasts    time.Duration // each fault, at the least
	Behind   time.Duration // how long the load goes on behind each
	Stuck    time.Duration // how long a session may wait for an answer
	Alone    time.Duration // how long errors may go on behind a fault
	Progress func(string)  // told what is being done; nil is nobody
	Done     func(Result)  // told of each fault
}

// replica reports whether a fault needs one.
func (o *Options) replica() bool {
	for _, f := range o.Faults {
		if f.replica {
			return true
		}
	}
	return false
}

// Run runs the faults one after the other, those that need the same servers on the same, and returns what came of each. An error means that something went
// wrong beside them.
func Run(ctx context.Context, o Options) ([]Result, error) {
	var all []Result
	for which := range setupsEnd {
		var faults []Fault
		for _, f := range o.Faults {
			if f.needs == which {
				faults = append(faults, f)
			}
		}
		if len(faults) == 0 {
			continue
		}
		results, err := runOn(ctx, o, which, faults)
		all = append(all, results...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// runOn runs the faults that need the same servers.
func runOn(ctx context.Context, o Options, which setup, faults []Fault) (results []Result, err error) {
	s, err := open(ctx, o, which)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	l := &load{db: s.db, rate: o.Rate}
	if err := s.warm(ctx, l, o); err != nil {
		return nil, err
	}
	for _, f := range faults {
		r, err := s.judge(ctx, l, o, f)
		if err != nil {
			log, _ := s.cluster.ProxyLog()
			return results, fmt.Errorf("%s: %w\n%.8000s", f.Name, err, log)
		}
		results = append(results, r)
		if o.Done != nil {
			o.Done(r)
		}
	}
	return results, nil
}

// warm runs the load for a moment: what runs for the first time makes what stays, which is no leak of the first fault.
func (s *subject) warm(ctx context.Context, l *load, o Options) error {
	o.Lasts, o.Behind = o.Warmup, 0
	_, _, err := s.under(ctx, l, o, calm)
	return err
}

// under runs the load, and a fault in it, until its last operation has ended, and returns when the fault began and when all was whole.
func (s *subject) under(ctx context.Context, l *load, o Options, f Fault) (began, healed time.Time, err error) {
	loaded, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.run(loaded)
	}()
	err = pause(ctx, o.Warmup)
	began = time.Now()
	if err == nil {
		err = f.run(ctx, s, o.Lasts)
	}
	healed = time.Now()
	if err == nil {
		err = pause(ctx, o.Behind)
	}
	stop()
	<-ended
	s.hangUp()
	return began, healed, err
}

// judge runs a fault and judges what came of it.
func (s *subject) judge(ctx context.Context, l *load, o Options, f Fault) (Result, error) {
	r := Result{Fault: f.Name, Server: s.cluster.Version(), Revision: o.Revision}
	before, err := s.calmLevel(ctx)
	if err != nil {
		return r, err
	}
	l.take()
	from := l.next
	earlier, err := s.readBack(ctx, from)
	if err != nil {
		return r, err
	}
	began, healed, err := s.under(ctx, l, o, f)
	if err != nil {
		return r, err
	}
	r.Began, r.Lasted = began.UTC().Truncate(time.Second), seconds(healed.Sub(began))
	leaked, doubt, err := s.settled(ctx, before)
	if err != nil {
		return r, err
	}
	if leaked != "" {
		r.broke(Leak, leaked, 1)
	}
	if doubt != "" {
		r.broke(Alone, doubt, 1)
	}
	operations := l.take()
	r.count(&f, &o, operations, began, healed)
	after, err := s.readBack(ctx, from)
	if err != nil {
		return r, err
	}
	wrongs, lost, half := after.check(operations, earlier.balances)
	for guarantee, found := range map[string][]string{WrongAnswer: wrongs, Lost: lost, Half: half} {
		if len(found) > 0 {
			r.broke(guarantee, found[0], len(found))
		}
	}
	return r, nil
}

// calmLevel is what the proxy has when no client is there.
func (s *subject) calmLevel(ctx context.Context) (level, error) {
	for end := time.Now().Add(settleMax); ; {
		l, err := s.level(ctx, true)
		if err != nil {
			return l, err
		}
		if l.Sessions == 0 && l.InUse == 0 && l.Doubt == 0 || time.Now().After(end) {
			return l, nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return l, err
		}
	}
}
