package backend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kingshard/mysql"
)

// HasOwnAccount tells whether the proxy has another account for what it does of its own than for clients' statements.
func (i *Instance) HasOwnAccount() bool { return i.admin.User != i.dial.User }

// Own opens a connection for what the proxy does of its own, outside the pool: by the node's admin_user where it has one. The caller closes
// it. No statement of a client runs there. ctx must have a deadline.
func (i *Instance) Own(ctx context.Context) (*Conn, error) { return i.as(ctx, &i.admin, 0) }

// OwnUntil is Own until a deadline.
func (i *Instance) OwnUntil(deadline time.Time) (*Conn, error) {
	ctx, cancel := context.WithDeadline(i.open.dials, deadline)
	defer cancel()
	return i.Own(ctx)
}

// Kill ends what thread, a connection of the pool, runs, or with connection the thread itself, on a side connection, within the deadline.
// Where the server refuses it to admin_user, or the login of that, the account of clients' statements does it: every account may end its own
// threads.
func (i *Instance) Kill(thread uint32, connection bool, deadline time.Time) error {
	what := fmt.Sprintf("KILL QUERY %d", thread)
	if connection {
		what = fmt.Sprintf("KILL %d", thread)
	}
	if i.HasOwnAccount() && !i.killsAsClients.Load() {
		err := killBy(i.OwnUntil, what, deadline)
		var refused *mysql.SQLError
		if !errors.As(err, &refused) {
			return err
		}
		if refused.Code == mysql.ERKillDenied || refused.Code == mysql.ERSpecificAccessDenied {
			i.killsAsClients.Store(true)
		}
	}
	return killBy(func(deadline time.Time) (*Conn, error) { return i.Dial(0, deadline) }, what, deadline)
}

func killBy(dial func(deadline time.Time) (*Conn, error), what string, deadline time.Time) error {
	c, err := dial(deadline)
	if err != nil {
		return err
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	return c.Exec(what)
}
