package mysql

import "strings"

// Status is the set of server status flags that OK and EOF packets carry.
// MySQL manual: "SERVER_STATUS_flags_enum".
type Status uint16

// The server status flags.
const (
	ServerStatusInTrans            Status = 1 << 0
	ServerStatusAutocommit         Status = 1 << 1
	ServerMoreResultsExists        Status = 1 << 3
	ServerStatusNoGoodIndexUsed    Status = 1 << 4
	ServerStatusNoIndexUsed        Status = 1 << 5
	ServerStatusCursorExists       Status = 1 << 6
	ServerStatusLastRowSent        Status = 1 << 7
	ServerStatusDBDropped          Status = 1 << 8
	ServerStatusNoBackslashEscapes Status = 1 << 9
	ServerStatusMetadataChanged    Status = 1 << 10
	ServerQueryWasSlow             Status = 1 << 11
	ServerPSOutParams              Status = 1 << 12
	ServerStatusInTransReadonly    Status = 1 << 13
	ServerSessionStateChanged      Status = 1 << 14
)

// statusNames holds the manual's spelling by bit number; bit 2 is not used.
var statusNames = [16]string{
	"SERVER_STATUS_IN_TRANS", "SERVER_STATUS_AUTOCOMMIT", "", "SERVER_MORE_RESULTS_EXISTS",
	"SERVER_QUERY_NO_GOOD_INDEX_USED", "SERVER_QUERY_NO_INDEX_USED", "SERVER_STATUS_CURSOR_EXISTS", "SERVER_STATUS_LAST_ROW_SENT",
	"SERVER_STATUS_DB_DROPPED", "SERVER_STATUS_NO_BACKSLASH_ESCAPES", "SERVER_STATUS_METADATA_CHANGED", "SERVER_QUERY_WAS_SLOW",
	"SERVER_PS_OUT_PARAMS", "SERVER_STATUS_IN_TRANS_READONLY", "SERVER_SESSION_STATE_CHANGED", "",
}

// Has tells whether every flag of f is set.
func (s Status) Has(f Status) bool { return s&f == f }

// String gives the set flags in the manual's spelling, joined by "|".
func (s Status) String() string {
	var names []string
	for bit, name := range statusNames {
		if s&(1<<bit) != 0 && name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}
