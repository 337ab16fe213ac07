package session

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// xaVerb tells whether the word behind XA is one of verbs.
func xaVerb(text string, verbs ...string) bool {
	f := strings.Fields(text)
	return len(f) > 1 && slices.Contains(verbs, strings.ToUpper(f[1]))
}

// ownXA reports whether an XA statement is about the session's own transaction. On the servers all of the proxy's clients are one account,
// which may list and end what any of them has prepared. What is prepared or within another statement may run when the id is another
// session's.
func (ri *rights) ownXA(in *sqltext.Inner, from origin) bool {
	switch verb, xid := xaParts(in); verb {
	case "start", "begin", "end", "prepare":
		return true // a server refuses those of other sessions
	case "commit", "rollback":
		return from == alone && ri.client.txn.OwnsXA(xid)
	}
	return false
}

// xaParts takes an XA statement apart: its verb in lower case, and the transaction's id as it is written.
func xaParts(in *sqltext.Inner) (verb, xid string) {
	l := sqltext.NewLexer(in.Text, in.Mode)
	l.Next()
	t := l.Next()
	verb = strings.ToLower(in.Text[t.Pos:t.End])
	var id strings.Builder
	for t = l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		word := in.Text[t.Pos:t.End]
		switch strings.ToLower(word) {
		case "one", "join", "resume", "suspend", ";":
			return verb, id.String()
		}
		id.WriteString(word)
	}
	return verb, id.String()
}

// flushLocks tells whether a FLUSH statement leaves locks on the connection.
func flushLocks(text string) bool {
	t := strings.ToUpper(text)
	return strings.Contains(t, "LOCK") || strings.Contains(t, "EXPORT")
}
