package session

import (
	"errors"

	"kingshard/mysql"
	"kingshard/proxy/process"
)

// expired ends a statement's limit. An interruption is told as what it was.
func expired(x *process.Expiry, err error) error {
	var sqlErr *mysql.SQLError
	if x.Stop() && errors.As(err, &sqlErr) && timedOut(sqlErr.Code) {
		return errExpired()
	}
	return err
}

// patchExpired puts the time-out in place of the server's word for it.
func (c *client) patchExpired(e *mysql.SQLError) {
	if timedOut(e.Code) && c.entry.Expired() {
		*e = *errExpired()
	}
}

func errExpired() *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERQueryTimeout, "Query execution was interrupted, maximum statement execution time exceeded")
}
