package decisions

import "kingshard/mysql"

// Errors of servers. MySQL manual: "Server Error Message Reference"; MariaDB Knowledge Base: "MariaDB Error Codes".
const (
	erBadNull          = 1048
	erDBCreateExists   = 1007
	erTableExists      = 1050
	erBadDB            = 1049
	erSpAlreadyExists  = 1304
	erSpDoesNotExist   = 1305
	erProcAccessDenied = 1370
	erColumnAccess     = 1143
	erNoSuchTable      = 1146
	erDataTooLong      = 1406
	erNoSuchUser       = 1449
	erLockWait         = 1205
	erReadOnly         = 1290
	erReadOnlyTrx      = 1792
	erReadOnlyMode     = 1836
	erXAERRmfail       = 1399
)

// Lacking reports whether the code of a call's error tells that a procedure, its table or a right is not there, as on a server that took another's
// place: [Store.Forget] has [Store.Ready] make it again.
func Lacking(code uint16) bool {
	switch code {
	case erSpDoesNotExist, erProcAccessDenied, erNoSuchUser, erNoSuchTable, erBadDB, mysql.ERTableaccessDenied, erColumnAccess:
		return true
	}
	return false
}
