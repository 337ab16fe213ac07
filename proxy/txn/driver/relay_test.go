package driver

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// fault is what a relay does to the connection on which a text is sent.
type fault uint8

const (
	cutBefore fault = iota // the server does not get it
	cutAfter               // the server gets it, and its answer is lost
	silence                // the server gets it, and neither its answer nor anything else comes back
)

// relay stands between a node and its server. It is told what goes wrong.
type relay struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu    sync.Mutex
	text  string // at which the next fault happens, "" for none
	fault fault
	then  bool // the server is out of reach from then on
	down  bool
	conns map[net.Conn]bool

	opened int               // how many connections there were
	before func(sent []byte) // called ahead of all that is passed on to the server, nil for nothing
}

func startRelay(t *testing.T, target string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l, target: target, conns: map[net.Conn]bool{}}
	r.running.Go(r.accept)
	t.Cleanup(func() {
		_ = l.Close()
		r.reach(false)
		r.running.Wait()
	})
	return r
}

// at has a fault happen to whoever sends the text next; then says that nobody reaches the server behind it.
func (r *relay) at(text string, f fault, then bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text, r.fault, r.then = text, f, then
}

// ahead has f called ahead of all that is passed on to the server.
func (r *relay) ahead(f func(sent []byte)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = f
}

// connections returns how many were made.
func (r *relay) connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opened
}

// reach lets the server be reached, or not.
func (r *relay) reach(yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down, r.text = !yes, ""
	if r.down {
		r.cutLocked()
	}
}

func (r *relay) cutLocked() {
	for c := range r.conns {
		_ = c.Close()
	}
}

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		r.mu.Lock()
		r.conns[client], r.conns[server] = true, true
		r.opened++
		if r.down {
			r.cutLocked()
		}
		r.mu.Unlock()
		r.running.Go(func() { r.between(client, server) })
	}
}

// between passes on what two sides say until one of them closes.
func (r *relay) between(client, server net.Conn) {
	answered := make(chan struct{}) // closed when something was swallowed
	var swallows bool
	var mu sync.Mutex
	r.running.Go(func() {
		defer client.Close()
		b := make([]byte, 1<<16)
		for once := false; ; {
			n, err := server.Read(b)
			if err != nil {
				return
			}
			mu.Lock()
			swallow := swallows
			mu.Unlock()
			if !swallow {
				if _, err := client.Write(b[:n]); err != nil {
					return
				}
			} else if !once {
				once = true
				close(answered)
			}
		}
	})
	b := make([]byte, 1<<16)
	for {
		n, err := client.Read(b)
		if err != nil {
			break
		}
		r.mu.Lock()
		before := r.before
		r.mu.Unlock()
		if before != nil {
			before(b[:n])
		}
		if f, then, is := r.met(b[:n]); is {
			if f != cutBefore {
				mu.Lock()
				swallows = true
				mu.Unlock()
				_, _ = server.Write(b[:n])
				<-answered
			}
			if then {
				r.reach(false)
			}
			if f != silence {
				break
			}
			_, _ = io.Copy(io.Discard, client)
			break
		}
		if _, err := server.Write(b[:n]); err != nil {
			break
		}
	}
	_ = client.Close()
	_ = server.Close()
	r.mu.Lock()
	delete(r.conns, client)
	delete(r.conns, server)
	r.mu.Unlock()
}

// met reports whether what is sent is to go wrong, and how.
func (r *relay) met(sent []byte) (f fault, then, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.text == "" || !bytes.Contains(sent, []byte(r.text)) {
		return 0, false, false
	}
	r.text = ""
	return r.fault, r.then, true
}
