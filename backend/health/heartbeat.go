package health

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/backend/roles"
	"kingshard/mysql"
)

// heartbeatWriter writes heartbeats on a primary, on a connection of its own: a change may wait for as long as a replica takes to acknowledge it, or for room on a disk,
// and meanwhile the server is to be asked for its role.
type heartbeatWriter struct {
	conn    *backend.Conn // nil: none
	server  string        // that it leads to, as roles.Observation.Server
	refused bool          // the last one was
}

// beat writes heartbeats on the node's primary until ctx ends, one at a time.
func (m *Monitor) beat(ctx context.Context, n *backend.Node) {
	var w heartbeatWriter
	defer w.close()
	tick := time.NewTicker(backend.HeartbeatInterval)
	defer tick.Stop()
	var again time.Time // not before
	for ctx.Err() == nil {
		switch h, due := n.HeartbeatDue(time.Now()); {
		case !due:
			w.close()
		case time.Now().After(again):
			err := n.WriteHeartbeat(func() error { return w.write(ctx, n.Primary, h) })
			_, refused := errors.AsType[*mysql.SQLError](err)
			if refused {
				again = time.Now().Add(rolesRefusedAgain)
			}
			if refused && !w.refused {
				m.cfg.Log.Warn("no heartbeats can be written: how far replicas are behind is what they say. Does the account have CREATE, SELECT, INSERT and UPDATE on "+HeartbeatTable+"?", "node", n.Name, "instance", n.Primary.Addr, "error", err)
			}
			w.refused = refused
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (w *heartbeatWriter) close() {
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// connect has a connection to the server, by whichever address the instance has now.
func (w *heartbeatWriter) connect(ctx context.Context, i *backend.Instance, server string) error {
	if w.conn != nil && w.server != server {
		w.close()
	}
	if w.conn != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, rolesTimeout)
	defer cancel()
	conn, err := own(ctx, i)
	if err != nil {
		return err
	}
	asks := rolesWatch{conn: conn}
	var o roles.Observation
	deadline, _ := ctx.Deadline()
	conn.Net.SetDeadline(deadline)
	if err = asks.askServer(&o); err == nil && o.Server != server {
		err = errors.New(i.Addr + " leads to another server than it did")
	}
	if err != nil {
		conn.Close()
		return err
	}
	conn.Net.SetDeadline(time.Time{})
	backend.Untrack(conn) // nobody is to wait for what is no client's
	w.conn, w.server = conn, server
	return nil
}

// write writes one. After an error of the connection there is none.
func (w *heartbeatWriter) write(ctx context.Context, i *backend.Instance, h backend.Heartbeat) error {
	if err := w.connect(ctx, i, h.Server); err != nil {
		return err
	}
	c := w.conn
	defer context.AfterFunc(ctx, func() { c.Net.SetDeadline(time.Unix(1, 0)) })()
	// Whatever the format of the binary log, each is one transaction, and one more of the counter.
	epoch, writer := strconv.FormatUint(h.Epoch, 10), literal(h.Writer)
	err := heartbeatTable.execMaking(c, "INSERT INTO "+HeartbeatTable+" (server, epoch, counter, writer) VALUES ("+literal(h.Server)+", "+epoch+", 1, "+writer+") "+
		"ON DUPLICATE KEY UPDATE epoch = "+epoch+", counter = counter + 1, writer = "+writer)
	if _, said := errors.AsType[*mysql.SQLError](err); err != nil && !said {
		w.close()
	}
	return err
}

// own connects by the proxy's own account, for statements each of which is a transaction, whatever is the server's default. ctx must have a deadline.
func own(ctx context.Context, i *backend.Instance) (*backend.Conn, error) {
	c, err := i.Own(ctx)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	c.Net.SetDeadline(deadline)
	if err := c.Exec("SET autocommit = 1"); err != nil {
		c.Close()
		return nil, err
	}
	c.Net.SetDeadline(time.Time{})
	return c, nil
}

// literal quotes text, which has no backslashes, for a statement.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// askHeartbeats asks for the rows that the server has; none where the table is not there.
func (w *rolesWatch) askHeartbeats(o *roles.Observation) error {
	return lacking(w.conn.Rows("SELECT server, counter, writer FROM "+HeartbeatTable, 3, func(row []string) {
		if o.Heartbeats == nil {
			o.Heartbeats = make(map[string]roles.Heartbeat)
		}
		counter, _ := strconv.ParseUint(row[1], 10, 64)
		o.Heartbeats[row[0]] = roles.Heartbeat{Counter: counter, Writer: row[2]}
	}))
}

// askUnsure asks, behind askHeartbeats and askServer, whether a heartbeat of the server's own may be among its transactions of which it has not told. One that waits to be
// acknowledged is in the binary log, and not to be seen but so. Clients hear of no commit meanwhile, either.
func (w *rolesWatch) askUnsure(o *roles.Observation) error {
	row, some := o.Heartbeats[o.Server]
	if !some || o.ReadOnly {
		return nil
	}
	if err := w.conn.Exec("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"); err != nil { // for the next statement
		return err
	}
	return lacking(w.conn.Rows("SELECT counter FROM "+HeartbeatTable+" WHERE server = "+literal(o.Server), 1, func(now []string) {
		counter, _ := strconv.ParseUint(now[0], 10, 64)
		o.Unsure = counter != row.Counter
	}))
}
