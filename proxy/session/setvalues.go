package session

import (
	"math"
	"strconv"
	"strings"

	"kingshard/backend"
)

// adoptTimestamp keeps what SET timestamp has set, for every connection that the session uses. One that is the clock's again gives
// another value each time that it is asked for. MySQL manual: "Server System Variables", timestamp.
func (s *Session) adoptTimestamp(p backend.Pooled) error {
	var values [2]string
	for k := range values {
		if err := p.Conn.Rows("SELECT @@session.timestamp LIMIT 1", 1, func(row []string) { values[k] = row[0] }); err != nil {
			return err
		}
	}
	if values[0] == values[1] && isNumber(values[0]) {
		s.state.set("timestamp", values[0])
	} else {
		s.state.unset("timestamp")
	}
	return nil
}

// followWaitTimeout notes how long the client wants to be allowed to idle. MySQL manual: "Server System Variables", wait_timeout.
func (s *Session) followWaitTimeout() {
	seconds, _ := strconv.Atoi(strings.Trim(s.state.value("wait_timeout"), "'"))
	s.entry.SetWaitTimeout(uint32(min(max(seconds, 0), math.MaxUint32)))
}

// heldValue says why a statement that takes a value set for one connection only cannot run on others; "" if it takes none: the ids
// of insert_id, the numbers that follow from rand_seed1 and rand_seed2, and what no text carries.
func (s *Session) heldValue(q *query) string {
	switch {
	case s.pins.has(pinInsertID) && insertsRows(q.info.Class):
		return "insert_id"
	case s.pins.has(pinRandSeed) && mentions(q.text, "rand"):
		return "rand_seed1 and rand_seed2"
	case s.state.heldVariable != "":
		return s.state.heldVariable
	}
	return ""
}
