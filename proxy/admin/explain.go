package admin

import (
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/session"
	"kingshard/router/plan"
)

// explain shows the steps of a statement; one that names no table with a rule goes to the default node as it is. Without a database
// it is refused where one could make another answer.
func explain(plans *session.Plans, node, text, db string, m sqltext.Mode) (*answer, error) {
	steps, err := plans.Explain(text, db, m)
	if err == nil && len(steps) == 0 && db == "" {
		for _, t := range plans.Tables() {
			if found, err := plans.Explain(text, t.DB, m); err != nil || len(found) > 0 {
				return nil, change.Failed("name the database that the statement runs in: in %s it names a table with a rule", t.DB)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		steps = []plan.Step{{Plan: "forward", Reason: "no table with a rule: the default node", Node: node, SQL: text}}
	}
	shown := &answer{columns: explainColumns}
	for k, s := range steps {
		shown.rows = append(shown.rows, []any{k + 1, s.Plan, orNil(s.Reason), orNil(s.Node), orNil(strings.Join(s.Shards, ",")), s.SQL, orNil(s.Help), orNil(s.Scratch)})
	}
	return shown, nil
}
