package mysql

import "fmt"

// SQLError is an error as a client hears it: the fields of an ERR packet.
// MySQL manual: "ERR_Packet"; numbers and states: "MySQL 8.4 Error Message Reference".
type SQLError struct {
	Code    uint16
	State   string // five characters
	Message string
}

// Error numbers of the MySQL manual that the proxy sends itself.
const (
	ERConCount                  = 1040
	ERHandshakeError            = 1043
	ERAccessDenied              = 1045
	ERDBAccessDenied            = 1044
	ERNoDB                      = 1046
	ERBadDB                     = 1049
	ERWrongDBName               = 1102
	ERUnknownCom                = 1047
	ERDupEntry                  = 1062
	ERParse                     = 1064
	ERNoSuchThread              = 1094
	ERKillDenied                = 1095
	ERUnknown                   = 1105
	ERHostIsBlocked             = 1129
	ERHostNotPrivileged         = 1130
	ERTableaccessDenied         = 1142
	ERNetPacketTooLarge         = 1153
	ERNetPacketsOutOfOrder      = 1156
	ERWrongArguments            = 1210
	ERWrongValueForVar          = 1231
	ERUnknownStmtHandler        = 1243
	ERQueryInterrupted          = 1317
	ERQueryTimeout              = 3024
	ERMaxPreparedStmtCount      = 1461
	ERMalformedPacket           = 1835
	ERSecureTransportRequired   = 3159
	ERCantChangeTxIsolation     = 1568
	ERPluginIsNotLoaded         = 1524
	ERStmtHasNoOpenCursor       = 1421
	ERUnsupportedPS             = 1295
	ERUserLimitReached          = 1226
	ERSpecificAccessDenied      = 1227
	ERSubqueriesNotSupported    = 1970 // of MariaDB
	ERLockDeadlock              = 1213
	ERResultsetMetadataNotAsked = 3170
	ERCannotConvertString       = 3854
)

// Error gives the message as the mysql command line prints it.
func (e *SQLError) Error() string {
	return fmt.Sprintf("ERROR %d (%s): %s", e.Code, e.State, e.Message)
}

// sqlStates gives the SQLSTATE of those codes above whose state is not HY000.
var sqlStates = map[uint16]string{
	ERConCount: "08004", ERHandshakeError: "08S01", ERAccessDenied: "28000", ERNoDB: "3D000",
	ERUnknownCom: "08S01", ERParse: "42000", ERTableaccessDenied: "42000",
	ERNetPacketTooLarge: "08S01", ERNetPacketsOutOfOrder: "08S01",
	ERWrongValueForVar:     "42000",
	ERSpecificAccessDenied: "42000", ERSubqueriesNotSupported: "42000", ERQueryInterrupted: "70100", ERMaxPreparedStmtCount: "42000",
	ERCantChangeTxIsolation: "25001", ERUserLimitReached: "42000",
	ERLockDeadlock: "40001",
}

// NewSQLError makes an error with the SQLSTATE that belongs to the code.
func NewSQLError(code uint16, format string, args ...any) *SQLError {
	state, ok := sqlStates[code]
	if !ok {
		state = "HY000"
	}
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	return &SQLError{Code: code, State: state, Message: format}
}
