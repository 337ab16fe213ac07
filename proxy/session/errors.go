package session

import (
	"errors"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/mysql"
)

// ErrorEntry is one of the proxy's own errors: what a client hears that no MySQL server says. The table is the source
// of docs/errors.md. Numbers are never used again for something else.
type ErrorEntry struct {
	Code              uint16
	State             string
	Name, Cause, Cure string
}

// The codes of the proxy's own errors.
const (
	KSPoolTimeout        = 9001
	KSBackendUnreachable = 9002
	KSBackendLost        = 9003
	KSTransactionNodes   = 9004
	KSRefusedVariable    = 9005
	KSRefusedStatement   = 9006
	KSInternal           = 9007
	KSTooManyWaiters     = 9008
	KSLocalInfile        = 9009
	KSNoSchema           = 9010
	KSStatementBroken    = 9011
	KSRefusedSharding    = 9012
	KSUnreadable         = 9013
	KSFinishLimit        = 9014
	KSUnfinishedDDL      = 9015
	KSNoDDL              = 9016
	KSPaused             = 9017
	KSNotCarriedOut      = 9018
	KSPacketMemory       = 9019
	KSQueryRule          = 9020
	KSThrottled          = 9021
	KSNoRights           = 9030
	KSAdminSyntax        = 9031
	KSAdminFailed        = 9032
)

// Errors is the table of the proxy's own errors, by code.
var Errors = []ErrorEntry{
	{KSPoolTimeout, "08004", "KS_POOL_TIMEOUT", "No connection to the instance became free within pool_wait_timeout.", "Raise max_conns_limit of the node, or find the transactions and pinned sessions that hold connections."},
	{KSBackendUnreachable, "08S01", "KS_BACKEND_UNREACHABLE", "The instance cannot be reached, or refused the login. Nothing was sent.", "Check that it runs, its address, and the node's user, password and tls. The statement can be sent again."},
	{KSBackendLost, "08S01", "KS_BACKEND_LOST", "The connection to the instance broke after the statement was sent, and may have arrived. Whether it was carried out is unknown.", "Check the data before sending the statement again. An open transaction was rolled back by the server. Of a change of several nodes the text names those that have it, and SHOW KS HALF_DONE keeps it."},
	{KSTransactionNodes, "25000", "KS_TRANSACTION_NODES", "transaction in multi node: a transaction that began on one node may not use another one.", "End the transaction first."},
	{KSRefusedVariable, "42000", "KS_REFUSED_VARIABLE", "The variable would change the server for other users, the binary log, or an account of the proxy.", "Set it on the database server itself, as an administrator."},
	{KSRefusedStatement, "42000", "KS_REFUSED_STATEMENT", "The statement cannot give the right answer through a proxy that shares connections and the servers' accounts, or reaches beyond its session.", "See docs/sql-support.md for what to use instead."},
	{KSInternal, "HY000", "KS_INTERNAL", "A fault in the proxy. The session was closed and the fault logged.", "Report it with the log lines."},
	{KSTooManyWaiters, "08004", "KS_TOO_MANY_WAITERS", "Too many statements already wait for a connection to the instance.", "Raise max_conns_limit of the node or send less at a time."},
	{KSLocalInfile, "42000", "KS_LOCAL_INFILE", "LOAD DATA LOCAL is not allowed for this user, or the client did not offer it.", "Set local_infile: true for the user, and the client's own option."},
	{KSNoSchema, "42000", "KS_NO_SCHEMA", "The user has no entry in schema_list any more.", "Give the user one in the configuration and reload."},
	{KSStatementBroken, "HY000", "KS_STATEMENT_BROKEN", "The result was cut off because the instance broke the protocol or the connection.", "Send the statement again; look at the instance's error log."},
	{KSRefusedSharding, "42000", "KS_REFUSED_SHARDING", "The statement names a sharded table and cannot be given one server's answer. The text says which clause keeps it from that. Nothing was sent.", "Give the sharding key, or see docs/sql-support.md for what to use instead."},
	{KSUnreadable, "42000", "KS_UNREADABLE", "The statement may name a sharded table and the proxy cannot read it. Nothing was sent.", "Write it in another form, or send it to one node with a hint and physical names."},
	{KSFinishLimit, "HY000", "KS_FINISH_LIMIT", "A statement over several shards needed more rows in one place than the limit allows.", "Narrow it by conditions on one table each, or by its sharding key; finish_max_bytes is the limit of rows that are collected."},
	{KSUnfinishedDDL, "HY000", "KS_UNFINISHED_DDL", "DDL is done on some physical tables and not on others; the text names both, and the first cause.", "Remove the cause, then finish it with ADMIN DDL RESUME and its number; ADMIN DDL LIST shows what is unfinished."},
	{KSNoDDL, "42000", "KS_NO_DDL", "ADMIN DDL names a statement that is not there, is another user's, or runs.", "ADMIN DDL LIST shows the ids. A restart of the proxy forgets them: the log has the statements and their tables."},
	{KSPaused, "HY000", "KS_PAUSED", "An operator has paused the proxy, and the statement has waited as long as KS PAUSE said. Nothing was sent.", "KS RESUME lets statements go on; SHOW KS STATUS tells since when they wait. The statement can be sent again."},
	{KSNotCarriedOut, "08S01", "KS_NOT_CARRIED_OUT", "The connection to a node broke before the statement had arrived there, or before anything of it was kept. It was not carried out: what a server had begun it rolls back.", "Send the statement again. Only tables of an engine without transactions may have a part of it. An open transaction was rolled back by the server."},
	{KSPacketMemory, "08S01", "KS_PACKET_MEMORY", "The long packets of all clients together would take more than packet_memory. Nothing of the statement was sent; after a long packet the connection is closed, after long parameters it goes on. Or the lines of a LOAD DATA that wait for their shards would: nothing of it is kept, and the connection goes on.", "Send it again later, send less at a time, or raise packet_memory."},
	{KSQueryRule, "42000", "KS_QUERY_RULE", "A query rule refuses the statement; the text names the rule and says what its author wants said. Nothing was sent.", "See the rule in query_rules; KS RULE TEST 'statement' shows which rules match."},
	{KSThrottled, "HY000", "KS_THROTTLED", "A query rule lets fewer statements of the kind run at the same time or in a second; there was no place within its max_wait. Nothing was sent.", "Send it again later, or raise the limits of the rule that the text names."},
	{KSNoRights, "42000", "KS_NO_RIGHTS", "The statement is about the proxy itself and needs rights that the user does not have.", "Give the user rights in user_list (read, operate or admin) and a password, and reload."},
	{KSAdminSyntax, "42000", "KS_ADMIN_SYNTAX", "A statement about the proxy itself is not written as it should be. The text says what was expected.", "KS HELP lists the statements."},
	{KSAdminFailed, "HY000", "KS_ADMIN_FAILED", "What a statement about the proxy itself asked for was not done. The text says why; nothing was changed.", "Remove the cause and send it again."},
}

// NewError returns one of the proxy's own errors, for statements that other packages carry out and a session answers.
func NewError(code uint16, detail string) *mysql.SQLError { return newError(code, detail) }

// newError makes one of the proxy's own errors; detail replaces the table's cause where it says more.
func newError(code uint16, detail string) *mysql.SQLError {
	for _, e := range Errors {
		if e.Code == code {
			if detail == "" {
				detail = e.Cause
			}
			return &mysql.SQLError{Code: code, State: e.State, Message: detail}
		}
	}
	return &mysql.SQLError{Code: KSInternal, State: "HY000", Message: detail}
}

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
func refuse(why string) *mysql.SQLError { return newError(KSRefusedStatement, why) }

// interrupted is what a client hears whose statement was ended by KILL.
func interrupted() *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERQueryInterrupted, "Query execution was interrupted")
}
