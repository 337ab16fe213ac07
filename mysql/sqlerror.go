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
	ERDBAccessDenied            = 1044
	ERAccessDenied              = 1045
	ERNoDB                      = 1046
	ERUnknownCom                = 1047
	ERBadDB                     = 1049
	ERServerShutdown            = 1053
	ERParse                     = 1064
	ERNoSuchThread              = 1094
	ERKillDenied                = 1095
	ERUnknown                   = 1105
	ERUnknownCharacterSet       = 1115
	ERHostNotPrivileged         = 1130
	ERNotAllowedCommand         = 1148
	ERNetPacketTooLarge         = 1153
	ERNetPacketsOutOfOrder      = 1156
	ERNetReadError              = 1158
	ERUnknownSystemVariable     = 1193
	ERTooManyUserConnections    = 1203
	ERWrongArguments            = 1210
	ERWrongValueForVar          = 1231
	ERSpecificAccessDenied      = 1227
	ERNotSupportedYet           = 1235
	ERUnknownStmtHandler        = 1243
	ERWrongParamCount           = 1210
	ERQueryInterrupted          = 1317
	ERMaxPreparedStmtCount      = 1461
	ERMalformedPacket           = 1835
	ERSecureTransportRequired   = 3159
	ERCantChangeTxIsolation     = 1568
	ERClientInteractionTimeout  = 4031
	ERNotSupportedAuthMode      = 1251
	ERPluginIsNotLoaded         = 1524
	ERStmtHasNoOpenCursor       = 1421
	ERDupArgument               = 1225
	ERUnsupportedPS             = 1295
	ERNeedReprepare             = 1615
	EROptionPreventsStatement   = 1290
	ERUserLimitReached          = 1226
	ERTooBigForUncompress       = 1256
	ERVariableIsNotStruct       = 1272
	ERUnknownCollation          = 1273
	ERCantAggregate2collations  = 1267
	ERLocalVariable             = 1228
	ERGlobalVariable            = 1229
	ERWrongTypeForVar           = 1232
	ERIncorrectGlobalLocalVar   = 1238
	ERReadOnlyTransaction       = 1792
	ERCannotUser                = 1396
	ERXAERRmfail                = 1399
	ERLockWaitTimeout           = 1205
	ERLockDeadlock              = 1213
	ERTooManyFields             = 1117
	ERNetUncompressError        = 1157
	ERAbortingConnection        = 1152
	ERNewAbortingConnection     = 1184
	ERUnknownStorageEngine      = 1286
	ERQueryTimeout              = 3024
	ERResultsetMetadataNotAsked = 3170
)

// Error gives the message as the mysql command line prints it.
func (e *SQLError) Error() string {
	return fmt.Sprintf("ERROR %d (%s): %s", e.Code, e.State, e.Message)
}

// sqlStates gives the SQLSTATE of those codes above whose state is not HY000.
var sqlStates = map[uint16]string{
	ERConCount: "08004", ERHandshakeError: "08S01", ERDBAccessDenied: "42000", ERAccessDenied: "28000", ERNoDB: "3D000",
	ERUnknownCom: "08S01", ERBadDB: "42000", ERServerShutdown: "08S01", ERParse: "42000", ERNotAllowedCommand: "42000",
	ERUnknownCharacterSet: "42000", ERNetPacketTooLarge: "08S01", ERNetPacketsOutOfOrder: "08S01", ERNetReadError: "08S01",
	ERTooManyUserConnections: "42000", ERWrongValueForVar: "42000", ERSpecificAccessDenied: "42000", ERNotSupportedYet: "42000",
	ERQueryInterrupted: "70100", ERMaxPreparedStmtCount: "42000", ERNotSupportedAuthMode: "08004", ERNetUncompressError: "08S01",
	ERAbortingConnection: "08S01", ERNewAbortingConnection: "08S01", ERCantChangeTxIsolation: "25001", ERUserLimitReached: "42000",
	ERWrongTypeForVar: "42000", ERReadOnlyTransaction: "25006", ERLockDeadlock: "40001",
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
