package session

import (
	"slices"
	"strings"
)

// xaVerb tells whether the word behind XA is one of verbs.
func xaVerb(text string, verbs ...string) bool {
	f := strings.Fields(text)
	return len(f) > 1 && slices.Contains(verbs, strings.ToUpper(f[1]))
}

// flushLocks tells whether a FLUSH statement leaves locks on the connection.
func flushLocks(text string) bool {
	t := strings.ToUpper(text)
	return strings.Contains(t, "LOCK") || strings.Contains(t, "EXPORT")
}
