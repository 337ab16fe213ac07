package proxy

import (
	"fmt"
	"log/slog"
	"net"
	"time"

	"kingshard/config"
	"kingshard/proxy/handover"
	"kingshard/proxy/session"
)

// TakeOver makes the server of a new binary's process: it goes on with the listeners of the old one, whose offer it has received,
// and, from Serve on, with its sessions. It returns when the old process accepts no clients any more. program is this
// binary's version. On an error the old process goes on, and the caller tells it why.
func TakeOver(cfg *config.Config, log *slog.Logger, from *handover.Predecessor, program string) (*Server, error) {
	s, err := build(cfg, log, from)
	if err != nil {
		return nil, err
	}
	s.awaitPrimaries()
	firstID, err := from.Ready(program, time.Now().Add(startPatience))
	if err != nil {
		s.closeAll()
		return nil, err
	}
	s.received = make(chan struct{})
	s.shared.Sessions.GoOnFrom(firstID)
	s.admin.SetOffline(from.Offline)
	s.listeners.ownSockets(true)
	s.serveHTTP()
	return s, nil
}

// awaitPrimaries waits until all primaries have answered, so that the first statements find them known; those that do not
// within connect_timeout are down, which is no reason to stay with the old process.
func (s *Server) awaitPrimaries() {
	over := time.NewTimer(s.cfg.ConnectTimeout.Duration())
	defer over.Stop()
	for _, n := range s.nodes {
		select {
		case <-n.Primary.Known():
		case <-over.C:
			return
		}
	}
}

// receive takes sessions from the old process until it has no more.
func (s *Server) receive() {
	defer close(s.received)
	from := s.predecessor
	defer from.Close()
	err := from.Serving()
	detail := fmt.Sprintf("process %d, %s, has handed over", from.PID, from.Program)
	s.admin.Trail.Note("upgrade", detail, "ok")
	s.log.Info("upgrade", "from", from.PID, "version", from.Program)
	if err == nil {
		err = from.Sessions(s.adopt)
	}
	came := s.shared.Stats.Adopted.Load()
	outcome := "ok"
	if err != nil {
		outcome = err.Error()
		s.log.Error("hand-over broke off", "from", from.PID, "sessions", came, "error", err)
	} else {
		s.log.Info("the old process hands over no more", "from", from.PID, "sessions", came)
	}
	s.admin.Trail.Note("upgrade done", fmt.Sprintf("%d sessions came from process %d", came, from.PID), outcome)
}

// stopReceiving lets no more sessions come; those that were on their way have come when it returns.
func (s *Server) stopReceiving() {
	s.serving.Lock()
	receiving := s.receiving
	s.serving.Unlock()
	switch {
	case receiving:
		s.predecessor.Stop()
		<-s.received
	case s.predecessor != nil:
		s.predecessor.Close()
	}
}

// adopt goes on with a session of the old process.
func (s *Server) adopt(state []byte, nc net.Conn) error {
	keepAlive(nc)
	if s.stopping() {
		_ = nc.Close()
		return errStopping
	}
	one, err := session.Adopt(nc, state, &s.shared)
	if err != nil {
		s.log.Warn("a session was declined", "error", err)
		return err
	}
	s.running.Go(one.Resume)
	return nil
}
