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

// timeLimit has the server end what it is sent by itself when the statement's time is over, so that it does so though the proxy is gone: MariaDB every statement,
// MySQL those that read. sql is to come behind it, which costs no further round trip. A limit that the client has, or the server, and that is less, stays.
func (f *finishing) timeLimit(sql string) error {
	left, limited := process.TimeLeft(&f.s.client.entry)
	variable, limit := timeVariable(f.last.Conn.Info, left+serverPatience)
	if !limited || variable == "" {
		return f.exec(sql)
	}
	set := fmt.Sprintf("SET %s = IF(@@%[1]s > 0 AND @@%[1]s < %s, @@%[1]s, %[2]s)", variable, limit)
	refused, err := f.behind(set, sql)
	if refused == nil {
		f.timed = variable
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
	var back []string
	if f.limited {
		back = append(back, joinAsBefore)
	}
	if f.timed != "" {
		back = append(back, f.timed+" = "+f.own(f.timed))
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
