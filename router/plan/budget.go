package plan

import (
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
)

// stepsMax bounds the looking up of columns and joins in one statement. A step takes some nanoseconds: it is about a tenth of a
// second.
const stepsMax = 10 << 20

// budget counts down what planning a statement may yet cost. Without any left names mean nothing and nothing is joined, so that
// the rest is quick, and the statement is refused in the end.
type budget struct{ spent int }

// take spends steps and tells whether there were any left. A nil budget has no bound.
func (b *budget) take(steps int) bool {
	if b == nil {
		return true
	}
	b.spent += steps
	return b.spent <= stepsMax
}

// errTooLarge refuses a statement whose budget was not enough.
var errTooLarge = Refuse("the statement has too many tables and conditions for the proxy to plan")

// joinMax is how many tables a server can join in one query block. MySQL manual: "Limits on Joins".
const joinMax = 61

// joinTooMany is the servers' own error of a query block with more tables.
func joinTooMany(m sqltext.Mode) error {
	name := "MySQL"
	if m.MariaDB {
		name = "MariaDB"
	}
	return &mysql.SQLError{Code: 1116, State: "HY000", Message: "Too many tables; " + name + " can only use 61 tables in a join"}
}

// tablesIn counts the tables of FROM, derived ones included.
func tablesIn(f *sqlparse.From) int {
	switch {
	case f == nil:
		return 0
	case f.Join != nil:
		return tablesIn(f.Join.Left) + tablesIn(f.Join.Right)
	}
	return 1
}
