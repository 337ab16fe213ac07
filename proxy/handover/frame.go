package handover

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kind says what a frame is.
type Kind uint8

// The kinds.
const (
	KindHello    Kind = iota + 1 // from the old process: who it is
	KindListener                 // from the old one, with a descriptor: something that it listens on
	KindReady                    // from the new one: it could serve
	KindRefused                  // from the new one: it does not take over, and why
	KindServe                    // from the old one, which accepts no clients any more: accept them
	KindServing                  // from the new one
	KindSession                  // from the old one, with a descriptor: a client
	KindTaken                    // from the new one: the client is its own
	KindDeclined                 // from the new one: the client stays with the old one, and why
	KindGoodbye                  // from the new one: it needs the old one for nothing any more, and may end
)

const (
	headerLen = 8 // kind, number of descriptors, two bytes of zero, length of the payload
	// SessionMax is the longest description of a session, in bytes.
	SessionMax = 8 << 20
	// controlMax is the longest payload of every other frame, in bytes.
	controlMax = 64 << 10
)

var (
	// errFrame says that the other side sends what is no frame.
	errFrame = errors.New("malformed frame")
	// errTorn says that an earlier frame was not sent whole.
	errTorn = errors.New("an earlier frame was not sent whole")
	// errNoDescriptor says that a frame came without its descriptor: this process can open no more.
	errNoDescriptor = errors.New("the descriptor was lost: the limit of open files may be reached")
)

// Frame is one message. Whoever reads one owns its File.
type Frame struct {
	Kind    Kind
	Payload []byte
	File    *os.File // nil without a descriptor, and where this process could not take it
}

// pipe is one end of the socket pair. One goroutine reads it; any may write.
type pipe struct {
	conn *net.UnixConn
	mu   sync.Mutex // writes
	torn bool       // a frame was sent in part: nothing can follow
}

// newPipe takes over a descriptor of a socket pair, which is closed whatever comes.
func newPipe(f *os.File) (*pipe, error) {
	defer f.Close()
	nc, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	conn, ok := nc.(*net.UnixConn)
	if !ok {
		_ = nc.Close()
		return nil, fmt.Errorf("a %T is no unix socket", nc)
	}
	return &pipe{conn: conn}, nil
}

// write sends a frame, with the descriptor of raw unless that is nil. The descriptor stays the caller's.
func (p *pipe) write(kind Kind, payload []byte, raw syscall.RawConn, patience time.Duration) error {
	header := make([]byte, headerLen)
	header[0] = byte(kind)
	binary.LittleEndian.PutUint32(header[4:], uint32(len(payload)))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.torn {
		return errTorn
	}
	_ = p.conn.SetWriteDeadline(time.Now().Add(patience))
	var err error
	if raw == nil {
		_, err = p.conn.Write(header)
	} else {
		header[1] = 1
		if cerr := raw.Control(func(fd uintptr) { _, _, err = p.conn.WriteMsgUnix(header, unix.UnixRights(int(fd)), nil) }); cerr != nil {
			return cerr // nothing was sent: the descriptor is closed
		}
	}
	if err == nil && len(payload) > 0 {
		_, err = p.conn.Write(payload)
	}
	p.torn = err != nil
	return err
}

// read gives the next frame; io.EOF when the other side has closed its end. The time is for all of it; zero waits for ever.
func (p *pipe) read(deadline time.Time) (Frame, error) {
	_ = p.conn.SetReadDeadline(deadline)
	var header [headerLen]byte
	var f Frame
	for n := 0; n < headerLen; {
		oob := make([]byte, unix.CmsgSpace(4))
		k, oobn, _, _, err := p.conn.ReadMsgUnix(header[n:], oob)
		f.take(oob[:oobn])
		if k == 0 && err == nil {
			err = io.EOF
		}
		if err != nil {
			f.close()
			return Frame{}, err
		}
		n += k
	}
	f.Kind = Kind(header[0])
	length, limit := binary.LittleEndian.Uint32(header[4:]), uint32(controlMax)
	if f.Kind == KindSession {
		limit = SessionMax
	}
	if length > limit || header[2] != 0 || header[3] != 0 || header[1] > 1 || header[1] == 0 && f.File != nil {
		f.close()
		return Frame{}, errFrame
	}
	f.Payload = make([]byte, length)
	if _, err := io.ReadFull(p.conn, f.Payload); err != nil {
		f.close()
		return Frame{}, err
	}
	return f, nil
}

// take keeps the first descriptor of a control message and closes any other.
func (f *Frame) take(oob []byte) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return
	}
	for k := range messages {
		fds, err := unix.ParseUnixRights(&messages[k])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if f.File != nil {
				_ = unix.Close(fd)
				continue
			}
			f.File = os.NewFile(uintptr(fd), "handed over")
		}
	}
}

// close closes what came with the frame.
func (f *Frame) close() {
	if f.File != nil {
		_ = f.File.Close()
		f.File = nil
	}
}

func (p *pipe) close() error { return p.conn.Close() }
