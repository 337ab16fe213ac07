package session

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
)

// serverPatience is how much later than the proxy a server ends a statement by itself: as long as the proxy lives its KILL comes first.
const serverPatience = time.Second

// erStatementTimeout is MariaDB's code for a statement that was ended by max_statement_time. MariaDB Knowledge Base: "Aborting Statements that Exceed a Certain
// Time to Execute".
const erStatementTimeout = 1969

// begin runs the first statement where the client's ends, behind a SET of what the session there has otherwise than the client's until asBefore: a limit of time, so that
// the server ends what it is sent by itself though the proxy is gone, MariaDB every statement, MySQL those that read, unless the client or the server has one that is less; and
// no locks of rows that the server copies itself.
func (f *finishing) begin(sql string) error {
	var list, back []string
	info := f.last.Conn.Info
	if left, limited := process.TimeLeft(&f.s.client.entry); limited {
		if name, limit := timeVariable(info, left+serverPatience); name != "" {
			list, back = append(list, fmt.Sprintf("%s = IF(@@%[1]s > 0 AND @@%[1]s < %s, @@%[1]s, %[2]s)", name, limit)), append(back, name+" = "+f.own(name))
		}
	}
	if f.plan.ReadOnly && !f.aside {
		// InnoDB locks the rows that INSERT ... SELECT reads, and waits for others' locks, where the level is higher. MySQL manual: "Locks Set by Different SQL Statements in
		// InnoDB". A binary log of statements knows no such level.
		name := info.VariableName("transaction_isolation")
		back = append(back, name+" = "+f.own("transaction_isolation"))
		list = append(list, fmt.Sprintf("%s = IF(@@%[1]s = 'READ-UNCOMMITTED' OR @@binlog_format = 'STATEMENT', @@%[1]s, 'READ-COMMITTED')", name))
	}
	if len(list) == 0 {
		return f.exec(sql)
	}
	refused, err := f.behind("SET "+strings.Join(list, ", "), sql)
	if refused == nil {
		f.changed = back
	}
	return err
}

// timeVariable returns the variable that limits a statement's time on a server, and a value of it; "" where it has none, or that is too long for it. MySQL
// manual: "Server System Variables", max_execution_time. MariaDB Knowledge Base: "Server System Variables", max_statement_time.
func timeVariable(info *backend.Info, d time.Duration) (name, value string) {
	switch {
	case info.MariaDB && info.Number >= 100101 && d <= 31536000*time.Second:
		return "max_statement_time", fmt.Sprintf("%.3f", d.Seconds())
	case !info.MariaDB && info.Number >= 50708 && d.Milliseconds() <= 1<<32-1:
		return "max_execution_time", fmt.Sprintf("CAST(%d AS UNSIGNED)", d.Milliseconds()) // as the variable's own type is
	}
	return "", ""
}

// asBefore takes the variables back that were set where the statement ends, and the scratch tables, in one round trip.
func (f *finishing) asBefore() error {
	back := f.changed
	if f.limited {
		back = append(back, joinAsBefore)
	}
	set, drop := "SET "+strings.Join(back, ", "), "DROP TEMPORARY TABLE "+strings.Join(f.made, ", ")
	switch {
	case len(f.made) == 0 && len(back) == 0:
		return nil
	case len(f.made) == 0:
		return f.exec(set)
	case len(back) == 0:
		return f.exec(drop)
	}
	refused, err := f.behind(set, drop)
	if err == nil && refused != nil {
		return refused
	}
	return err
}

// behind runs a statement of the proxy's own behind another one, in one round trip, where the client's statement ends. refused is the server's error for the
// one ahead.
func (f *finishing) behind(ahead, sql string) (refused *mysql.SQLError, err error) {
	c := f.last.Conn
	c.Command(mysql.ComQuery, ahead)
	c.Command(mysql.ComQuery, sql)
	for k, text := range [...]string{ahead, sql} {
		span := f.s.client.observed.OwnSpan(f.last.Instance, f.s.client.state.DB(), text)
		if k > 0 {
			c.ExpectResponse()
		}
		err = c.ReadOK()
		observe.EndSpan(span, err)
		if k == 0 && err != nil && !errors.As(err, &refused) {
			return nil, err
		}
	}
	return refused, err
}

// timedOut reports whether a server's error says that a statement was ended from outside: by a KILL, or by its own limit.
func timedOut(code uint16) bool {
	return code == mysql.ERQueryInterrupted || code == erStatementTimeout
}
