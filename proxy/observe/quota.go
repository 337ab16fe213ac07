package observe

import (
	"kingshard/mysql"
	"kingshard/proxy/account"
)

// Exceeded reports whether e, which may be nil, ended an answer for one of the limits of q, which may be nil, too: then it counts that
// for a.
func Exceeded(a *account.Account, q *mysql.Quota, e *mysql.SQLError) bool {
	switch {
	case q == nil || e == nil:
		return false
	case e == q.RowsOver:
		a.Exceeded(account.LimitRows)
	case e == q.BytesOver:
		a.Exceeded(account.LimitBytes)
	default:
		return false
	}
	return true
}
