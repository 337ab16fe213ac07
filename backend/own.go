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

// Kill ends what c, a connection of the pool, runs, or with connection its thread itself, on a side connection, within the deadline. That goes
// where c does: elsewhere the number of its thread is another session's, and the instance's name may lead elsewhere by now.
// Where the server refuses it to admin_user, or the login of that, the account of clients' statements does it: every account may end its own
// threads.
func (i *Instance) Kill(c *Conn, connection bool, deadline time.Time) error {
	what := fmt.Sprintf("KILL QUERY %d", c.ThreadID)
	if connection {
		what = fmt.Sprintf("KILL %d", c.ThreadID)
	}
	ctx, cancel := context.WithDeadline(i.open.dials, deadline)
	defer cancel()
	if i.HasOwnAccount() && !i.killsAsClients.Load() {
		err := execBeside(ctx, c, &i.admin, what)
		var refused *mysql.SQLError
		if !errors.As(err, &refused) {
			return err
		}
		if refused.Code == mysql.ERKillDenied || refused.Code == mysql.ERSpecificAccessDenied {
			i.killsAsClients.Store(true)
		}
	}
	return execBeside(ctx, c, &i.dial, what)
}

// execBeside carries out a statement on the server that c is connected to, by an account.
func execBeside(ctx context.Context, c *Conn, account *DialConfig, sql string) error {
	nc, err := dialer.DialContext(ctx, c.Peer.Network(), c.Peer.String())
	if err != nil {
		return err
	}
	side, err := logIn(ctx, nc, account, 0, c.home, nil)
	if err != nil {
		return err
	}
	defer side.Close()
	deadline, _ := ctx.Deadline()
	side.Net.SetDeadline(deadline)
	return side.Exec(sql)
}
