package twophase

import (
	"fmt"
	"os"
)

// traced is a part of the names of the transactions that KS_TRACE has followed.
var traced = os.Getenv("KS_TRACE")

// trace prints what concerns a transaction, when it is followed.
func (s *sim) trace(g GTRID, format string, args ...any) {
	if traced != "" && (traced == "all" || g.String() == traced) {
		fmt.Printf("%12v %s %s\n", s.now, g, fmt.Sprintf(format, args...))
	}
}
