package driver

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn/decisions"
	"kingshard/proxy/txn/twophase"
)

// adminTimeout bounds what is asked of a server on a connection of the proxy's own account.
const adminTimeout = 3 * time.Second

// administrator is a connection of the proxy's own account.
type administrator struct {
	conn     *backend.Conn
	instance *backend.Instance // which it was opened to
	server   string            // what it calls itself; see twophase.Holder
}

// administer opens one to the primary of a node.
func administer(n *backend.Node, deadline time.Time) (*administrator, error) {
	c, err := n.Primary.OwnUntil(deadline)
	if err != nil {
		return nil, err
	}
	a := &administrator{conn: c, instance: n.Primary}
	c.Net.SetDeadline(deadline)
	for _, sql := range twophase.Administers {
		if err == nil {
			err = c.Exec(sql)
		}
	}
	if err == nil {
		var s decisions.Server
		s, err = decisions.Ask(c)
		a.server = s.Identity()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return a, nil
}

// asAdmin carries an action out on a connection of its own to the server that is the node's primary now.
func (d *Driver) asAdmin(a twophase.Action) twophase.Answer {
	n := d.node(a.Node)
	if n == nil {
		return twophase.Answer{Do: a.Do, Node: a.Node, Key: a.Row.Key, Result: twophase.NoAnswer}
	}
	admin, err := administer(n, time.Now().Add(adminTimeout))
	if err != nil {
		return twophase.Answer{Do: a.Do, Node: a.Node, Key: a.Row.Key, Result: twophase.NoAnswer}
	}
	defer admin.conn.Close()
	return admin.do(a, time.Now().Add(adminTimeout))
}

// node returns that of the configuration in force with the id, nil if there is none.
func (d *Driver) node(id twophase.NodeID) *backend.Node {
	for name, n := range d.nodes() {
		if twophase.NodeIDOf(name) == id {
			return n
		}
	}
	return nil
}

// erNoSuchThread is the code of a KILL of nobody. MySQL manual: "Server Error Message Reference".
const erNoSuchThread = 1094

// detachTime is how long an action takes at the least that kills a connection: MariaDB hands the branch that this has prepared over in two steps, and XA COMMIT or
// XA ROLLBACK between them succeeds and ends nothing, so that the rows stay locked until the server starts again.
const detachTime = 50 * time.Millisecond

// do carries an action out. After NoAnswer the connection is to be closed.
func (a *administrator) do(one twophase.Action, deadline time.Time) twophase.Answer {
	answer := twophase.Answer{Do: one.Do, Node: one.Node, Key: one.Row.Key}
	a.conn.Net.SetDeadline(deadline)
	switch {
	case one.Do == twophase.DoKill && one.Holder.Server() != a.server:
		answer.Result, answer.Code = twophase.Rejected, erNoSuchThread
		return answer
	case one.Do == twophase.DoFind && one.Holder.Server() != a.server:
		answer.Result = twophase.OK
		return answer
	}
	var err error
	for _, sql := range one.Statements() {
		if err != nil && one.Do != twophase.DoRollbackBranch {
			break
		}
		err = a.run(sql, one.Do, &answer)
		var refused *mysql.SQLError
		if err != nil && !errors.As(err, &refused) {
			break
		}
	}
	if one.Do == twophase.DoKill { // also of a connection that has just gone
		time.Sleep(detachTime)
	}
	answer.Result, answer.Code = resultOf(err)
	return answer
}

// run runs a statement of an action, and notes what it returns.
func (a *administrator) run(sql string, do twophase.Do, answer *twophase.Answer) error {
	if !strings.HasPrefix(sql, "SELECT ") {
		return a.conn.Exec(sql)
	}
	if do == twophase.DoFind {
		return a.conn.Rows(sql, 1, func(row []string) { answer.Found = row[0] != "0" })
	}
	return a.conn.Rows(sql, 5, func(row []string) { answer.Row = rowOf(row) })
}

// rowOf makes a row of the columns that twophase asks for.
func rowOf(columns []string) *twophase.Row {
	return &twophase.Row{Key: columns[0], State: stateOf(columns[1]), Parts: columns[2], Conns: columns[3], MAC: columns[4]}
}

func stateOf(text string) twophase.State {
	if text == "" {
		return 0
	}
	return twophase.State(text[0])
}

// prepared lists the branches that are prepared on the server.
func (a *administrator) prepared(deadline time.Time) (list []twophase.Prepared, err error) {
	a.conn.Net.SetDeadline(deadline)
	err = a.conn.Rows(twophase.Recover, 4, func(row []string) {
		var p twophase.Prepared
		p.FormatID, _ = strconv.ParseInt(row[0], 10, 64)
		p.GTRIDLength, _ = strconv.Atoi(row[1])
		p.BQUALLength, _ = strconv.Atoi(row[2])
		p.Data = row[3]
		list = append(list, p)
	})
	return list, err
}

// decided lists rows of anchors behind a key, at most listMax.
func (a *administrator) decided(after string, deadline time.Time) (list []twophase.Row, err error) {
	a.conn.Net.SetDeadline(deadline)
	err = a.conn.Rows(twophase.List(after, listMax), 5, func(row []string) { list = append(list, *rowOf(row)) })
	return list, err
}

// branches lists rows of a node's branches behind a key, at most listMax.
func (a *administrator) branches(n twophase.NodeID, after string, deadline time.Time) (list []twophase.Row, err error) {
	a.conn.Net.SetDeadline(deadline)
	err = a.conn.Rows(twophase.ListBranches(n, after, seekAfter, listMax), 5, func(row []string) { list = append(list, *rowOf(row)) })
	return list, err
}

// listMax is how many rows are listed at a time.
const listMax = 500
