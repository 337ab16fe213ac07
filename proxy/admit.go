package proxy

import (
	"container/list"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/sockopt"
	"kingshard/proxy/session"
)

// loginsMin is the least number of connections that may be logging in at one time.
const loginsMin = 100

// loginPatience is how long a connection may take to log in before it gives way to new ones when there are too many. A
// client that means it needs milliseconds, but two thousand that come at once to a machine that has other work take seconds.
const loginPatience = 5 * time.Second

// logins are the connections that have not logged in yet, the oldest first. When there are too many, those that have had
// their time give way: whoever holds sockets open without a word cannot keep others out.
type logins struct {
	mu   sync.Mutex
	open list.List // of login
}

// login is a connection that has not logged in yet.
type login struct {
	conn  net.Conn
	since time.Time
}

// add lists a connection; above openMax those that have had their time are closed.
func (l *logins) add(nc net.Conn, openMax int) *list.Element {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for l.open.Len() >= openMax {
		oldest := l.open.Front()
		one := oldest.Value.(login)
		if now.Sub(one.since) < loginPatience {
			break
		}
		l.open.Remove(oldest)
		_ = one.conn.Close()
	}
	return l.open.PushBack(login{nc, now})
}

func (l *logins) remove(e *list.Element) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open.Remove(e)
}

// count is the number of connections that have not logged in.
func (l *logins) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open.Len()
}

// closeAll closes every connection that has not logged in.
func (l *logins) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.open.Front(); e != nil; e = e.Next() {
		_ = e.Value.(login).conn.Close()
	}
}

// admit starts a session for an accepted connection, or turns it away. One of the admin port is let in however many
// clients there are.
func (s *Server) admit(nc net.Conn, adminPort bool) {
	keepAlive(nc)
	if s.stopping() {
		_ = nc.Close()
		return
	}
	clientsMax := s.shared.Snapshot.Load().Config.MaxClientConns
	if clientsMax > 0 && !adminPort && s.shared.Sessions.Len() >= clientsMax {
		refuse(nc)
		return
	}
	waiting := s.logins.add(nc, max(clientsMax/10, loginsMin))
	s.running.Go(func() {
		client, err := nc, error(nil)
		if !adminPort {
			client, err = s.proxyHeader(nc)
		}
		if err != nil {
			s.logins.remove(waiting)
			_ = nc.Close()
			if !s.stopping() {
				s.log.Warn("PROXY header refused", "peer", nc.RemoteAddr().String(), "error", err)
			}
			return
		}
		one := session.New(client, &s.shared, adminPort)
		one.LoggedIn = func() { s.logins.remove(waiting) }
		one.Serve()
	})
}

// clientTimeout is how long a client's system may leave unacknowledged, or its program unread, what was sent to it.
const clientTimeout = 90 * time.Second

// keepAlive has the system find out about clients that are gone without a word.
func keepAlive(nc net.Conn) {
	if t, ok := nc.(*net.TCPConn); ok {
		if raw, err := t.SyscallConn(); err == nil {
			sockopt.UserTimeout(raw, clientTimeout)
		}
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: time.Minute, Interval: 10 * time.Second, Count: 6})
	}
}

// refuse tells a client that there is no room, not waiting for it.
func refuse(nc net.Conn) {
	c := mysql.NewConn(nc, mysql.ClientSide, 0)
	_ = c.Net.SetDeadline(time.Now().Add(time.Second))
	c.EndPacket(mysql.NewSQLError(mysql.ERConCount, "Too many connections").AppendEarly(c.StartPacket()))
	_ = c.Flush()
	_ = c.Close()
	c.Release()
}

// isTemporary tells errors of accept that pass: no file descriptors, or a client that went away while it waited.
func isTemporary(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.ENOBUFS)
}

// peerAddr is the IP address of a connection's peer; invalid over a unix socket.
func peerAddr(nc net.Conn) netip.Addr {
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
