package proxy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"kingshard/proxy/handover"
	"kingshard/proxy/session"
)

// Upgrading is how another binary is started, and who hears of it.
type Upgrading struct {
	// Command starts the process of the new binary; its path is "" where there can be none.
	Command handover.Command
	// Program is this binary's version.
	Program string
	// Begun is called first, Failed if this process goes on as it was, Successor when the new process serves, and Resumed if that
	// died soon and this one serves again.
	Begun, Failed, Resumed func()
	Successor              func(pid int)
}

const (
	// startPatience is how long the new process may take until it is ready to serve.
	startPatience = time.Minute
	// servePatience is how long it may take to serve once it is told to; nobody accepts clients meanwhile.
	servePatience = 10 * time.Second
	// probation is how long this process stays at least, so that it can serve again if the new one dies of its first clients.
	probation = 5 * time.Second
	// endPatience is how long a process may take to end after it broke off.
	endPatience = time.Second
)

var (
	errUpgrading = errors.New("an upgrade is under way, or was made already")
	errNoUpgrade = errors.New("this process was not started from a binary of its own")
	errStopping  = errors.New("the proxy shuts down")
	errInit      = errors.New("process 1 of a container ends with all others: replace the container")
)

// Upgrade starts the binary's file, which may be another one by now, and hands over to its process: listeners at once,
// sessions as they become idle. After an error this process goes on as if nothing had happened. Left tells when it may end.
func (s *Server) Upgrade() (successor string, err error) {
	u := &s.Upgrading
	switch {
	case u.Command.Path == "":
		return "", errNoUpgrade
	case os.Getpid() == 1:
		return "", errInit
	case s.stopping():
		return "", errStopping
	case !s.upgrading.begin(u.Begun):
		return "", errUpgrading
	}
	next, err := s.succession()
	if err != nil {
		s.upgrading.fail(u.Failed)
		return "", err
	}
	u.Successor(next.PID)
	s.serving.Lock()
	if !s.stopping() {
		s.running.Go(func() { s.handOver(next) })
	}
	s.serving.Unlock()
	return fmt.Sprintf("process %d, %s", next.PID, next.Program), nil
}

// underWay tells whether there is an upgrade, or was a good one. Who hears of the end of one may begin the next: what one tells others is told
// ahead of that.
type underWay struct {
	mu sync.Mutex
	is bool
}

func (w *underWay) begin(tell func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.is {
		return false
	}
	w.is = true
	tell()
	return true
}

func (w *underWay) fail(tell func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.is = false
	tell()
}

// succession starts the new process and has it serve; on an error there is none, and this process serves.
func (s *Server) succession() (*handover.Successor, error) {
	s.log.Info("upgrade", "binary", s.Upgrading.Command.Path)
	next, err := handover.Start(s.Upgrading.Command)
	if err != nil {
		return nil, err
	}
	if err := s.handListeners(next); err != nil {
		next.Abandon()
		return nil, err
	}
	return next, nil
}

// handListeners has the new process serve in this one's place.
func (s *Server) handListeners(next *handover.Successor) error {
	offered, err := s.listeners.offer()
	if err != nil {
		return err
	}
	hello := handover.Hello{PID: os.Getpid(), Program: s.Upgrading.Program, Offline: s.admin.Offline()}
	if err := next.Offer(hello, offered, time.Now().Add(startPatience)); err != nil {
		return err
	}
	if s.stopping() {
		return errStopping
	}
	if !s.listeners.gate.pause(s.listeners.all()) {
		return errors.New("the listeners did not pause")
	}
	// Connections that were accepted and have no id yet get one from here on: as many are left out.
	logins := s.logins.count()
	firstID := s.shared.Sessions.NextID() + uint32(logins)
	if err := next.Serve(firstID, time.Now().Add(servePatience)); err != nil {
		s.listeners.gate.resume(s.listeners.all())
		return err
	}
	// They stay open, and this process accepts nobody: if the new one dies, those who wait in their queues are served here.
	s.listeners.ownSockets(false)
	s.listeners.keepAlive(false)
	return nil
}

// giveUpListeners leaves them to the new process for good.
func (s *Server) giveUpListeners() {
	s.listeners.leave()
	s.serving.Lock()
	defer s.serving.Unlock()
	if !s.stopping() {
		// New requests go to the new process; those under way are answered.
		s.running.Go(func() { s.finishHTTP(context.Background(), s.Config().DrainTimeout.Duration()) })
	}
}

// serveAgain takes listening up after the new process died.
func (s *Server) serveAgain(next *handover.Successor) {
	s.log.Error("the new process died: this one accepts clients again", "pid", next.PID, "version", next.Program, "ended", next.Ending())
	s.admin.Trail.Note("upgrade undone", fmt.Sprintf("process %d, %s, died", next.PID, next.Program), next.Ending())
	s.listeners.ownSockets(true)
	s.listeners.keepAlive(true)
	s.listeners.gate.resume(s.listeners.all())
	s.upgrading.fail(s.Upgrading.Resumed)
}

// Left is closed when an upgrade has left this process without sessions, or upgrade_timeout is over: Shutdown is next.
func (s *Server) Left() <-chan struct{} { return s.left }

// handOver moves sessions to the new process as they become idle. Those that cannot move go on here until they end, at the
// longest for upgrade_timeout. If the new process dies meanwhile, this one goes on.
func (s *Server) handOver(next *handover.Successor) {
	stays := false
	defer func() {
		if !stays {
			close(s.left)
		}
	}()
	s.log.Info("handing over", "to", next.PID, "version", next.Program, "sessions", s.shared.Sessions.Len())
	over := make(chan error, 1)
	s.running.Go(func() { over <- next.Run() })
	s.shared.MoveBy(func(state []byte, conn syscall.RawConn) (gone bool, err error) {
		if err = next.Move(state, conn); errors.Is(err, handover.ErrOver) {
			err = fmt.Errorf("%w: %w", session.ErrMoveLater, err)
		}
		return err == nil || errors.Is(err, handover.ErrUncertain), err
	})
	defer func() {
		s.shared.MoveBy(nil)
		next.Release()
	}()
	limit := time.NewTimer(s.Config().UpgradeTimeout.Duration())
	defer limit.Stop()
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	proven := time.NewTimer(probation)
	defer proven.Stop()
	stay := true           // the new process is on probation
	var brokeOff time.Time // when it broke off without a word
	for moving := true; ; {
		if moving {
			for _, one := range s.shared.Sessions.All() {
				one.CallToMove()
			}
		}
		if !stay && s.shared.Sessions.Len() == 0 && s.logins.count() == 0 && s.receivedAll() {
			s.log.Info("handed over", "moved", s.shared.Ends.Totals()["moved"])
			return
		}
		select {
		case <-tick.C:
			if brokeOff.IsZero() {
				continue
			}
			if ended, crashed := next.Ended(); ended && crashed {
				stays = true
				s.serveAgain(next)
				return
			} else if ended || time.Since(brokeOff) > endPatience {
				brokeOff, stay = time.Time{}, false
				s.giveUpListeners()
			}
		case <-proven.C:
			stay = !brokeOff.IsZero()
		case err := <-over:
			over, moving = nil, false
			s.shared.MoveBy(nil)
			s.log.Info("the new process takes no more sessions", "left", s.shared.Sessions.Len())
			if errors.Is(err, handover.ErrGoodbye) {
				stay = false
				s.giveUpListeners()
			} else {
				brokeOff, stay = time.Now(), true
			}
		case <-limit.C:
			s.log.Info("upgrade_timeout is over", "left", s.shared.Sessions.Len())
			return
		case <-s.stop:
			return
		}
	}
}

// receivedAll lets no more sessions come from a predecessor, and tells whether none is on its way.
func (s *Server) receivedAll() bool {
	if s.predecessor == nil {
		return true
	}
	s.predecessor.Stop()
	select { // a session that was on its way is in the list when it is closed
	case <-s.received:
		return s.shared.Sessions.Len() == 0
	default:
		return false
	}
}
