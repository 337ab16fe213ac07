package proxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"kingshard/proxy/handover"
)

// listeners are what the server listens on, for clients and for HTTP. The zero value has none.
type listeners struct {
	clients []net.Listener
	admin   net.Listener // the one of clients that is for admin SQL; nil without one
	http    []webServer
	web     net.Addr // of web_addr; nil without one
	opened  []opened // all of them
	gate    gate     // of all
}

// opened is a listener and the field of the configuration that asks for it.
type opened struct {
	name     handover.ListenerName
	listener net.Listener
}

// webServer is an HTTP server and what it listens on.
type webServer struct {
	*http.Server
	listener net.Listener
}

// open listens where a field of the configuration says, or goes on with what the predecessor, which may be nil, listens on there.
func (ls *listeners) open(from *handover.Predecessor, field, network, addr string) (l net.Listener, err error) {
	name := handover.ListenerName{Field: field, Value: addr}
	if from != nil {
		l = from.Listeners[name]
	}
	switch {
	case l != nil:
		delete(from.Listeners, name)
	case network == "unix":
		l, err = listenUnix(addr)
	default:
		l, err = net.Listen(network, addr)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	ls.opened = append(ls.opened, opened{name, l})
	return l, nil
}

// openForClients opens a listener for clients, unless the field is empty.
func (ls *listeners) openForClients(from *handover.Predecessor, field, network, addr string) error {
	if addr == "" {
		return nil
	}
	l, err := ls.open(from, field, network, addr)
	if err != nil {
		return err
	}
	ls.clients = append(ls.clients, l)
	if field == "admin_addr" {
		ls.admin = l
	}
	return nil
}

// all are those of clients and of HTTP.
func (ls *listeners) all() (all []net.Listener) {
	for _, o := range ls.opened {
		all = append(all, o.listener)
	}
	return all
}

// offer lists all for the process of another binary.
func (ls *listeners) offer() (offered []handover.Listener, err error) {
	for _, o := range ls.opened {
		conn, ok := o.listener.(syscall.Conn)
		if !ok {
			return nil, fmt.Errorf("%s has no descriptor", o.name.Field)
		}
		offered = append(offered, handover.Listener{Name: o.name, Conn: conn})
	}
	return offered, nil
}

// ownSockets says whether the files of unix sockets go with this process's listeners, or are another one's.
func (ls *listeners) ownSockets(own bool) {
	for _, o := range ls.opened {
		if u, ok := o.listener.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(own)
		}
	}
}

// keepAlive says whether connections of HTTP stay for further requests, which are another process's to answer after an upgrade.
func (ls *listeners) keepAlive(keep bool) {
	for _, h := range ls.http {
		h.SetKeepAlivesEnabled(keep)
	}
}

// closeForClients closes those of clients.
func (ls *listeners) closeForClients() {
	for _, l := range ls.clients {
		_ = l.Close()
	}
}

// leave closes all for good without an end of what HTTP has under way, and lets those who wait at the gate find that out.
func (ls *listeners) leave() {
	all := ls.all()
	ls.closeForClients()
	for _, h := range ls.http {
		_ = h.listener.Close()
	}
	ls.gate.resume(all)
}

// finishHTTP ends the HTTP servers when the requests under way are answered, or ctx ends.
func (ls *listeners) finishHTTP(ctx context.Context) {
	stop := context.AfterFunc(ctx, ls.closeHTTP)
	defer stop()
	for _, h := range ls.http {
		_ = h.Shutdown(ctx)
	}
}

// closeHTTP ends the HTTP servers at once.
func (ls *listeners) closeHTTP() {
	for _, h := range ls.http {
		_ = h.Close()
		_ = h.listener.Close() // which nobody may have served yet
	}
}
