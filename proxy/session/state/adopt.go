package state

import (
	"errors"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// PerStatement are variables that speak of single statements: carrying them to other connections would freeze clocks and
// repeat ids.
var PerStatement = map[string]bool{
	"insert_id": true, "last_insert_id": true, "identity": true, "rand_seed1": true, "rand_seed2": true,
	"profiling": true, "optimizer_trace": true, "debug": true, "debug_dbug": true, "session_track_gtids": false,
}

// Adopt keeps what a SET changed that c has carried out. Values that the client's text does not tell it asks c for. It returns what c alone
// has now; with userVariables, which says that c has user variables of the session already, none is kept. After an error, which is c's,
// the state may be anything.
func (st *State) Adopt(c *backend.Conn, assignments []sqltext.Assignment, userVariables bool) (bound Bound, err error) {
	var asked []string
	for _, a := range assignments {
		switch a.Scope {
		case sqltext.Names, sqltext.CharacterSet:
			asked = append(asked, "character_set_client", "character_set_results", "collation_connection")
		case sqltext.User:
			if !userVariables && bound&BoundUserVariable == 0 && !st.adoptUserVariable(&a) {
				bound |= BoundUserVariable
			}
		case sqltext.Role:
			bound |= BoundVariable
		case sqltext.Session:
			var b Bound
			asked, b = st.adoptVariable(&a, asked)
			bound |= b
		case sqltext.NextTransaction:
			bound |= BoundNextTransaction
		default:
			bound |= BoundUnknown
		}
	}
	if len(asked) > 0 {
		if err := st.Found.Settle(c, false); err != nil { // what is asked now finds a row
			return bound, err
		}
	}
	if slices.Contains(asked, "timestamp") {
		if err := st.ReadTimestamp(c); err != nil {
			return bound, err
		}
		asked = slices.DeleteFunc(asked, func(name string) bool { return name == "timestamp" })
	}
	if len(asked) > 0 {
		b, err := st.read(c, asked)
		if bound |= b; err != nil {
			return bound, err
		}
	}
	st.ReadMode(c.Info)
	return bound, nil
}

// literalMax is how many bytes a user variable's text may have to be brought to other connections. Pools keep such texts for a while.
const literalMax = 4 << 10

// adoptUserVariable keeps a user variable whose value is a plain literal, not a long one. It reports false for another one, and for a name
// that other character sets might read otherwise: the session may have another by the time when the variable is brought elsewhere.
func (st *State) adoptUserVariable(a *sqltext.Assignment) (kept bool) {
	name := "@`" + a.Name + "`"
	value := strings.TrimSpace(a.Value)
	switch {
	case !a.Literal, len(value) > literalMax, !plainLiteral(value), !PlainText(a.Name):
		return false
	case strings.EqualFold(value, "NULL"):
		st.Unset(name)
	default:
		st.Set(name, value)
	}
	return true
}

// adoptVariable keeps a system variable, or adds the names whose values the server is to be asked for to asked.
func (st *State) adoptVariable(a *sqltext.Assignment, asked []string) ([]string, Bound) {
	switch {
	case a.Name == "last_insert_id", a.Name == "identity":
		st.InsertID.doubt = true
	case a.Name == "timestamp":
		return append(asked, a.Name), 0
	case a.Name == "insert_id":
		return asked, BoundInsertID
	case a.Name == "rand_seed1", a.Name == "rand_seed2":
		return asked, BoundRandSeed
	case PerStatement[a.Name]:
		return asked, BoundVariable
	case a.Name == "character_set_server", a.Name == "collation_server":
		return append(asked, "collation_server"), 0
	case a.Name == "character_set_filesystem":
		return append(asked, a.Name), 0
	case a.Name == "character_set_database", a.Name == "collation_database":
		return asked, BoundVariable // it is the current database's again by the next USE
	case strings.HasPrefix(a.Name, "character_set_") || strings.HasPrefix(a.Name, "collation_"):
		return append(asked, "character_set_client", "character_set_results", "collation_connection"), 0
	case a.Literal && strings.EqualFold(a.Value, "DEFAULT") && a.Name != "autocommit" && !backend.KeptByDefault[a.Name]:
		st.Unset(canonicalName(a.Name))
	default:
		return append(asked, canonicalName(a.Name)), 0
	}
	return asked, 0
}

// canonicalName returns one name for variables that servers know by two.
func canonicalName(name string) string {
	switch name {
	case "tx_isolation":
		return "transaction_isolation"
	case "tx_read_only":
		return "transaction_read_only"
	}
	return name
}

// read asks the server what the variables are now, and keeps that: the client's text may have been an expression.
// Those that the server does not tell bind the session to c.
func (st *State) read(c *backend.Conn, names []string) (bound Bound, err error) {
	columns := make([]string, len(names))
	for k, name := range names {
		columns[k] = "@@session." + c.Info.VariableName(name)
	}
	err = c.Rows("SELECT "+strings.Join(columns, ",")+" LIMIT 1", len(columns), func(row []string) {
		for k, name := range names {
			bound |= st.keep(name, row[k])
		}
	})
	if refused(err) {
		return bound | BoundVariable, nil
	}
	return bound, err
}

// refused reports whether an error is a server's answer, after which its connection is as good as before.
func refused(err error) bool {
	var answer *mysql.SQLError
	return errors.As(err, &answer)
}

// keep stores the value of a system variable as the server told it, if it can be written so that every server reads it alike.
func (st *State) keep(name, value string) Bound {
	text, ok := ValueText(value)
	if !ok {
		if slices.Contains(AnswerVariables, name) {
			st.HeldVariable = name
		}
		return BoundVariable
	}
	if name == "autocommit" {
		st.Autocommit = value == "1"
	}
	st.Set(name, text)
	return 0
}

// ValueText returns the SQL text of a system variable's value, which a server told. ok is false where servers may not all read it alike.
func ValueText(value string) (text string, ok bool) {
	switch {
	case value == "NULL" || isNumber(value):
		return value, true
	case PlainText(value):
		return "'" + value + "'", true
	}
	return "", false
}

// ReadTimestamp keeps what SET timestamp has set on c, for every connection that the session uses. One that is the clock's again gives
// another value each time that it is asked for. MySQL manual: "Server System Variables", timestamp.
func (st *State) ReadTimestamp(c *backend.Conn) error {
	var values [2]string
	for k := range values {
		if err := c.Rows("SELECT @@session.timestamp LIMIT 1", 1, func(row []string) { values[k] = row[0] }); err != nil {
			return err
		}
	}
	if values[0] == values[1] && isNumber(values[0]) {
		st.Set("timestamp", values[0])
	} else {
		st.Unset("timestamp")
	}
	return nil
}
