package plan

import "kingshard/mysql/sqlparse"

// An expression for an AUTO_INCREMENT column whose value only a server computes may be NULL or 0 there: a sub-table would number its row by itself then, and other
// sub-tables have that id as well. Its text is sent so that the server has an error for it (1690, the value is out of range), which IGNORE does not make a warning.
const guardBegin, guardEnd = "COALESCE(NULLIF(", ", 0), CAST(POW(2, 1024) AS SIGNED))"

// guardIDs lists the edits of such expressions in an INSERT.
func (p *Plan) guardIDs() (edits []edit) {
	guard := func(cell sqlparse.Span) {
		edits = append(edits, edit{span: sqlparse.Span{Pos: cell.Pos, End: cell.Pos}, insert: guardBegin}, edit{span: sqlparse.Span{Pos: cell.End, End: cell.End}, insert: guardEnd})
	}
	if o, is := p.Operator.(*Insert); is && o.auto != nil && o.auto.cell >= 0 {
		for row, v := range o.auto.values {
			if v.param == notKnown && row < len(o.rows) {
				guard(o.rows[row].Cells[o.auto.cell])
			}
		}
	}
	if !p.guarded.Empty() {
		guard(p.guarded)
	}
	return edits
}

// guardSelected notes where an INSERT ... SELECT computes the AUTO_INCREMENT column.
func (p *Plan) guardSelected(in *sqlparse.Insert, a *autoIncrement) error {
	if a.values[0].param != notKnown {
		return nil
	}
	_, _, query, ok := sqlparse.InsertSelectList(p.Statement.Text, p.Mode)
	if ok {
		var c sqlparse.Clauses
		if c, ok = sqlparse.SelectClauses(p.Statement.Text[query:], p.Mode); ok && a.cell < len(c.Fields) {
			p.guarded = sqlparse.Span{Pos: query + c.Fields[a.cell].Pos, End: query + c.Fields[a.cell].End}
			if p.Statement.Query.Select.Fields[a.cell].Alias != "" {
				p.guarded = sqlparse.WithoutAlias(p.Statement.Text, p.guarded)
			}
			return nil
		}
	}
	return Refuse("an expression for the AUTO_INCREMENT column %s of the sharded table %s in this form: give a value, or leave it out", a.column, in.Table.Name)
}
