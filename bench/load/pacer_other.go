//go:build !linux

package load

import "time"

// pacer wakes its goroutine at equal intervals.
type pacer struct{ ticker *time.Ticker }

func newPacer(interval time.Duration) (*pacer, error) {
	return &pacer{time.NewTicker(max(interval, time.Millisecond))}, nil
}

func (p *pacer) wait() error {
	<-p.ticker.C
	return nil
}

func (p *pacer) close() { p.ticker.Stop() }
