package admin

import (
	"kingshard/mysql/sqltext"
	"kingshard/proxy/session"
	"kingshard/router/plan"
)

// explained gives the steps of a statement; one that names no table with a rule goes to the default node as it is.
func explained(plans *session.Plans, node, text, db string, m sqltext.Mode) ([]plan.Step, error) {
	steps, err := plans.Explain(text, db, m)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		steps = []plan.Step{{Plan: "forward", Reason: "no table with a rule: the default node", Node: node, SQL: text}}
	}
	return steps, nil
}
