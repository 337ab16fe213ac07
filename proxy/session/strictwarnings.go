package session

import (
	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/session/state"
	"kingshard/router/plan"
)

// ofStrictMode are the warnings that MySQL makes errors of in a change under a strict sql_mode, with the SQLSTATE of each. MySQL manual:
// "Server SQL Modes", strict SQL mode, and "Server Error Message Reference". 1301, a value longer than max_allowed_packet, is missing there.
var ofStrictMode = map[uint16]string{
	1048: "23000", 1071: "42000", 1210: "HY000", 1260: "HY000", 1261: "01000", 1262: "01000", 1263: "22004", 1264: "22003", 1265: "01000",
	1292: "22007", 1301: "HY000", 1364: "HY000", 1365: "22012", 1366: "HY000", 1406: "22001", 1411: "HY000", 1423: "HY000", 1441: "22008",
	3020: "2201E",
}

// refusedChoice returns the error that one MySQL gives in an UPDATE or DELETE where the query that chose its rows on a connection was only
// warned. MariaDB gives it in an UPDATE that changes rows as it finds them, if it has not worked the value out ahead of them: nobody knows.
func (cs *changes) refusedChoice(p *plan.Plan, on backend.Pooled) error {
	if !cs.client.state.Strict || cs.client.mode().MariaDB || p.Operator.(*plan.Choose).Clauses.Ignore {
		return nil
	}
	warnings, err := state.ReadWarnings(on.Conn, nil)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		if err := strictError(w); err != nil {
			return err
		}
	}
	return nil
}

// strictError returns the error that a warning is in a change under a strict sql_mode; nil if it stays one.
func strictError(w state.Warning) error {
	if sqlState := ofStrictMode[w.Code]; sqlState != "" && w.Level == "Warning" {
		return &mysql.SQLError{Code: w.Code, State: sqlState, Message: w.Message}
	}
	return nil
}
