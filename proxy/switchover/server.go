package switchover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
)

// server is a server of the node, on a connection by the proxy's own account.
type server struct {
	instance *backend.Instance
	addr     string
	conn     *backend.Conn
}

func connect(ctx context.Context, i *backend.Instance) (*server, error) {
	c, err := i.OwnUntil(time.Now().Add(statementTimeout))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.Addr, err)
	}
	s := &server{i, i.Addr, c}
	if err := s.exec("SET SESSION lock_wait_timeout = 2, sql_mode = ''"); err != nil { // SET GLOBAL read_only waits for locks
		s.close()
		return nil, err
	}
	return s, nil
}

// close ends the connection, if there is one.
func (s *server) close() {
	if s != nil {
		s.conn.Close()
	}
}

// exec runs a statement, whose text is in the error.
func (s *server) exec(sql string) error {
	s.conn.Net.SetDeadline(time.Now().Add(statementTimeout))
	if err := s.conn.Exec(sql); err != nil {
		return fmt.Errorf("%s: %s: %w", s.addr, sql, err)
	}
	return nil
}

// one runs a query that answers with one value.
func (s *server) one(sql string, timeout time.Duration) (value string, err error) {
	s.conn.Net.SetDeadline(time.Now().Add(timeout))
	if err = s.conn.Rows(sql, 1, func(row []string) { value = row[0] }); err != nil {
		return "", fmt.Errorf("%s: %w", s.addr, err)
	}
	return value, nil
}

// words are what the server's family and version call things.
type words struct{ replica, source, options string }

func (s *server) words() words {
	switch info := s.conn.Info; {
	case !info.MariaDB && info.Number >= 80023:
		return words{"REPLICA", "REPLICATION SOURCE", "SOURCE_"}
	case !info.MariaDB && info.Number >= 80022:
		return words{"REPLICA", "MASTER", "MASTER_"}
	}
	return words{"SLAVE", "MASTER", "MASTER_"}
}

// setReadOnly has the server take no writes, of accounts with rights over read_only either where there is such a thing, or take them again.
func (s *server) setReadOnly(on bool) error {
	variable, value := "read_only", "0"
	if on {
		value = "1"
	}
	if !s.conn.Info.MariaDB && s.conn.Info.Number >= 50708 && on {
		variable = "super_read_only" // which sets the other, as read_only = 0 unsets it
	}
	return s.exec("SET GLOBAL " + variable + " = " + value)
}

// catchUp waits until the server has all transactions that source has now.
func (s *server) catchUp(source *server, patience time.Duration) error {
	position, wait := "SELECT @@GLOBAL.gtid_executed", "SELECT WAIT_FOR_EXECUTED_GTID_SET('%s', %d)"
	if s.conn.Info.MariaDB {
		position, wait = "SELECT @@GLOBAL.gtid_current_pos", "SELECT MASTER_GTID_WAIT('%s', %d)"
	}
	gtids, err := source.one(position, statementTimeout)
	if err != nil {
		return err
	}
	if gtids == "" {
		return fmt.Errorf("%s has no GTIDs, by which its replica is seen to have all", source.addr)
	}
	got, err := s.one(fmt.Sprintf(wait, strings.ReplaceAll(gtids, "\n", ""), int(patience.Seconds())), patience+statementTimeout)
	if err == nil && got != "0" {
		err = fmt.Errorf("%s has not caught up with %s in %v", s.addr, source.addr, patience)
	}
	return err
}

// status asks how the server replicates; nil is a server that is no replica.
func (s *server) status() (found *backend.ReplicaStatus, err error) {
	s.conn.Net.SetDeadline(time.Now().Add(statementTimeout))
	if err = backend.ReplicaStatuses(s.conn, func(one backend.ReplicaStatus) { found = &one }); err != nil {
		err = fmt.Errorf("%s does not tell how it replicates: %w", s.addr, err)
	}
	return found, err
}

// storedAccount is what MySQL has stored of the account by which the server, or one that was a replica of it, logs in at its source; "" if it does not tell.
func (s *server) storedAccount() (user, password string) {
	if s.conn.Info.MariaDB {
		return "", "" // in a file
	}
	s.conn.Net.SetDeadline(time.Now().Add(statementTimeout))
	err := s.conn.Rows("SELECT User_name, User_password FROM mysql.slave_master_info WHERE User_name <> '' LIMIT 1", 2, func(row []string) {
		user, password = row[0], row[1]
	})
	if err != nil {
		return "", ""
	}
	return user, password
}

// replicate has the server replicate from another one, by GTIDs.
func (s *server) replicate(from, user, password string) error {
	host, port, err := net.SplitHostPort(from)
	if err != nil {
		return errors.New("a source is reached by host and port only")
	}
	w := s.words()
	if status, err := s.status(); err != nil {
		return err
	} else if status != nil {
		if err := s.exec("STOP " + w.replica); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("%[1]sHOST = %[2]s, %[1]sPORT = %[3]s, %[1]sUSER = %[4]s, %[1]sPASSWORD = %[5]s, ", w.options, quoted(host), port, quoted(user), quoted(password))
	switch {
	case s.conn.Info.MariaDB:
		// What the server wrote itself as a primary is among what it has.
		if err := s.exec("SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_current_pos"); err != nil {
			return err
		}
		options += "MASTER_USE_GTID = slave_pos"
	case w.options == "SOURCE_":
		options += "SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1"
	default:
		options += "MASTER_AUTO_POSITION = 1"
	}
	s.conn.Net.SetDeadline(time.Now().Add(statementTimeout))
	if err := s.conn.Exec("CHANGE " + w.source + " TO " + options); err != nil {
		return fmt.Errorf("CHANGE %s: %w", w.source, refusal(err))
	}
	return s.exec("START " + w.replica)
}

// quoted writes a text as a string, whatever bytes are in it; the connection's sql_mode is empty.
func quoted(text string) string {
	text, _ = sqltext.QuoteString(text, sqltext.Mode{})
	return text
}
