package admin

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kingshard/proxy/admin/change"
	"kingshard/proxy/session"
)

// table is something that can be shown: SHOW KS name, and a resource of REST.
type table struct {
	name    string // in lower case
	about   string // a sentence without its full stop
	columns []column
	// like is the column that LIKE is about.
	like string
	rows func(v *view) [][]any
}

// column is a column of a table. Its cells are nil, string, bool, and for numbers int, uint64 or float64.
type column struct {
	name    string
	numeric bool
}

// texts and numbers make columns.
func texts(names ...string) []column { return columnsOf(false, names) }

func numbers(names ...string) []column { return columnsOf(true, names) }

func columnsOf(numeric bool, names []string) []column {
	columns := make([]column, len(names))
	for k, name := range names {
		columns[k] = column{name, numeric}
	}
	return columns
}

// view is the state that one statement or request is shown.
type view struct {
	a    *Admin
	who  change.Who
	snap *session.Snapshot
}

func (a *Admin) view(w change.Who) *view { return &view{a: a, who: w, snap: a.shared.Snapshot.Load()} }

// tables are all that can be shown, in the order of KS HELP.
var tables []*table

func init() {
	tables = []*table{
		&statusTable, &historyTable, &nodesTable, &rolesTable, &poolsTable, &sessionsTable, &processlistTable, &tablesTable, &rulesTable, &keysTable, &queryRulesTable, &plansTable,
		&digestsTable, &pinsTable, &locksTable, &configTable, &sequencesTable, &indexesTable, &halfDoneTable, &transactionsTable, &incidentsTable, &eventsTable,
	}
	tables = append(tables, testTables...)
}

// tableNamed finds a table; nil if there is none.
func tableNamed(name string) *table {
	k := slices.IndexFunc(tables, func(t *table) bool { return strings.EqualFold(t.name, name) })
	if k < 0 {
		return nil
	}
	return tables[k]
}

// column finds a column by its name in any case; -1 if there is none.
func (t *table) column(name string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return strings.EqualFold(c.name, name) })
}

func (t *table) columnNames() string {
	names := make([]string, len(t.columns))
	for k, c := range t.columns {
		names[k] = c.name
	}
	return strings.Join(names, ", ")
}

// cellText is a cell as SQL shows it.
func cellText(cell any) (text string, null bool) {
	switch v := cell.(type) {
	case nil:
		return "", true
	case string:
		return v, false
	case bool:
		if v {
			return "YES", false
		}
		return "NO", false
	case int:
		return strconv.Itoa(v), false
	case uint64:
		return strconv.FormatUint(v, 10), false
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), false
	}
	panic("admin: a cell of an unknown type")
}

// answer is what a command or a call gives: rows or, without columns, nothing but that it is done.
type answer struct {
	columns []column
	rows    [][]any
}

// result makes an answer what a session sends; it stays nil where the statement is not ours.
func result(a *answer, err error) (*session.OwnResult, error) {
	if a == nil || err != nil {
		return nil, err
	}
	r := &session.OwnResult{Columns: make([]session.OwnColumn, len(a.columns)), Rows: make([][]session.OwnCell, len(a.rows))}
	for k, c := range a.columns {
		r.Columns[k] = session.OwnColumn{Name: c.name, Numeric: c.numeric}
	}
	for k, row := range a.rows {
		r.Rows[k] = make([]session.OwnCell, len(row))
		for n, cell := range row {
			r.Rows[k][n].Text, r.Rows[k][n].Null = cellText(cell)
			if _, is := cell.(bool); is {
				r.Columns[n].YesNo = true
			}
		}
	}
	return r, nil
}

// orNil returns text, and nil for an empty one.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// moment shows a time, with nil for none.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format("2006-01-02 15:04:05.000")
}
