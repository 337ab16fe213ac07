package proxy

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"kingshard/proxy/process"
)

// Shutdown drains the server: no new clients; sessions end when they are idle and outside of a transaction. Those that
// are not by the time ctx ends are cut off. It returns when everything the server started has stopped.
func (s *Server) Shutdown(ctx context.Context) error {
	s.shared.Draining.Store(true)
	s.shared.Pause.Cut()
	s.serving.Lock()
	if !s.stopping() {
		close(s.stop)
	}
	s.serving.Unlock()
	s.listeners.closeForClients()
	s.stopReceiving()
	err := s.drain(ctx)
	s.logins.closeAll()
	s.finishHTTP(ctx, httpPatience)
	s.waitOrCutOff(cutOffPatience)
	s.closeAll()
	return err
}

// cutOffPatience is how long a shutdown waits for sessions to end that were told to, and for the rest of what the server does. Whoever tells a server
// of a KILL takes less.
const cutOffPatience = 10 * time.Second

// waitOrCutOff returns when nothing runs any more. What does after the patience loses its connections to servers: a server that is silent, or limits
// by the hour, must not keep the process.
func (s *Server) waitOrCutOff(patience time.Duration) {
	over := make(chan struct{})
	go func() {
		s.lanes.Drain()
		s.running.Wait()
		s.shared.Atomic.Wait()
		close(over)
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-over:
		return
	case <-late.C:
	}
	s.log.Warn("the shutdown waits for servers in vain: connections to them are cut off", "after", patience, "sessions", s.shared.Sessions.Len(), "stacks", stacks())
	s.reload.Lock()
	for _, n := range s.nodes {
		n.CutOff()
	}
	s.reload.Unlock()
	interruptAll(s.shared.Sessions.All())
	<-over
}

// stacksMax is the most that is logged of what goroutines do, in bytes.
const stacksMax = 64 << 10

// stacks says where the goroutines are, without any value of theirs: where a shutdown waits longer than it should, this says why.
func stacks() string {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1) // a builder takes all
	return b.String()[:min(b.Len(), stacksMax)]
}

// drainPoll is how often a drain looks for sessions that have become idle.
const drainPoll = 20 * time.Millisecond

// drain ends idle sessions again and again until none is left or ctx ends; then all.
func (s *Server) drain(ctx context.Context) error {
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	for {
		left := 0
		for _, one := range s.shared.Sessions.All() {
			if !one.CloseIfIdle(process.EndDrained) {
				left++
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			interruptAll(s.shared.Sessions.All())
			return fmt.Errorf("%d sessions did not end within drain_timeout and were cut off", left)
		}
	}
}

// interruptsMax is how many servers are told of a KILL at a time.
const interruptsMax = 64

// interruptAll ends sessions and what they run. A server that is silent costs each of its sessions process.KillTimeout, but not one behind the other.
func interruptAll(sessions []*process.Entry) {
	var telling sync.WaitGroup
	defer telling.Wait()
	places := make(chan struct{}, interruptsMax)
	for _, one := range sessions {
		places <- struct{}{}
		telling.Go(func() {
			one.Interrupt(true)
			<-places
		})
	}
}

// httpPatience is how long a shutdown waits for answers to HTTP requests that are under way: a scrape, or the one that asked for it.
const httpPatience = time.Second

// finishHTTP ends the HTTP servers, those requests answered that do not take longer than the patience.
func (s *Server) finishHTTP(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.listeners.finishHTTP(ctx)
}
