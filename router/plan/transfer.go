package plan

import (
	"errors"
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
)

// Transfer is an INSERT ... SELECT, or a REPLACE, whose rows are not where they belong: they are read, and then inserted as those of VALUES are.
type Transfer struct {
	// Query is what reads the rows, in the statement's text; the rows go where it stands.
	Query sqlparse.Span
	// Columns are those that the rows give; nil if they are not known, of a table without a rule.
	Columns []string
}

// ErrTransfers says that the rows of a Transfer are to be read, which only a session can.
var ErrTransfers = errors.New("rows are read and inserted")

// transferPlan plans INSERT ... SELECT so, unless that would not mean the same; why it is needed is the plan's Reason.
func (b *builder) transferPlan(in *sqlparse.Insert) *Transfer {
	p := b.p
	query, ok := sqlparse.InsertQuery(p.Statement.Text, p.Mode)
	reaches := &p.Statement.Reaches
	if reaches.Assigns && len(in.OnUpdate) > 0 || slices.ContainsFunc(reaches.Functions, func(name string) bool { return name == "row_count" || name == "found_rows" }) {
		return nil // which the parts of the statement change
	}
	if !ok || p.Statement.Returning || slices.ContainsFunc(in.OnUpdate, func(a sqlparse.Assignment) bool { return !b.ofTarget(a.Expr) }) {
		return nil
	}
	t := &Transfer{Query: query, Columns: in.Columns}
	b.describe(p.Target)
	if p.Target.Columns == nil {
		return t
	}
	columns, err := columnsOf(p.Target, in)
	if err != nil {
		return nil
	}
	t.Columns = columns
	if p.Target.Table.Kind != router.Sharded {
		return t
	}
	auto, err := autoIncrementOf(p.Target, columns, nil, p.Mode)
	if err != nil {
		return nil
	}
	for _, key := range p.Target.Table.Keys {
		if lastColumn(columns, key) < 0 && (auto == nil || !router.SameColumn(key, auto.column)) {
			return nil
		}
	}
	return t
}

// ofTarget reports whether what an assignment of ON DUPLICATE KEY UPDATE computes is the same without the query: it names columns of the target that cannot be the query's.
func (b *builder) ofTarget(e *sqlparse.Expr) bool {
	target, derived := b.p.Target, false
	b.p.Statement.Query.Each(func(q *sqlparse.Query) {
		derived = derived || q.Select != nil && q.Select.From.HasDerived() || len(q.With) > 0
	}, func(*sqlparse.Expr) {})
	return e.All(func(x *sqlparse.Expr) bool {
		if x.Query != nil {
			return false
		}
		if x.Op != sqlparse.Column {
			return true
		}
		if x.Table == "" && derived {
			return false
		}
		if x.Table != "" {
			return lower(x.Table) == lower(target.Parsed.Label()) && !slices.ContainsFunc(b.p.Refs, func(r *Ref) bool {
				return r != target && lower(r.Parsed.Label()) == lower(x.Table)
			})
		}
		return target.column(x.Name) != nil && !slices.ContainsFunc(b.p.Refs, func(r *Ref) bool {
			return r != target && (r.Columns == nil || r.column(x.Name) != nil)
		})
	})
}

// TargetColumn returns the definition of a column of the table that the statement changes; nil where it is not known.
func (p *Plan) TargetColumn(name string) *mysql.ColumnDefinition41 { return p.Target.column(name) }
