package health

import (
	"errors"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// databasesQuestion asks for all that the account may use, as far as there is sense in remembering them.
const databasesQuestion = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA LIMIT 10000"

// databaseWatch is what the watcher of an instance remembers of its databases.
type databaseWatch struct {
	counters string // those of the stored objects' watch when the list was asked for
	again    int    // probes that ask once more: the server counts a statement when it begins
	asked    time.Time
}

// follow asks which databases there are when that may have changed; counters are those of DDLCounters. err is a failure of the
// connection.
func (w *databaseWatch) follow(i *backend.Instance, conn *backend.Conn, counters string) error {
	switch {
	case counters != w.counters:
		w.counters, w.again = counters, storedAgain
	case w.again > 0:
		w.again--
	case time.Since(w.asked) < storedAge:
		return nil
	}
	var names []string
	err := conn.Rows(databasesQuestion, 1, func(row []string) { names = append(names, row[0]) })
	var refused *mysql.SQLError
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	if err == nil {
		i.SetDatabases(names)
	}
	if time.Since(w.asked) < storedAge {
		return nil
	}
	w.asked = time.Now()
	return askVariables(i, conn)
}

// askVariables asks for all variables, with the values that new sessions have.
func askVariables(i *backend.Instance, conn *backend.Conn) error {
	all := make(map[string]string)
	zones := "SELECT '" + strings.ReplaceAll(sqltext.TimeZones, "'", "''") + "', CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC')"
	for _, question := range []string{"SHOW SESSION VARIABLES", "SHOW GLOBAL VARIABLES", zones} { // the second has the word where the first differs
		err := conn.Rows(question, 2, func(row []string) { all[strings.ToLower(row[0])] = row[1] })
		var refused *mysql.SQLError
		switch {
		case errors.As(err, &refused):
			return nil
		case err != nil:
			return err
		}
	}
	i.SetVariables(all)
	return nil
}
