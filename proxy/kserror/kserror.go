// Package kserror has the proxy's own errors: what a client hears that no MySQL server says, with a number and an SQLSTATE of their own.
package kserror

import "kingshard/mysql"

// Entry is one of the proxy's own errors.
type Entry struct {
	Code              uint16
	State             string
	Name, Cause, Cure string
}

// The codes of the proxy's own errors.
const (
	PoolTimeout        = 9001
	BackendUnreachable = 9002
	BackendLost        = 9003
	TransactionNodes   = 9004
	RefusedVariable    = 9005
	RefusedStatement   = 9006
	Internal           = 9007
	TooManyWaiters     = 9008
	LocalInfile        = 9009
	NoSchema           = 9010
	StatementBroken    = 9011
	RefusedSharding    = 9012
	Unreadable         = 9013
	FinishLimit        = 9014
	UnfinishedDDL      = 9015
	NoDDL              = 9016
	Paused             = 9017
	NotCarriedOut      = 9018
	PacketMemory       = 9019
	QueryRule          = 9020
	Throttled          = 9021
	Sequence           = 9022
	CrossShard         = 9023
	NoRights           = 9030
	AdminSyntax        = 9031
	AdminFailed        = 9032
)

// Table has the proxy's own errors, by code. It is the source of docs/errors.md, and not to be changed while the program runs. Numbers are
// never used again for something else.
var Table = []Entry{
	{PoolTimeout, "08004", "KS_POOL_TIMEOUT", "No connection to the instance became free within pool_wait_timeout.", "Raise max_conns_limit of the node, or find the transactions and pinned sessions that hold connections."},
	{BackendUnreachable, "08S01", "KS_BACKEND_UNREACHABLE", "The instance cannot be reached, or refused the login. Nothing was sent.", "Check that it runs, its address, and the node's user, password and tls. The statement can be sent again."},
	{BackendLost, "08S01", "KS_BACKEND_LOST", "The connection to the instance broke after the statement was sent, and may have arrived. Whether it was carried out is unknown.", "Check the data before sending the statement again. An open transaction was rolled back by the server. Of a change of several nodes the text names those that have it, and SHOW KS HALF_DONE keeps it."},
	{TransactionNodes, "25000", "KS_TRANSACTION_NODES", "transaction in multi node: a transaction that began on one node may not use another one.", "End the transaction first, or see SHOW KS STATUS for what the servers lack: Atomic_transactions; sharding.md."},
	{RefusedVariable, "42000", "KS_REFUSED_VARIABLE", "The variable would change the server for other users, the binary log, or an account of the proxy.", "Set it on the database server itself, as an administrator."},
	{RefusedStatement, "42000", "KS_REFUSED_STATEMENT", "The statement cannot give the right answer through a proxy that shares connections and the servers' accounts, or reaches beyond its session.", "See docs/sql-support.md for what to use instead."},
	{Internal, "HY000", "KS_INTERNAL", "A fault in the proxy. The session was closed and the fault logged.", "Report it with the log lines."},
	{TooManyWaiters, "08004", "KS_TOO_MANY_WAITERS", "So many statements already wait for a connection to the instance that one more would wait for longer than pool_wait_timeout; the text says how many, and for how long. Nothing was sent.", "Raise max_conns_limit of the node or send less at a time."},
	{LocalInfile, "42000", "KS_LOCAL_INFILE", "LOAD DATA LOCAL is not allowed for this user, or the client did not offer it.", "Set local_infile: true for the user, and the client's own option."},
	{NoSchema, "42000", "KS_NO_SCHEMA", "The user has no entry in schema_list any more.", "Give the user one in the configuration and reload."},
	{StatementBroken, "HY000", "KS_STATEMENT_BROKEN", "The result was cut off because the instance broke the protocol or the connection.", "Send the statement again; look at the instance's error log."},
	{RefusedSharding, "42000", "KS_REFUSED_SHARDING", "The statement names a sharded table and cannot be given one server's answer. The text says which clause keeps it from that. Nothing was changed.", "Give the sharding key, or see docs/sql-support.md for what to use instead."},
	{Unreadable, "42000", "KS_UNREADABLE", "The statement may name a sharded table and the proxy cannot read it. Nothing was sent.", "Write it in another form, or send it to one node with a hint and physical names."},
	{FinishLimit, "HY000", "KS_FINISH_LIMIT", "A statement over several shards needed more rows in one place than the limit allows.", "Narrow it by conditions on one table each, or by its sharding key; finish_max_bytes (of all, or of the user) and finish_max_rows are the limits of rows that one statement collects, finish_total_bytes of those of all statements under way, for which it may be sent again later."},
	{UnfinishedDDL, "HY000", "KS_UNFINISHED_DDL", "DDL is done on some physical tables and not on others; the text names both, and the first cause.", "Remove the cause, then finish it with ADMIN DDL RESUME and its number; ADMIN DDL LIST shows what is unfinished."},
	{NoDDL, "42000", "KS_NO_DDL", "ADMIN DDL names a statement that is not there, is another user's, or runs.", "ADMIN DDL LIST shows the ids. A restart of the proxy forgets them: the log has the statements and their tables."},
	{Paused, "HY000", "KS_PAUSED", "An operator has paused the proxy, and the statement has waited as long as KS PAUSE said. Nothing was sent.", "KS RESUME lets statements go on; SHOW KS STATUS tells since when they wait. The statement can be sent again."},
	{NotCarriedOut, "08S01", "KS_NOT_CARRIED_OUT", "The connection to a node broke before the statement had arrived there, or before anything of it was kept. It was not carried out: what a server had begun it rolls back.", "Send the statement again. Only tables of an engine without transactions may have a part of it. An open transaction was rolled back by the server."},
	{PacketMemory, "08S01", "KS_PACKET_MEMORY", "The long packets of all clients together would take more than packet_memory. Nothing of the statement was sent; after a long packet the connection is closed, after long parameters it goes on. Or the lines of a LOAD DATA that wait for their shards would: nothing of it is kept, and the connection goes on.", "Send it again later, send less at a time, or raise packet_memory."},
	{QueryRule, "42000", "KS_QUERY_RULE", "A query rule refuses the statement; the text names the rule and says what its author wants said. Nothing was sent.", "See the rule in query_rules; KS RULE TEST 'statement' shows which rules match."},
	{Throttled, "HY000", "KS_THROTTLED", "A query rule lets fewer statements of the kind run at the same time or in a second; there was no place within its max_wait. Nothing was sent.", "Send it again later, or raise the limits of the rule that the text names."},
	{Sequence, "HY000", "KS_SEQUENCE", "An id for an AUTO_INCREMENT column could not be drawn: the text says on which node, and what the server said. Nothing was sent.", "The node's user needs CREATE, SELECT, INSERT, UPDATE and DELETE on ks_meta.sequence, and SELECT on the tables; see docs/sharding.md. A row can bring its id itself."},
	{CrossShard, "42000", "KS_CROSS_SHARD", "The rows of the statement would be brought together from several shards, and cross_shard of the user, the table or the query rule that the text names is deny. The text says why they would. Nothing was sent.", "Give the sharding key, or write the statement so that each shard answers it for its own rows: EXPLAIN shows the plan. cross_shard: warn or allow lets it run."},
	{NoRights, "42000", "KS_NO_RIGHTS", "The statement is about the proxy itself and needs rights that the user does not have.", "Give the user rights in user_list (read, operate or admin) and a password, and reload."},
	{AdminSyntax, "42000", "KS_ADMIN_SYNTAX", "A statement about the proxy itself is not written as it should be. The text says what was expected.", "KS HELP lists the statements."},
	{AdminFailed, "HY000", "KS_ADMIN_FAILED", "What a statement about the proxy itself asked for was not done. The text says why; nothing was changed.", "Remove the cause and send it again."},
}

// New returns the error of a code. The detail replaces the table's cause where it says more; "" has the client hear the cause. A code that is
// not in the table is a fault of the proxy's and gives Internal.
func New(code uint16, detail string) *mysql.SQLError {
	for i := range Table {
		if e := &Table[i]; e.Code == code {
			if detail == "" {
				detail = e.Cause
			}
			return &mysql.SQLError{Code: code, State: e.State, Message: detail}
		}
	}
	return &mysql.SQLError{Code: Internal, State: "HY000", Message: detail}
}

// Refuse returns the error of a statement that is not let through, and why.
func Refuse(why string) *mysql.SQLError { return New(RefusedStatement, why) }
