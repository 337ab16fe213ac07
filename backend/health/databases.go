package health

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
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
	asking   atomic.Bool
}

// due tells whether to ask now, and for the variables too; counters are those of DDLCounters.
func (w *databaseWatch) due(counters string) (databases, variables bool) {
	switch {
	case counters != w.counters:
		w.counters, w.again = counters, storedAgain
	case w.again > 0:
		w.again--
	case time.Since(w.asked) < storedAge:
		return false, false
	}
	if time.Since(w.asked) < storedAge {
		return true, false
	}
	w.asked = time.Now()
	return true, true
}

// followDatabases asks which databases there are when that may have changed. It does so on a connection of its own: an answer that takes long
// is no reason to doubt the instance.
func (m *Monitor) followDatabases(ctx context.Context, i *backend.Instance, w *databaseWatch, counters string) {
	if w.asking.Load() {
		return // the next probe looks
	}
	databases, variables := w.due(counters)
	if !databases {
		return
	}
	w.asking.Store(true)
	m.done.Go(func() {
		defer w.asking.Store(false)
		askDatabases(ctx, i, variables)
	})
}

// askDatabases asks for the databases, and the variables; what fails is asked again in storedAge.
func askDatabases(ctx context.Context, i *backend.Instance, variables bool) {
	ctx, cancel := context.WithTimeout(ctx, storedTimeout)
	defer cancel()
	conn, err := i.DialContext(ctx, 0)
	if err != nil {
		return // the probes say so
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	conn.Net.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { conn.Net.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var names []string
	err = conn.Rows(databasesQuestion, 1, func(row []string) { names = append(names, row[0]) })
	var refused *mysql.SQLError
	switch {
	case err == nil:
		i.SetDatabases(names)
	case !errors.As(err, &refused):
		return
	}
	if variables {
		_ = askVariables(i, conn) // the next time tells more
	}
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
	i.Variables.Set(all)
	return nil
}
