package backend

import (
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
}

// Inspect logs in within the deadline, by both accounts, and asks.
func (i *Instance) Inspect(deadline time.Time) (Inspection, error) {
	var found Inspection
	c, err := i.loggedIn(deadline)
	if err != nil {
		return found, err
	}
	defer c.Close()
	c.SetDeadline(deadline)
	if found.Server, err = c.server(); err != nil {
		return found, err
	}
	found.ReadOnly, err = c.readOnly()
	return found, err
}

// Reach logs in within the deadline, by both accounts, and tells what hindered it.
func (i *Instance) Reach(deadline time.Time) error {
	c, err := i.loggedIn(deadline)
	if err != nil {
		return err
	}
	return c.Close()
}

// loggedIn is Own, after a login by the account of clients' statements.
func (i *Instance) loggedIn(deadline time.Time) (*Conn, error) {
	c, err := i.Dial(0, deadline)
	if err != nil || !i.HasOwnAccount() {
		return c, err
	}
	c.Close()
	return i.OwnUntil(deadline)
}

// readOnly lists the variables that are set. MySQL's super_read_only sets read_only, too. Newer servers have words in the place of 0
// and 1.
func (c *Conn) readOnly() (set []string, err error) {
	err = c.Rows("SELECT @@global.read_only, @@global.innodb_read_only", 2, func(row []string) {
		for k, name := range []string{"read_only", "innodb_read_only"} {
			if row[k] != "0" && !strings.EqualFold(row[k], "OFF") {
				set = append(set, name)
			}
		}
	})
	return set, err
}

// server gives MySQL's server_uuid. MariaDB has none, and two servers often share a server_id: host, port and socket, which no two of a
// host share, go with it. A server that answers with an error is not told from others.
func (c *Conn) server() (id string, err error) {
	query := "SELECT @@server_uuid"
	if c.Info.MariaDB || c.Info.Number < 50600 {
		query = "SELECT CONCAT_WS(' ', 'server_id', @@server_id, 'of', @@hostname, @@port, @@socket)"
	}
	err = c.Rows(query, 1, func(row []string) { id = row[0] })
	var refused *mysql.SQLError
	if errors.As(err, &refused) {
		return "", nil
	}
	return id, err
}
