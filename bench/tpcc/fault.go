package tpcc

import (
	"database/sql/driver"
	"errors"
	"strconv"

	"github.com/go-sql-driver/mysql"
)

// verdict is what a client does about an error.
type verdict int

const (
	again   verdict = iota // nothing is left of the transaction, and it may succeed when it is run again
	refuse                 // the proxy does not do it
	give                   // up: it is a fault of the server, the proxy or this program
	unknown                // whether it was committed is not known
)

// Numbers of errors that have nothing of a transaction left, and go away: of servers, and of the proxy (docs/errors.md).
var passing = map[uint16]bool{
	1020: true, // ER_CHECKREAD: a row has changed since it was read
	1040: true, // ER_CON_COUNT_ERROR
	1053: true, // ER_SERVER_SHUTDOWN
	1205: true, // ER_LOCK_WAIT_TIMEOUT
	1213: true, // ER_LOCK_DEADLOCK
	9001: true, // KS_POOL_TIMEOUT
	9002: true, // KS_BACKEND_UNREACHABLE
	9008: true, // KS_TOO_MANY_WAITERS
	9017: true, // KS_PAUSED
	9018: true, // KS_NOT_CARRIED_OUT
	9021: true, // KS_THROTTLED
}

// lost is KS_BACKEND_LOST: a statement may have been carried out. In the middle of a transaction that is rolled back, of COMMIT it is not known.
const lost = 9003

// Numbers of errors by which the proxy refuses what it cannot do as one server would.
var refusals = map[uint16]bool{
	9004: true, // KS_TRANSACTION_NODES
	9005: true, // KS_REFUSED_VARIABLE
	9006: true, // KS_REFUSED_STATEMENT
	9012: true, // KS_REFUSED_SHARDING
	9013: true, // KS_UNREADABLE
}

// judge says what to do about an error ahead of COMMIT.
func judge(err error) verdict {
	n, told := number(err)
	switch {
	case told && (passing[n] || n == lost):
		return again
	case told && refusals[n]:
		return refuse
	case told || errors.Is(err, errWrongAnswer):
		return give
	}
	return again // the connection broke: the server rolls back
}

// judgeCommit says what to do about an error of COMMIT, of which only some tell what became of it.
func judgeCommit(err error) verdict {
	n, told := number(err)
	switch {
	case told && passing[n], errors.Is(err, driver.ErrBadConn): // of which nothing was sent
		return again
	case told && refusals[n]:
		return refuse
	}
	return unknown
}

// number returns the number of an error that came as an answer.
func number(err error) (n uint16, told bool) {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number, true
	}
	return 0, false
}

// What errors without a number are counted by.
const (
	WrongAnswer      = "wrong answer" // no server answers a statement of ours that way
	BrokenConnection = "connection"
)

// name is what errors are counted by: the number, or what else there is to say.
func name(err error) string {
	n, told := number(err)
	switch {
	case told:
		return strconv.Itoa(int(n))
	case errors.Is(err, errWrongAnswer):
		return WrongAnswer
	}
	return BrokenConnection
}
