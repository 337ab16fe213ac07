package admin

import (
	"context"
	"strings"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/placement"
	"kingshard/router"
)

// copiesOf reads what comes behind KS CHECK REFERENCE: a table, and the node that others are to be made as.
func (c *call) copiesOf() (name, from string, err error) {
	if name, err = c.tableName(); err != nil {
		return "", "", err
	}
	if c.r.Word("repair") {
		if !c.r.Word("from") {
			return "", "", c.r.Expected("FROM")
		}
		var ok bool
		if from, ok = c.r.Name(); !ok {
			return "", "", c.r.Expected("the name of a node")
		}
	}
	return name, from, c.r.End()
}

var checkReferenceColumns = append(append(append(texts("node", "physical_table"), numbers("part", "rows", "missing", "extra", "other")...), texts("keys", "state")...), texts("checksum")...)

// checkReference compares the copies of a table, and makes them as that on a node is, unless from is "". Keys are values: they are shown to those who may see
// other users' statements.
func (a *Admin) checkReference(ctx context.Context, w change.Who, name, from string) (*answer, error) {
	rights, what, detail := account.Operate, "check reference", name
	if from != "" {
		rights, what, detail = account.Admin, "repair reference", name+" from "+from
	}
	tables := a.ruled(name)
	switch {
	case name == "":
		return nil, change.Failed("the name of a table is missing")
	case len(tables) == 0:
		return nil, change.Failed("no table %s has a rule: SHOW KS TABLES lists them", name)
	case len(tables) > 1 && from != "":
		return nil, change.Failed("several tables are called %s: say which, with its database", name)
	}
	found := &answer{columns: checkReferenceColumns}
	return found, a.Trail.Act(w, rights, what, detail, func() error {
		for _, t := range tables {
			if t.Kind != router.Reference {
				return change.Failed("%s.%s is no reference table", t.DB, t.Name)
			}
			err := placement.Copies(ctx, t, a.shared.Snapshot.Load().Nodes, from, from != "", func(p placement.CopyPart) { found.rows = append(found.rows, copyRow(w, &p)) })
			if ctx.Err() != nil {
				return interrupted()
			}
			if err != nil {
				return change.Failed("%s.%s: %v", t.DB, t.Name, err)
			}
		}
		return nil
	})
}

func copyRow(w change.Who, p *placement.CopyPart) []any {
	state := "ok"
	switch {
	case p.Err != nil:
		state = p.Err.Error()
	case p.Differs():
		state = "differs"
	case p.Repaired:
		state = "repaired"
	}
	keys := strings.Join(p.Keys, "; ")
	if !w.Texts && keys != "" {
		keys = "?"
		if p.Err != nil {
			state = "differs, and cannot be repaired" // the server's error may name values
		}
	}
	var part any
	if p.Part > 0 {
		part = p.Part
	}
	return []any{p.Node, p.DB + "." + p.Table, part, p.Rows, p.Missing, p.Extra, p.Other, orNil(keys), state, orNil(p.Checksum)}
}
