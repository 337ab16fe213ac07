package session

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// tableReport is what a server says of one table after ANALYZE, CHECK, OPTIMIZE or REPAIR: rows of Table, Op, Msg_type and
// Msg_text; or after CHECKSUM: a row of Table and Checksum.
type tableReport struct {
	table string // db.table as the client knows it
	rows  [][]string
}

// maintain runs ANALYZE, CHECK, CHECKSUM, OPTIMIZE or REPAIR TABLE on every physical table. The client hears of each logical table what
// the server said of the physical one that fared worst.
func (ds *definitions) maintain(p *plan.Plan, r *plan.Route) (failed bool, err error) {
	loans, err := ds.shards.borrowEach(ds.routing.nodesOf(r.Queries), ds.client.state.Setting(), true)
	if err != nil {
		return true, err
	}
	var definitions []mysql.ColumnDefinition41 // under mu
	nodes := make([]string, len(r.Queries))
	for k, q := range r.Queries {
		nodes[k] = q.Node
	}
	var mu sync.Mutex // guards broken
	broken := map[string]error{}
	reports := make([][]tableReport, len(r.Queries))
	errs := make([]error, len(r.Queries))
	beside(loans, nodes, func(l *txn.Lease, step int) bool {
		if ds.client.entry.IsCancelled() {
			errs[step] = interrupted()
			return false
		}
		query := &r.Queries[step]
		ds.effects.reachOn(l, query.Text)
		l.Started(ds.client.id, ds.client.observed.ShardSpan(l.Instance, ds.client.state.DB(), query.Text))
		var columns []mysql.ColumnDefinition41
		columns, reports[step], errs[step] = readReports(l, query.Text, renames(p, query.Shards))
		if errs[step] == nil {
			mu.Lock()
			definitions = columns
			mu.Unlock()
		}
		l.Ended(errs[step])
		var sqlErr *mysql.SQLError
		if errs[step] != nil && !errors.As(errs[step], &sqlErr) {
			mu.Lock()
			defer mu.Unlock()
			broken[l.Node] = errs[step]
			return false
		}
		return true
	})
	stateLost := ds.shards.endEach(loans, broken)
	for k, err := range errs {
		var sqlErr *mysql.SQLError
		switch {
		case err == nil:
		case errors.As(err, &sqlErr):
			e := *sqlErr
			mysql.RenameError(&e, renames(p, r.Queries[k].Shards))
			return ds.shards.failEach(&e, stateLost)
		default:
			return ds.shards.failEach(newError(KSBackendLost, "the connection to node "+nodes[k]+" broke: send the statement again"), stateLost)
		}
	}
	var rows [][]string
	if len(definitions) == 2 {
		rows = checksums(reports, copied(p))
	} else {
		for _, t := range worstReports(reports) {
			rows = append(rows, t.rows...)
		}
	}
	ds.client.state.Diagnostics.Forget()
	ds.client.state.Diagnostics.RowCount = -1
	ds.client.writeTable(definitions, rows)
	return false, nil
}

// readReports runs the statement on one connection and takes its rows by table, with the columns as the server describes them.
func readReports(l *txn.Lease, text string, names []mysql.TableName) (columns []mysql.ColumnDefinition41, reports []tableReport, err error) {
	err = l.Conn.RawRows(text, func(definitions []mysql.ColumnDefinition41, row []value.Cell) {
		columns = definitions
		table := string(row[0])
		for _, n := range names {
			if strings.EqualFold(table, n.FromSchema+"."+n.FromTable) {
				table = n.Schema + "." + n.Table
			}
		}
		cells := []string{table}
		for _, cell := range row[1:] {
			if cell == nil {
				cells = append(cells, nullText)
			} else {
				cells = append(cells, mysql.RenameText(0, string(cell), names))
			}
		}
		if k := len(reports) - 1; k >= 0 && reports[k].table == table {
			reports[k].rows = append(reports[k].rows, cells)
			return
		}
		reports = append(reports, tableReport{table, [][]string{cells}})
	})
	return columns, reports, err
}

// copied names the tables of a statement that are whole on every node, as servers name them.
func copied(p *plan.Plan) map[string]bool {
	names := map[string]bool{}
	for _, r := range p.Refs {
		if r.Table.Kind == router.Reference {
			names[r.Table.DB+"."+r.Table.Name] = true
		}
	}
	return names
}

// checksums adds up what CHECKSUM TABLE says of the physical tables of each logical one: a server adds up the rows' checksums, modulo 2^32.
// Of tables in once, all physical ones are the same.
func checksums(all [][]tableReport, once map[string]bool) (rows [][]string) {
	at := map[string]int{}
	for _, reports := range all {
		for _, t := range reports {
			k, ok := at[t.table]
			if !ok {
				at[t.table] = len(rows)
				rows = append(rows, t.rows[0])
				continue
			}
			if once[t.table] {
				continue
			}
			sum, err := strconv.ParseUint(rows[k][1], 10, 64)
			more, moreErr := strconv.ParseUint(t.rows[0][1], 10, 64)
			if rows[k][1] = nullText; err == nil && moreErr == nil {
				rows[k][1] = strconv.FormatUint((sum+more)%(1<<32), 10)
			}
		}
	}
	return rows
}

// worstReports chooses for each logical table the report with the worst message, the first of equals.
func worstReports(all [][]tableReport) (worst []tableReport) {
	at := map[string]int{}
	for _, reports := range all {
		for _, t := range reports {
			k, ok := at[t.table]
			switch {
			case !ok:
				at[t.table] = len(worst)
				worst = append(worst, t)
			case t.severity() > worst[k].severity():
				worst[k] = t
			}
		}
	}
	return worst
}

// severity ranks the worst message of a report.
func (t *tableReport) severity() (worst int) {
	for _, row := range t.rows {
		rank := 0
		switch strings.ToLower(row[2]) {
		case "error":
			rank = 4
		case "warning":
			rank = 3
		case "status":
			if !strings.EqualFold(row[3], "OK") {
				rank = 2 // "Operation failed", "Table is already up to date"
			}
		default:
			rank = 1 // notes
		}
		worst = max(worst, rank)
	}
	return worst
}
