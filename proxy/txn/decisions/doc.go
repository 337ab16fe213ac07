// Package decisions is what transactions over several nodes need of the servers: on the primary of each node the tables ks_meta.dtx, which has the
// outcomes of such transactions, and ks_meta.secret, which has the key that tells genuine outcomes from forged ones, and three procedures, by which
// the account of clients' statements writes outcomes, and reads the recent ones, without a right on the tables.
//
// A transaction's branches each write a row by ks_branch ([Branch]) before they are prepared; the first of its nodes, its anchor, decides by
// ks_decide ([Decision]), which commits the anchor's own changes along with the row. Whoever finds a branch without an outcome writes one on the anchor
// ([Fence]), which the primary key lets win only if nobody has decided: a row is written once.
//
// [Store.Ready] makes what is missing, where it may; [Look] and [Make] do so for one server. [Judge] tells from a server's version and variables
// whether it keeps what it says of prepared transactions. Nothing here takes part in a transaction.
//
// MySQL manual: "XA Transactions", "Stored Object Access Control". MariaDB Knowledge Base: "XA Transactions".
package decisions
