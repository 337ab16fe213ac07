package session

import (
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router/plan"
)

// explain answers EXPLAIN of a statement on sharded tables with its plan: a row for each statement that a server gets.
func (s *Session) explain(q *query) error {
	text, ok := sqlparse.Explained(q.text, s.mode())
	if !ok {
		return newError(KSRefusedSharding, "EXPLAIN of a sharded table shows the proxy's plan: use EXPLAIN followed by the statement")
	}
	p, err := s.schema.Plans.get(text, s.state.db, s.mode())
	if err != nil {
		return s.planError(err)
	}
	if p == nil {
		return newError(KSRefusedSharding, "EXPLAIN of this form of statement is not known")
	}
	rows, err := plan.Explain(p)
	if err != nil {
		return s.planError(err)
	}
	var out [][]string
	for k, r := range rows {
		out = append(out, []string{strconv.Itoa(k + 1), r.Plan, orNull(r.Reason), r.Node, strings.Join(r.Shards, ","), r.SQL})
	}
	kind := mysql.TypeVarString
	s.writeRows([]string{"id", "plan", "reason", "node", "shards", "sql"}, []mysql.ColumnType{mysql.TypeLongLong, kind, kind, kind, kind, kind}, out)
	return nil
}

// describeTable answers DESC, SHOW COLUMNS, SHOW INDEX and SHOW CREATE TABLE of a sharded table by one of its shards, with the
// logical name in place of the physical one.
func (s *Session) describeTable(q *query, p *plan.Plan) error {
	pooled, err := s.acquire(s.route(q))
	if err != nil {
		return err
	}
	var names []string
	var types []mysql.ColumnType
	var rows [][]string
	span := s.shardSpan(pooled.Instance, q.text)
	err = pooled.Conn.Table(q.text, func(definitions []mysql.ColumnDefinition41) {
		for _, d := range definitions {
			names, types = append(names, d.Name), append(types, d.Type)
		}
	}, func(cells []string, null []bool) {
		row := make([]string, len(cells))
		for k, c := range cells {
			row[k] = mysql.RenameText(c, q.rename)
			if null[k] {
				row[k] = nullText
			}
		}
		rows = append(rows, row)
	})
	endSpan(span, err)
	if err != nil {
		if e, ok := err.(*mysql.SQLError); ok {
			s.release(pooled)
			e.Message = mysql.RenameText(e.Message, q.rename)
			return e
		}
		return s.lost(pooled, err)
	}
	s.release(pooled)
	s.writeRows(names, types, rows)
	return nil
}
