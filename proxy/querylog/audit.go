package querylog

import "time"

// By is who changes the proxy.
type By struct {
	User string // of admin SQL or REST, or "kingshard" for the proxy itself, as at a signal
	From string // its address
}

// Change is something that was done to the proxy: a line of the audit log. Values of secrets are "***" already.
type Change struct {
	By
	Action   string // such as reload
	Object   string // what was changed, such as nodes[node1].master
	Old, New string
	Error    string // why it was refused; empty when it was done
}

// Audit writes a change to the audit log, which there is with log_path only. It does not wait for the disk.
func (l *Log) Audit(c Change) {
	if l.audit == nil {
		return
	}
	ln := line{json: l.settings.Load().form == formJSON}
	ln.begin(time.Now())
	ln.text("user", c.User)
	ln.text("from", c.From)
	ln.text("action", c.Action)
	ln.text("object", c.Object)
	ln.text("old", c.Old)
	ln.text("new", c.New)
	ln.text("error", c.Error)
	ln.end()
	_, _ = l.audit.Write(ln.b)
}
