// Package mysql speaks the MySQL client/server protocol, both sides of it: framing ([Conn]), the packets of the
// connection and command phases, capability and status flags, and the forwarding of whole responses from one
// connection to another without decoding a row ([Forwarder]).
//
// A reader starts with [NewConn], then [Conn.ReadPacket], [Conn.WritePacket] and [Conn.Flush]. Packets are structs
// with two halves: Decode, which checks every length against the payload, and AppendTo, which appends the payload to a
// byte slice. Names are those of the MySQL manual's chapter "Client/Server Protocol", spelled as Go names:
// COM_STMT_PREPARE is ComStmtPrepare. The package knows nothing of the proxy: no configuration, logger or metrics.
package mysql
