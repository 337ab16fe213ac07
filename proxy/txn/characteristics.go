package txn

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// Characteristics are those of one transaction, as SET TRANSACTION without a scope words them: the session's next one only. Servers use
// them up with the first statement that opens a table of an engine with transactions, or that commits: SELECT 1 leaves them, as do most
// errors, a change among them that they forbid. Zero is what the session has set for all. MySQL manual: "SET TRANSACTION Statement".
type Characteristics struct {
	level, access uint8 // places in levels and accesses
	// Unknown says that nobody knows whether the transaction that the held connection is in has them.
	Unknown bool
}

var (
	levels   = [...]string{"", "READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}
	accesses = [...]string{"", "READ WRITE", "READ ONLY"}
)

// IsSet reports whether there are any.
func (c Characteristics) IsSet() bool { return c != Characteristics{} }

// Level returns the isolation level, "" for the session's.
func (c Characteristics) Level() string { return levels[c.level] }

// Forbids reports whether they say READ ONLY.
func (c Characteristics) Forbids() bool { return accesses[c.access] == "READ ONLY" }

// RepeatableRead returns c with that isolation level.
func (c Characteristics) RepeatableRead() Characteristics {
	c.level = uint8(slices.Index(levels[:], "REPEATABLE READ"))
	return c
}

// Text returns the statement that sets them; "" for none.
func (c Characteristics) Text() string {
	level, access := levels[c.level], accesses[c.access]
	if level != "" {
		level = "ISOLATION LEVEL " + level
	}
	if level != "" && access != "" {
		level += ", "
	}
	if level+access == "" {
		return ""
	}
	return "SET TRANSACTION " + level + access
}

// Texts lists the statements that set them again in another process: one, or none.
func (c Characteristics) Texts() []string {
	if text := c.Text(); text != "" {
		return []string{text}
	}
	return nil
}

// Take adds what assignments say. It reports false if they are not, or not all, what a SET TRANSACTION without a scope is read as; then
// some may have been added.
func (c *Characteristics) Take(assignments []sqltext.Assignment) bool {
	for _, a := range assignments {
		switch {
		case a.Scope != sqltext.NextTransaction || !a.Literal:
			return false
		case a.Name == "transaction_read_only" && (a.Value == "0" || a.Value == "1"):
			c.access = 1 + a.Value[0] - '0'
		default:
			k := slices.Index(levels[:], strings.ReplaceAll(strings.Trim(a.Value, "'"), "-", " "))
			if a.Name != "transaction_isolation" || k <= 0 {
				return false
			}
			c.level = uint8(k)
		}
	}
	return true
}
