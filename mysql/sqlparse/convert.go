package sqlparse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// converter turns the parser's tree into ours.
type converter struct {
	st      *Statement
	marks   []mark
	params  map[int]int // by offset in the marked text
	mariaDB bool
	tokens  []token
	// unread are stars that stand for columns which nobody reads.
	unread []*ast.WildCardField
	// national are those of nationalColumns, for a definition.
	national map[string]bool
}

// name gives a name as the client wrote it.
func (c *converter) name(s ast.CIStr) string { return c.text(s.O) }

func (c *converter) text(s string) string {
	if k, ok := markOf(s); ok && k < len(c.marks) {
		return c.marks[k].name
	}
	return s
}

func (c *converter) statement(node ast.StmtNode) error {
	switch n := node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		c.st.Kind = SelectKind
		c.st.Query = c.query(n)
	case *ast.InsertStmt:
		c.st.Kind = InsertKind
		return c.insert(n)
	case *ast.UpdateStmt:
		c.st.Kind = UpdateKind
		c.update(n)
	case *ast.DeleteStmt:
		c.st.Kind = DeleteKind
		c.delete(n)
	case *ast.TruncateTableStmt:
		c.st.Kind = TruncateKind
		c.table(n.Table, "")
	case *ast.ExplainStmt:
		c.st.Kind = Explain
		if _, ok := n.Stmt.(*ast.ShowStmt); ok {
			c.st.Kind = Describe
		}
		c.allTables(n)
	case *ast.ShowStmt:
		c.st.Kind = Describe
		c.allTables(n)
	case *ast.CreateTableStmt, *ast.AlterTableStmt, *ast.DropTableStmt, *ast.RenameTableStmt, *ast.CreateIndexStmt, *ast.DropIndexStmt,
		*ast.CreateViewStmt:
		c.st.Kind = DDL
		c.st.Definition = c.definition(n)
		c.allTables(n)
	case *ast.LockTablesStmt:
		c.st.Kind = Lock
		for _, t := range n.TableLocks {
			c.table(t.Table, "")
		}
	default:
		c.allTables(node)
	}
	return nil
}

// allTables takes every name of a table anywhere in a statement of which no more is asked.
func (c *converter) allTables(n ast.Node) {
	n.Accept(visitor(func(n ast.Node) bool {
		if t, ok := n.(*ast.TableName); ok {
			c.table(t, "")
			return false
		}
		c.qualifier(n)
		return true
	}))
}

// table takes a reference to a table.
func (c *converter) table(n *ast.TableName, alias string) *Table {
	t := &Table{DB: c.name(n.Schema), Name: c.name(n.Name), Alias: alias}
	switch {
	case len(n.PartitionNames) > 0:
		t.Clause = "PARTITION"
	case len(n.IndexHints) > 0:
		t.Clause = "an index hint"
	}
	if k, ok := markOf(n.Name.O); ok && k < len(c.marks) {
		t.At = c.marks[k].at
		if !c.marks[k].db.Empty() && n.Schema.O != "" {
			t.At.Pos = c.marks[k].db.Pos
		}
	}
	c.st.Tables = append(c.st.Tables, t)
	return t
}

// qualifier notes where a column or a star is qualified by a watched name.
func (c *converter) qualifier(n ast.Node) {
	switch n := n.(type) {
	case *ast.ColumnName:
		c.st.columns[strings.ToLower(c.name(n.Name))]++
		c.qualified(n.Table, n.Schema)
	case *ast.WildCardField:
		c.st.stars = c.st.stars || !slices.Contains(c.unread, n)
		c.qualified(n.Table, n.Schema)
	}
}

func (c *converter) qualified(table, schema ast.CIStr) {
	k, ok := markOf(table.O)
	if !ok || k >= len(c.marks) || c.marks[k].resolved {
		return
	}
	m := &c.marks[k]
	m.resolved = true
	at := m.at
	if schema.O != "" && !m.db.Empty() {
		at.Pos = m.db.Pos
	}
	for i := len(c.st.Tables) - 1; i >= 0; i-- {
		if t := c.st.Tables[i]; strings.EqualFold(t.Label(), m.name) {
			t.Qualifiers = append(t.Qualifiers, at)
			return
		}
	}
}

// query takes a query expression.
func (c *converter) query(n ast.Node) *Query {
	q := &Query{}
	switch n := n.(type) {
	case *ast.SelectStmt:
		c.with(q, n.With)
		q.Select = c.block(n)
		q.Order, q.Limit = c.order(n.OrderBy), c.limit(n.Limit)
	case *ast.SetOprStmt:
		c.with(q, n.With)
		c.parts(q, n.SelectList.Selects)
		q.Order, q.Limit = c.order(n.OrderBy), c.limit(n.Limit)
	case *ast.SetOprSelectList:
		if !ahead(n) {
			c.with(q, n.With)
		}
		c.parts(q, n.Selects)
		q.Order, q.Limit = c.order(n.OrderBy), c.limit(n.Limit)
	case *ast.SubqueryExpr:
		return c.query(n.Query)
	default:
		q.Select = &Select{Into: true} // nothing that can be planned
		c.allTables(n)
	}
	return q
}

// ahead reports whether the WITH clause of a list is that of the query which the list is around.
func ahead(n *ast.SetOprSelectList) bool {
	if len(n.Selects) != 1 {
		return false
	}
	s, is := n.Selects[0].(*ast.SelectStmt)
	return is && s.With == n.With
}

func (c *converter) with(q *Query, w *ast.WithClause) {
	if w == nil {
		return
	}
	for _, cte := range w.CTEs {
		c.st.CTENames[strings.ToLower(c.name(cte.Name))] = true
	}
	for _, cte := range w.CTEs {
		q.With, q.Names = append(q.With, c.query(cte.Query.Query)), append(q.Names, c.name(cte.Name))
	}
}

func (c *converter) parts(q *Query, selects []ast.Node) {
	for _, n := range selects {
		q.Parts = append(q.Parts, c.query(n))
	}
}

// block takes one SELECT. FROM comes first: names in the rest are those of its tables.
func (c *converter) block(n *ast.SelectStmt) *Select {
	s := &Select{Distinct: n.Distinct, Windows: len(n.WindowSpecs) > 0, Into: n.SelectIntoOpt != nil}
	if n.SelectStmtOpts != nil {
		s.CalcFoundRows = n.SelectStmtOpts.CalcFoundRows
	}
	s.Locking = n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone
	if n.From != nil {
		s.From = c.from(n.From.TableRefs)
	}
	if n.Fields != nil {
		for _, f := range n.Fields.Fields {
			s.Fields = append(s.Fields, c.field(f))
		}
	}
	s.Where = c.expr(n.Where)
	if n.GroupBy != nil {
		s.Rollup = n.GroupBy.Rollup
		for _, item := range n.GroupBy.Items {
			s.Group = append(s.Group, c.expr(item.Expr))
		}
	}
	if n.Having != nil {
		s.Having = c.expr(n.Having.Expr)
	}
	for k := range n.WindowSpecs {
		c.window(&n.WindowSpecs[k])
	}
	for _, row := range n.Lists {
		c.expr(row)
	}
	return s
}

func (c *converter) field(f *ast.SelectField) Field {
	if f.WildCard != nil {
		c.qualifier(f.WildCard)
		return Field{}
	}
	return Field{Expr: c.expr(f.Expr), Alias: c.name(f.AsName)}
}

func (c *converter) from(n ast.ResultSetNode) *From {
	switch n := n.(type) {
	case *ast.Join:
		if n.Right == nil {
			return c.from(n.Left)
		}
		j := &Join{Left: c.from(n.Left), Right: c.from(n.Right), Natural: n.NaturalJoin}
		switch n.Tp {
		case ast.LeftJoin:
			j.Kind = Left
		case ast.RightJoin:
			j.Kind = Right
		}
		if n.On != nil {
			j.On = c.expr(n.On.Expr)
		}
		c.st.stars = c.st.stars || n.NaturalJoin
		for _, u := range n.Using {
			c.st.columns[strings.ToLower(c.name(u.Name))]++
			j.Using = append(j.Using, c.name(u.Name))
		}
		return &From{Join: j}
	case *ast.TableSource:
		alias := c.name(n.AsName)
		switch src := n.Source.(type) {
		case *ast.TableName:
			return &From{Table: c.table(src, alias)}
		case *ast.Join:
			return c.from(src)
		default:
			return &From{Derived: c.query(src), Alias: alias, Lateral: n.Lateral}
		}
	case *ast.TableName:
		return &From{Table: c.table(n, "")}
	}
	return &From{Derived: c.query(n)}
}

func (c *converter) order(o *ast.OrderByClause) (items []OrderItem) {
	if o == nil {
		return nil
	}
	for _, item := range o.Items {
		items = append(items, OrderItem{Expr: c.expr(item.Expr), Desc: item.Desc})
	}
	return items
}

func (c *converter) limit(l *ast.Limit) *Limit {
	if l == nil {
		return nil
	}
	return &Limit{Count: c.expr(l.Count), Offset: c.expr(l.Offset)}
}

func (c *converter) insert(n *ast.InsertStmt) error {
	in := &Insert{Ignore: n.IgnoreErr, Replace: n.IsReplace, SetForm: n.Setlist}
	from := c.from(n.Table.TableRefs)
	if from.Table == nil {
		return fmt.Errorf("INSERT into something that is not a table")
	}
	in.Table = from.Table
	for _, col := range n.Columns {
		c.qualifier(col)
		in.Columns = append(in.Columns, c.name(col.Name))
	}
	for _, list := range n.Lists {
		row := make([]*Expr, len(list))
		for k, e := range list {
			row[k] = c.expr(e)
		}
		in.Rows = append(in.Rows, row)
	}
	in.OnUpdate = c.assignments(n.OnDuplicate)
	if n.Select != nil {
		c.st.Query = c.query(n.Select)
	}
	c.st.Insert = in
	return nil
}

func (c *converter) assignments(list []*ast.Assignment) (out []Assignment) {
	for _, a := range list {
		c.qualifier(a.Column)
		out = append(out, Assignment{Table: c.name(a.Column.Table), Column: c.name(a.Column.Name), Expr: c.expr(a.Expr)})
	}
	return out
}

func (c *converter) update(n *ast.UpdateStmt) {
	ch := &Change{Query: &Query{}, Ignore: n.IgnoreErr}
	c.with(ch.Query, n.With)
	ch.From = c.from(n.TableRefs.TableRefs)
	ch.Multi = ch.From.Table == nil
	ch.Query.Select = &Select{From: ch.From}
	ch.Set = c.assignments(n.List)
	ch.Where = c.expr(n.Where)
	ch.Query.Select.Where = ch.Where
	ch.Order, ch.Limit = c.order(n.Order), c.limit(n.Limit)
	c.st.Change = ch
}

func (c *converter) delete(n *ast.DeleteStmt) {
	ch := &Change{Query: &Query{}, Multi: n.IsMultiTable}
	c.with(ch.Query, n.With)
	ch.From = c.from(n.TableRefs.TableRefs)
	ch.Query.Select = &Select{From: ch.From}
	if n.IsMultiTable && n.Tables != nil {
		for _, t := range n.Tables.Tables {
			// A target is a label of FROM, not a table of its own.
			target := &Table{DB: c.name(t.Schema), Name: c.name(t.Name)}
			c.qualified(t.Name, t.Schema)
			ch.Targets = append(ch.Targets, target)
		}
	}
	ch.Where = c.expr(n.Where)
	ch.Query.Select.Where = ch.Where
	ch.Order, ch.Limit = c.order(n.Order), c.limit(n.Limit)
	c.st.Change = ch
}
