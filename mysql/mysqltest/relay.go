package mysqltest

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"kingshard/mysql"
)

// RelayFault is what a [Relay] does to the connections through it. The zero value passes everything on.
type RelayFault struct {
	// Delay is how long each piece of bytes waits, in each direction.
	Delay time.Duration
	// Bytewise has every byte go by a write of its own.
	Bytewise bool
	// Stall holds all bytes back for as long as the fault lasts and passes them on behind it, as a network does that loses packets for a while.
	Stall bool
	// Swallow takes bytes and forgets them, those of new connections too, as a firewall does that has forgotten a connection. One on which
	// bytes were swallowed stays silent behind the fault. While it lasts neither side hears that the other one has closed a connection.
	Swallow bool
	// Refuse has nobody listen: who connects is refused by the system.
	Refuse bool
	// CutAfter cuts a connection on which the proxy has sent a command for which it is true, once the server has carried the command out, ahead of its
	// answer. The body is what follows the command's byte. It is called from several goroutines.
	CutAfter func(command mysql.Command, body []byte) bool
}

// Relay is between a proxy and a server, without TLS and compression: it passes bytes on and can do to them what networks do. It reads the
// packets of who connects to it. Its methods may be called by several goroutines.
type Relay struct {
	server string
	addr   string
	port   *os.File // locked while the port is kept for this relay
	conns  sync.WaitGroup

	mu    sync.Mutex
	l     net.Listener // nil while connections are refused
	fault RelayFault
	// change is closed, and another one made, with each fault.
	change chan struct{}
	open   map[*relayed]bool
	closed bool
}

// StartRelay starts a relay to the server at host:port; Close ends it.
func StartRelay(server string) (*Relay, error) {
	number, port, err := takePort()
	if err != nil {
		return nil, err
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(number))
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, errors.Join(err, port.Close())
	}
	r := &Relay{server: server, addr: addr, port: port, l: l, change: make(chan struct{}), open: make(map[*relayed]bool)}
	r.conns.Go(func() { r.accept(l) })
	return r, nil
}

// Addr is where the relay listens.
func (r *Relay) Addr() string { return r.addr }

// Set puts a fault in the place of the one before. An error means that the relay cannot listen any more.
func (r *Relay) Set(f RelayFault) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = f
	close(r.change)
	r.change = make(chan struct{})
	switch {
	case r.closed:
	case f.Refuse && r.l != nil:
		_ = r.l.Close()
		r.l = nil
	case !f.Refuse && r.l == nil:
		l, err := net.Listen("tcp", r.addr)
		if err != nil {
			return err
		}
		r.l = l
		r.conns.Go(func() { r.accept(l) })
	}
	return nil
}

// Heal ends all faults.
func (r *Relay) Heal() error { return r.Set(RelayFault{}) }

// Cut closes all connections in order.
func (r *Relay) Cut() { r.each((*relayed).close) }

// Reset closes all connections by RST, on the side of who connected.
func (r *Relay) Reset() { r.each((*relayed).reset) }

func (r *Relay) each(do func(*relayed)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open {
		do(c)
	}
}

// Conns returns how many connections there are.
func (r *Relay) Conns() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}

// Close ends the relay and all its connections.
func (r *Relay) Close() {
	r.mu.Lock()
	r.closed = true
	if r.l != nil {
		_ = r.l.Close()
		r.l = nil
	}
	r.mu.Unlock()
	r.Cut()
	r.conns.Wait()
	_ = r.port.Close()
}

func (r *Relay) accept(l net.Listener) {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		r.conns.Go(func() { r.serve(near) })
	}
}

// serve passes a connection on until one of both sides ends.
func (r *Relay) serve(near net.Conn) {
	c := &relayed{relay: r, near: near, done: make(chan struct{})}
	far, err := net.Dial("tcp", r.server)
	if err != nil { // who connected hears what a server that is gone would say
		c.reset()
		return
	}
	c.far = far
	if !r.keep(c) {
		c.close()
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		c.answers()
		c.over()
	})
	c.commands()
	c.over()
	back.Wait()
	r.mu.Lock()
	delete(r.open, c)
	r.mu.Unlock()
}

// keep has c closed at the end of the relay; false says that this is now.
func (r *Relay) keep(c *relayed) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.open[c] = true
	}
	return !r.closed
}

// now returns the fault, and what is closed when another one takes its place.
func (r *Relay) now() (RelayFault, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault, r.change
}

// relayed is one connection through a relay.
type relayed struct {
	relay     *Relay
	near, far net.Conn // of who connected, of the server
	once      sync.Once
	done      chan struct{} // closed with the connections

	mu     sync.Mutex
	silent bool // bytes were swallowed
	cut    bool // the server's next bytes are not passed on: the connection ends with them
}

func (c *relayed) close() {
	c.once.Do(func() {
		close(c.done)
		_ = c.near.Close()
		if c.far != nil {
			_ = c.far.Close()
		}
	})
}

func (c *relayed) reset() {
	if tcp, ok := c.near.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	c.close()
}

// over closes the connection as one of both sides has; where that is not heard of, behind the fault.
func (c *relayed) over() {
	for {
		fault, change := c.relay.now()
		if !fault.Swallow {
			c.close()
			return
		}
		select {
		case <-change:
		case <-c.done:
		}
		if c.ended() {
			return
		}
	}
}

func (c *relayed) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// commands passes on what who connected sends.
func (c *relayed) commands() {
	in := bufio.NewReader(c.near)
	for {
		packet, err := ReadWhole(in)
		if err != nil {
			return
		}
		if fault, _ := c.relay.now(); fault.CutAfter != nil && packet[3] == 0 && len(packet) > 4 && fault.CutAfter(mysql.Command(packet[4]), packet[5:]) {
			c.mu.Lock()
			c.cut = true
			c.mu.Unlock()
		}
		if c.pass(c.far, packet) != nil {
			return
		}
	}
}

// ReadWhole reads a packet and returns it with its header.
func ReadWhole(r io.Reader) ([]byte, error) {
	var header [4]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	packet := make([]byte, 4+(int(header[0])|int(header[1])<<8|int(header[2])<<16))
	copy(packet, header[:])
	_, err := io.ReadFull(r, packet[4:])
	return packet, err
}

// answers passes on what the server sends.
func (c *relayed) answers() {
	piece := make([]byte, 16<<10)
	for {
		n, err := c.far.Read(piece)
		c.mu.Lock()
		cut := c.cut
		c.mu.Unlock()
		if err != nil || cut || c.pass(c.near, piece[:n]) != nil {
			return
		}
	}
}

// pass writes bytes to one side as the fault has it.
func (c *relayed) pass(to net.Conn, b []byte) error {
	fault, change := c.relay.now()
	for fault.Stall {
		select {
		case <-change:
		case <-c.done:
			return net.ErrClosed
		}
		fault, change = c.relay.now()
	}
	c.mu.Lock()
	c.silent = c.silent || fault.Swallow
	silent := c.silent
	c.mu.Unlock()
	if silent {
		return nil
	}
	if fault.Delay > 0 {
		select {
		case <-time.After(fault.Delay):
		case <-c.done:
			return net.ErrClosed
		}
	}
	if !fault.Bytewise {
		_, err := to.Write(b)
		return err
	}
	for i := range b {
		if _, err := to.Write(b[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}
