package session

// transactionState is what the client has said of transactions and what servers have not all heard of yet.
type transactionState struct {
	// pendingBegin is the BEGIN that the client has sent and that goes to the backend ahead of the next statement.
	pendingBegin string
	// next is what SET TRANSACTION said of the next transaction, and began what it had said of the one that the held connection is in.
	next, began characteristics
}
