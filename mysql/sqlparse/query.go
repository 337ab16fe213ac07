package sqlparse

// Span is a piece of the text, from byte Pos up to byte End.
type Span struct{ Pos, End int }

// Empty tells whether there is nothing in the span.
func (s Span) Empty() bool { return s.Pos >= s.End }

// Kind is what a statement is.
type Kind uint8

// The kinds.
const (
	Other Kind = iota // read, but of no kind below
	SelectKind
	InsertKind // INSERT and REPLACE
	UpdateKind
	DeleteKind
	TruncateKind
	DDL // CREATE, ALTER, DROP, RENAME of tables and indexes
	Explain
	Describe // DESC t, SHOW COLUMNS, SHOW CREATE TABLE, SHOW INDEX
	Maintain // ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR TABLE
	Lock     // LOCK TABLES
	LoadData
)

// Statement is one statement, read.
type Statement struct {
	Text string
	Kind Kind
	// Tables are all references to tables in FROM clauses and as targets, in the order of the tree's walk.
	Tables []*Table
	// Query is that of a SELECT, TABLE, VALUES or set operation, and of INSERT ... SELECT; nil without one.
	Query *Query
	// Insert, Change, Load are those of the kinds that have one.
	Insert     *Insert
	Change     *Change
	Load       *Load
	Definition *Definition // of DDL
	Show       *Show       // of Describe, if it is one of the forms that are known
	// Returning: the change gives the rows that it changed, as MariaDB has it.
	Returning bool
	// Matches is how often MATCH ... AGAINST is in it.
	Matches int
	// Form says that the ? stand for the literals of many texts, not for parameters.
	Form bool
	// CTENames are the names of common table expressions anywhere in it, in lower case.
	CTENames map[string]bool
	// Params are the positions of the ? in the text, in order.
	Params []int
	// Reaches is what a change asks for anywhere in its text.
	Reaches Reaches

	columns map[string]int
	stars   bool
}

// Table is a reference to a table, as written.
type Table struct {
	DB, Name string // unquoted; DB is "" when not given
	Alias    string // "" without one
	// Clause names what stands behind the name and means the table's own partitions or indexes; "" without such.
	Clause string
	// At spans [db.]name in the text; empty when the name was not watched.
	At Span
	// Qualifiers are the other places that name this table's columns by the table's own name: [db.]name ahead of a
	// column or a star. They cannot always be told apart by table where two references have one name.
	Qualifiers []Span
}

// Label is the name that columns of the reference are qualified with.
func (t *Table) Label() string {
	if t.Alias != "" {
		return t.Alias
	}
	return t.Name
}

// Query is a query expression: one SELECT, or several parts joined by set operations.
type Query struct {
	Select *Select
	// Parts are those of a set operation; then Select is nil.
	Parts []*Query
	With  []*Query
	// Names are those of the common table expressions of With.
	Names []string
	Order []OrderItem
	Limit *Limit
}

// Select is one query block.
type Select struct {
	Distinct, CalcFoundRows, Rollup bool
	// Locking is FOR UPDATE, FOR SHARE or LOCK IN SHARE MODE.
	Locking bool
	Into    bool
	Fields  []Field
	From    *From // nil without FROM
	Where   *Expr
	Group   []*Expr
	Having  *Expr
	Windows bool // a WINDOW clause
}

// Field is an item of the select list.
type Field struct {
	Expr  *Expr // nil for a star
	Alias string
}

// From is a tree of tables.
type From struct {
	// One of the three is set.
	Table   *Table
	Derived *Query
	Join    *Join

	Alias   string // of a derived table
	Lateral bool
}

// JoinKind says which side's rows are kept without a match.
type JoinKind uint8

// The kinds of joins.
const (
	Inner JoinKind = iota
	Left
	Right
)

// Join joins two trees.
type Join struct {
	Kind        JoinKind
	Left, Right *From
	On          *Expr
	Using       []string
	Natural     bool
}

// OrderItem is an item of ORDER BY.
type OrderItem struct {
	Expr *Expr
	Desc bool
}

// Limit is a LIMIT clause. The operands are constants or parameters.
type Limit struct{ Count, Offset *Expr }

// Insert is what INSERT and REPLACE have.
type Insert struct {
	Table    *Table
	Ignore   bool
	Replace  bool // REPLACE
	SetForm  bool
	Columns  []string // nil without a list
	Rows     [][]*Expr
	OnUpdate []Assignment
}

// Assignment is col = expr of UPDATE and ON DUPLICATE KEY UPDATE.
type Assignment struct {
	Table, Column string
	Expr          *Expr
}

// Change is what UPDATE and DELETE have.
type Change struct {
	From  *From
	Set   []Assignment // of UPDATE
	Where *Expr
	Order []OrderItem
	Limit *Limit
	// Targets are the labels of a multi-table DELETE; nil for the single-table form.
	Targets []*Table
	Multi   bool
	Ignore  bool   // of UPDATE
	Query   *Query // stands for the scope of its expressions
}

// Columns returns how often the statement names each column, by the names in lower case; every says that it may use others too,
// by a star or a NATURAL JOIN.
func (st *Statement) Columns() (mentions map[string]int, every bool) { return st.columns, st.stars }
