package session

import (
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router/plan"
)

// explain answers EXPLAIN of a statement on sharded tables with its plan: a row for each statement that a server gets.
func (s *Session) explain(text, db string, m sqltext.Mode) error {
	text, ok := sqlparse.Explained(text, m)
	if !ok {
		return newError(KSRefusedSharding, "EXPLAIN of a sharded table shows the proxy's plan: use EXPLAIN followed by the statement")
	}
	p, err := s.client.schema.Plans.get(text, db, m)
	if err != nil {
		return s.leases.unreadable(text, err)
	}
	if p == nil {
		return newError(KSRefusedSharding, "EXPLAIN of this form of statement is not known")
	}
	s.client.txn.NextUsedUp(s.client.state.Autocommit)
	rows, err := plan.Explain(p)
	if err != nil {
		return planError(err)
	}
	rows = append(plan.ExplainIndexes(p, s.client.shared.Indexes.Built), rows...)
	var out [][]string
	for k, r := range rows {
		out = append(out, explainRow(k+1, &r))
	}
	s.client.writeTable(explainColumns(), out)
	return nil
}

// explainRow is the row of a step.
func explainRow(id int, s *plan.Step) []string {
	return []string{strconv.Itoa(id), s.Plan, orNull(s.Reason), s.Node, strings.Join(s.Shards, ","), s.SQL, orNull(s.Help), orNull(s.Scratch)}
}

// explainColumns describes the rows of EXPLAIN.
func explainColumns() []mysql.ColumnDefinition41 {
	kind := mysql.TypeVarString
	return ownDefinitions([]string{"id", "plan", "reason", "node", "shards", "sql", "help", "scratch"}, []mysql.ColumnType{mysql.TypeLongLong, kind, kind, kind, kind, kind, kind, kind},
		[][]string{{"", "", nullText, "", "", "", nullText, nullText}}) // what may be NULL
}
