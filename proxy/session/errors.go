package session

import (
	"errors"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/mysql"
	"kingshard/proxy/kserror"
)

// The codes of the proxy's own errors, as this package writes them.
const (
	KSPoolTimeout        = kserror.PoolTimeout
	KSBackendUnreachable = kserror.BackendUnreachable
	KSBackendLost        = kserror.BackendLost
	KSTransactionNodes   = kserror.TransactionNodes
	KSRefusedVariable    = kserror.RefusedVariable
	KSRefusedStatement   = kserror.RefusedStatement
	KSInternal           = kserror.Internal
	KSTooManyWaiters     = kserror.TooManyWaiters
	KSLocalInfile        = kserror.LocalInfile
	KSNoSchema           = kserror.NoSchema
	KSStatementBroken    = kserror.StatementBroken
	KSRefusedSharding    = kserror.RefusedSharding
	KSUnreadable         = kserror.Unreadable
	KSFinishLimit        = kserror.FinishLimit
	KSUnfinishedDDL      = kserror.UnfinishedDDL
	KSNoDDL              = kserror.NoDDL
	KSPaused             = kserror.Paused
	KSNotCarriedOut      = kserror.NotCarriedOut
	KSPacketMemory       = kserror.PacketMemory
	KSQueryRule          = kserror.QueryRule
	KSThrottled          = kserror.Throttled
	KSCrossShard         = kserror.CrossShard
	KSNoRights           = kserror.NoRights
	KSAdminSyntax        = kserror.AdminSyntax
	KSAdminFailed        = kserror.AdminFailed
)

// newError returns one of the proxy's own errors.
func newError(code uint16, detail string) *mysql.SQLError { return kserror.New(code, detail) }

// backendError turns a failure to get a connection, or to bring it into the session's state, into what the client hears.
func backendError(err error) *mysql.SQLError {
	var sqlErr *mysql.SQLError
	var dial *pool.DialError
	switch {
	case errors.Is(err, pool.ErrTimeout):
		return newError(KSPoolTimeout, err.Error())
	case errors.Is(err, pool.ErrTooManyWaiters):
		return newError(KSTooManyWaiters, err.Error())
	case errors.Is(err, pool.ErrCancelled):
		return interrupted()
	case errors.Is(err, backend.ErrDown), errors.Is(err, pool.ErrClosed), errors.As(err, &dial):
		return newError(KSBackendUnreachable, err.Error())
	case errors.As(err, &sqlErr):
		return sqlErr
	}
	return newError(KSBackendUnreachable, err.Error())
}

// errBlacklisted is what the predecessor says of a statement on the black list.
var errBlacklisted = mysql.NewSQLError(mysql.ERUnknown, "sql in blacklist.")

// refuse says that a statement is not let through, and why.
func refuse(why string) *mysql.SQLError { return kserror.Refuse(why) }

// interrupted is what a client hears whose statement was ended by KILL.
func interrupted() *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERQueryInterrupted, "Query execution was interrupted")
}
