package backend

import (
	"context"
	"errors"
	"strings"
	"time"

	"kingshard/mysql"
)

// Inspection is what a server says of itself to who wants to make it a primary.
type Inspection struct {
	// Server tells it from all others, at whichever address it is; "" if it does not say.
	Server string
	// ReadOnly are the variables by which it takes no writes of the proxy's clients.
	ReadOnly []string
	// Refused is the error that it answered with when it was asked for those variables; nil if it told them.
	Refused *mysql.SQLError
}

// Inspect logs in, by both accounts, and asks, until ctx ends, which must have a deadline.
func (i *Instance) Inspect(ctx context.Context) (Inspection, error) {
	var found Inspection
	c, err := i.loggedIn(ctx)
	if err != nil {
		return found, err
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	c.Net.SetDeadline(deadline)
	defer context.AfterFunc(ctx, func() { _ = c.Net.NetConn().SetDeadline(time.Unix(1, 0)) })()
	if found.Server, err = c.server(); err != nil {
		return found, err
	}
	if found.ReadOnly, err = c.readOnly(); errors.As(err, &found.Refused) {
		err = nil
	}
	return found, err
}

// Reach logs in within the deadline, by both accounts, and tells what hindered it.
func (i *Instance) Reach(deadline time.Time) error {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	c, err := i.loggedIn(ctx)
	if err != nil {
		return err
	}
	return c.Close()
}

// loggedIn is Own, after a login by the account of clients' statements.
func (i *Instance) loggedIn(ctx context.Context) (*Conn, error) {
	c, err := i.DialContext(ctx, 0)
	if err != nil || !i.HasOwnAccount() {
		return c, err
	}
	c.Close()
	return i.Own(ctx)
}

// erUnknownVariable is of a server that has not the variable. MySQL manual: "Server Error Message Reference".
const erUnknownVariable = 1193

// readOnlyVariables are those by which a server takes no writes. MySQL's super_read_only sets read_only, too.
var readOnlyVariables = []string{"read_only", "innodb_read_only"}

// readOnly lists the variables that are set. Not every server has both: one that it does not know is not set.
func (c *Conn) readOnly() (set []string, err error) {
	err = c.Rows("SELECT @@global.read_only, @@global.innodb_read_only", 2, func(row []string) {
		for k, name := range readOnlyVariables {
			if IsOn(row[k]) {
				set = append(set, name)
			}
		}
	})
	if !isUnknownVariable(err) {
		return set, err
	}
	for _, name := range readOnlyVariables {
		err := c.Rows("SELECT @@global."+name, 1, func(row []string) {
			if IsOn(row[0]) {
				set = append(set, name)
			}
		})
		if err != nil && !isUnknownVariable(err) {
			return set, err
		}
	}
	return set, nil
}

// IsOn reports whether a variable is set. Newer servers have words in the place of 0 and 1.
func IsOn(value string) bool { return value != "0" && !strings.EqualFold(value, "OFF") }

func isUnknownVariable(err error) bool {
	var refused *mysql.SQLError
	return errors.As(err, &refused) && refused.Code == erUnknownVariable
}

// server gives MySQL's server_uuid. MariaDB has none, and servers made from one image share their server_id, host name, port and paths:
// the end of a UUID goes with these, which is of the network card, and of a number that the server drew when it started. A server that
// answers with an error is not told from others.
func (c *Conn) server() (id string, err error) {
	query := "SELECT @@server_uuid"
	if c.Info.MariaDB || c.Info.Number < 50600 {
		query = "SELECT CONCAT_WS(' ', 'server_id', @@server_id, 'of', @@hostname, @@port, @@socket, @@datadir, SUBSTRING(UUID(), 20))"
	}
	err = c.Rows(query, 1, func(row []string) { id = row[0] })
	if _, ok := errors.AsType[*mysql.SQLError](err); ok {
		return "", nil
	}
	return id, err
}
