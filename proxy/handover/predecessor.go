package handover

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"kingshard/mysql"
)

// Predecessor is the old process, as the new one sees it.
type Predecessor struct {
	Hello
	// Listeners are open; whoever takes one takes it out.
	Listeners map[ListenerName]net.Listener

	pipe   *pipe
	serves bool
}

// Inherited gives the process that started this one to hand over to it; nil without one. The caller closes it.
func Inherited() (*Predecessor, error) {
	text, ok := os.LookupEnv(environment)
	if !ok {
		return nil, nil
	}
	_ = os.Unsetenv(environment)
	fd, err := strconv.Atoi(text)
	if err != nil || fd < inheritedFD {
		return nil, fmt.Errorf("%s=%q is for a process that hands over", environment, text)
	}
	unix.CloseOnExec(fd)
	p, err := newPipe(os.NewFile(uintptr(fd), "hand-over"))
	if err != nil {
		return nil, fmt.Errorf("%s=%q: %w", environment, text, err)
	}
	return &Predecessor{pipe: p}, nil
}

// Receive reads what the old process offers, by the deadline.
func (p *Predecessor) Receive(deadline time.Time) error {
	f, err := p.expect(KindHello, deadline)
	if err != nil {
		return err
	}
	if err := p.Hello.decode(f.Payload); err != nil {
		return err
	}
	p.Listeners = make(map[ListenerName]net.Listener)
	for range p.Hello.Listeners {
		f, err := p.expect(KindListener, deadline)
		if err != nil {
			return err
		}
		var name ListenerName
		if err := name.decode(f.Payload); err != nil {
			f.close()
			return err
		}
		if f.File == nil {
			return errNoDescriptor
		}
		l, err := net.FileListener(f.File)
		f.close()
		if err != nil {
			return fmt.Errorf("%s: %w", name.Field, err)
		}
		if u, ok := l.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false) // it is the old process's until this one serves
		}
		p.Listeners[name] = l
	}
	return nil
}

func (p *Predecessor) expect(want Kind, deadline time.Time) (Frame, error) {
	f, err := p.pipe.read(deadline)
	if err != nil {
		return f, fmt.Errorf("the process that hands over: %w", err)
	}
	if f.Kind != want {
		f.close()
		return f, errFrame
	}
	return f, nil
}

// Ready says that this process, of that version, could serve, and returns when it shall, with the first connection id
// that is not in use.
func (p *Predecessor) Ready(program string, deadline time.Time) (firstID uint32, err error) {
	if err := p.pipe.write(KindReady, []byte(program), nil, writePatience); err != nil {
		return 0, err
	}
	f, err := p.expect(KindServe, deadline)
	if err != nil {
		return 0, err
	}
	f.close()
	c := mysql.NewCursor(f.Payload)
	if firstID = c.Uint32(); c.Err() != nil {
		return 0, errFrame
	}
	return firstID, nil
}

// Refuse says why this process does not take over.
func (p *Predecessor) Refuse(why string) {
	if len(why) > controlMax {
		why = why[:controlMax]
	}
	_ = p.pipe.write(KindRefused, []byte(why), nil, writePatience)
}

// Serving says that this process accepts clients.
func (p *Predecessor) Serving() error {
	p.serves = true
	return p.pipe.write(KindServing, nil, nil, writePatience)
}

// Sessions takes sessions until the old process has no more, which is nil. take owns the connection: an error of it says that
// the session stays with the old process, and that the connection is closed here.
func (p *Predecessor) Sessions(take func(state []byte, nc net.Conn) error) error {
	for {
		f, err := p.pipe.read(time.Time{})
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, unix.ECONNRESET):
			return nil
		case err != nil:
			return err
		}
		c := mysql.NewCursor(f.Payload)
		id := c.Uint32()
		if f.Kind != KindSession || c.Err() != nil {
			f.close()
			return errFrame
		}
		kind, answer := KindTaken, mysql.AppendUint32(nil, id)
		if err := p.session(&f, c.Rest(), take); err != nil {
			kind, answer = KindDeclined, append(answer, err.Error()...)
		}
		if err := p.pipe.write(kind, answer, nil, writePatience); err != nil {
			return err
		}
	}
}

// session passes one session on.
func (p *Predecessor) session(f *Frame, state []byte, take func(state []byte, nc net.Conn) error) error {
	if f.File == nil {
		return errNoDescriptor
	}
	nc, err := net.FileConn(f.File)
	f.close()
	if err != nil {
		return err
	}
	return take(state, nc)
}

// Stop lets no more sessions come; Sessions ends after those that have been sent already.
func (p *Predecessor) Stop() { _ = p.pipe.conn.CloseRead() }

// Close ends what the two have to say to each other, and closes listeners that nobody took. The old process of one that serves hears that
// it did not die: whatever becomes of it, the old one is not to serve in its place.
func (p *Predecessor) Close() {
	for name, l := range p.Listeners {
		_ = l.Close()
		delete(p.Listeners, name)
	}
	if p.serves {
		_ = p.pipe.write(KindGoodbye, nil, nil, writePatience)
	}
	_ = p.pipe.close()
}
