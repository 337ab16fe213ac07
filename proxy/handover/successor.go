package handover

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"kingshard/mysql"
)

// environment names the descriptor of the new process's end of the pair.
const environment = "KINGSHARD_HANDOVER"

// inheritedFD is that descriptor: the first one behind standard error.
const inheritedFD = 3

// writePatience bounds a write of what the other side should read at once.
const writePatience = 10 * time.Second

// Command is what starts the new process.
type Command struct {
	Path string
	Args []string // without the program's name
}

// CommandOf is this process's own: the file that the path names by now, which need not be the one that runs.
func CommandOf(args []string) (Command, error) {
	path, err := exec.LookPath(args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return Command{}, err
	}
	return Command{Path: path, Args: args[1:]}, nil
}

// Successor is the new process, as the old one sees it.
type Successor struct {
	PID     int
	Program string // its version, known when it is ready

	pipe    *pipe
	process *exec.Cmd

	moves   sync.WaitGroup // under way
	mu      sync.Mutex
	lastID  uint32
	waiting map[uint32]chan<- error
	broken  error // why no session can move any more

	ended  bool
	status unix.WaitStatus // if ended
}

// Start starts the new process with the environment of this one. The caller ends with Release or Abandon.
func Start(c Command) (*Successor, error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "hand-over")
	defer theirs.Close()
	p, err := newPipe(os.NewFile(uintptr(fds[0]), "hand-over"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isOurs), fmt.Sprintf("%s=%d", environment, inheritedFD))
	if err := cmd.Start(); err != nil {
		_ = p.close()
		return nil, err
	}
	return &Successor{PID: cmd.Process.Pid, pipe: p, process: cmd, waiting: make(map[uint32]chan<- error)}, nil
}

// isOurs tells the variables that are about one process and not its successor.
func isOurs(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == environment || name == "WATCHDOG_PID"
}

// Listener is one that the new process gets; it stays open here.
type Listener struct {
	Name ListenerName
	Conn syscall.Conn
}

// Offer says who this process is and gives the listeners. It returns when the new process is ready to serve, with an error
// if it is not by the deadline: the caller abandons it then.
func (s *Successor) Offer(h Hello, listeners []Listener, deadline time.Time) error {
	h.Listeners = len(listeners)
	err := s.pipe.write(KindHello, h.appendTo(nil), nil, time.Until(deadline))
	for _, l := range listeners {
		var raw syscall.RawConn
		if err == nil {
			raw, err = l.Conn.SyscallConn()
		}
		if err == nil {
			err = s.pipe.write(KindListener, l.Name.appendTo(nil), raw, time.Until(deadline))
		}
	}
	// A process that refuses may have ended before it read all that.
	f, readErr := s.expect(KindReady, deadline)
	if readErr != nil {
		return readErr
	}
	if err != nil {
		return err
	}
	s.Program = string(f.Payload)
	return nil
}

// Serve tells the new process to accept clients, with connection ids from firstID, and returns when it does.
func (s *Successor) Serve(firstID uint32, deadline time.Time) error {
	if err := s.pipe.write(KindServe, mysql.AppendUint32(nil, firstID), nil, time.Until(deadline)); err != nil {
		return s.why(err)
	}
	_, err := s.expect(KindServing, deadline)
	return err
}

// expect reads a frame of a kind.
func (s *Successor) expect(want Kind, deadline time.Time) (Frame, error) {
	f, err := s.pipe.read(deadline)
	if err != nil {
		return f, s.why(err)
	}
	f.close()
	switch f.Kind {
	case want:
		return f, nil
	case KindRefused:
		return f, fmt.Errorf("the new process refused: %s", f.Payload)
	}
	return f, errFrame
}

// why says what became of a process that does not answer.
func (s *Successor) why(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("the new process was not ready in time")
	case errors.Is(err, errFrame):
		return fmt.Errorf("the new process does not speak of hand-overs: %w", err)
	}
	// Its end of the pair is closed: either it ends, or it knows of no hand-overs, and is ended.
	s.Abandon()
	return fmt.Errorf("the new process ended before it took over (%s): what it had to say is in its log", s.process.ProcessState)
}

// Abandon ends a new process that does not take over, and waits for its end.
func (s *Successor) Abandon() {
	_ = s.pipe.close()
	if s.process.ProcessState != nil {
		return
	}
	ended := time.AfterFunc(time.Second, func() { _ = s.process.Process.Kill() })
	_ = s.process.Wait()
	ended.Stop()
}

// ErrUncertain says that nobody knows whether the new process has a session.
var ErrUncertain = errors.New("the new process ended while it took a session over")

// ErrOver says that nothing can be handed over any more.
var ErrOver = errors.New("nothing can be handed over any more")

// Move gives a session and its connection to the new process. The connection stays open here; after nil and
// ErrUncertain nobody may use it any more. It is for any goroutine, while Run runs.
func (s *Successor) Move(state []byte, conn syscall.RawConn) error {
	if len(state)+4 > SessionMax {
		return fmt.Errorf("the session's state is longer than %d bytes", SessionMax)
	}
	answer := make(chan error, 1)
	s.mu.Lock()
	if s.broken != nil {
		s.mu.Unlock()
		return s.broken
	}
	s.moves.Add(1)
	defer s.moves.Done()
	s.lastID++
	id := s.lastID
	s.waiting[id] = answer
	s.mu.Unlock()
	if err := s.pipe.write(KindSession, append(mysql.AppendUint32(nil, id), state...), conn, writePatience); err != nil {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
		return fmt.Errorf("%w: %w", ErrOver, err) // it was not sent whole
	}
	return <-answer
}

// ErrGoodbye says that the new process goes on without this one, or ends in order.
var ErrGoodbye = errors.New("the new process has said goodbye")

// Ended tells whether the new process has ended, and whether it was not in order: it crashed, or was killed. It is for the goroutine that
// calls Release.
func (s *Successor) Ended() (ended, crashed bool) {
	if !s.ended {
		pid, err := unix.Wait4(s.PID, &s.status, unix.WNOHANG, nil)
		s.ended = err == nil && pid == s.PID
	}
	return s.ended, s.ended && !(s.status.Exited() && s.status.ExitStatus() == 0)
}

// Ending is how a process that has Ended did.
func (s *Successor) Ending() string {
	if s.status.Signaled() {
		return "signal: " + s.status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", s.status.ExitStatus())
}

// Run takes the answers to Move until the new process wants no more or Release is called; then it returns why.
func (s *Successor) Run() error {
	for {
		f, err := s.pipe.read(time.Time{})
		if err == nil {
			f.close()
			err = s.answered(f)
		}
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.broken == nil {
				s.broken = fmt.Errorf("%w: %w", ErrOver, err)
			}
			for _, w := range s.waiting {
				w <- ErrUncertain
			}
			clear(s.waiting)
			return err
		}
	}
}

// answered passes on what the new process says of a session.
func (s *Successor) answered(f Frame) error {
	if f.Kind == KindGoodbye {
		return ErrGoodbye
	}
	c := mysql.NewCursor(f.Payload)
	id := c.Uint32()
	s.mu.Lock()
	w := s.waiting[id]
	delete(s.waiting, id)
	s.mu.Unlock()
	if w == nil || c.Err() != nil {
		return errFrame
	}
	switch f.Kind {
	case KindTaken:
		w <- nil
	case KindDeclined:
		w <- fmt.Errorf("the new process declined a session: %s", c.Rest())
	default:
		w <- ErrUncertain
		return errFrame
	}
	return nil
}

// Release lets the new process go on by itself, when the moves under way are done.
func (s *Successor) Release() {
	s.mu.Lock()
	if s.broken == nil {
		s.broken = ErrOver
	}
	s.mu.Unlock()
	s.moves.Wait()
	_ = s.pipe.close()
	_ = s.process.Process.Release()
}
