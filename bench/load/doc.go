// Package load makes load on a MySQL server or a proxy and measures what clients see: closed loops (Closed), where each
// client sends its next statement when it has the answer to the last; open ones (Open), where statements are due at a
// constant rate and waiting counts from the moment they were due; and sysbench. Search finds the highest rate that holds
// an SLO. Clients speak the protocol by kingshard/mysql with commands made beforehand, so they cost little themselves.
package load
