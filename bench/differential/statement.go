package differential

// statement is one statement with what is known about its answer.
type statement struct {
	root     *part
	prepared bool // by the binary protocol

	// order is ORDER BY, total what in it makes ties impossible, limit is LIMIT; nil where there is none.
	order, total, limit *part
	// keys are names of columns by which the rows are sorted first, and whose values that are equal look equal.
	keys []string

	folds    bool // a row stands for a group of texts that are equal but may look different
	inexact  bool // numbers of type DOUBLE depend on the order in which rows were added up
	converts bool // texts are converted to numbers, with as many warnings as rows were looked at
	// writes are the tables that change.
	writes []string
	// control says that the statement begins or ends a transaction and stays when a scenario is shrunk.
	control bool
	// upserts says that rows may stay as they are under ON DUPLICATE KEY UPDATE. A server says that of one row by itself in
	// no way with CLIENT_FOUND_ROWS, which the sessions have: the number of duplicates in the text is not compared.
	upserts bool
	// own says that the proxy answers by itself: of columns only names are compared.
	own bool
	// follows says that the answer depends on the statement before, which stays, too.
	follows bool
	// exact says that the answer is the same under every plan.
	exact bool
	// inner is the statement that this one runs, nil for a plain one. Other plans are asked of it.
	inner *statement
	// written is the statement without references to a common table expression behind the first, its query in their place; nil where there are none.
	written *part
	// draws says that some rows leave their ids to the table, gaps that a server is free to use up more ids than it has rows, or fewer: what is drawn
	// next is open. brought are ids that other rows of the statement give. begins says that it says which id is next. moves is an id
	// that a row gets which had another: whether it comes again is open once it is not there any more.
	draws, gaps, begins bool
	moves               uint64
	brought             []string
	// bulk says that the rows are those of a query, of which some may leave their ids to the table: how many more a server uses up than these is open.
	bulk bool
	// brings says that the rows of a query bring ids: the answer tells that of the one which comes last.
	brings bool
	// next says that it asks for the id that comes next.
	next bool
	// client is which of several sessions runs it, and ends says that it runs even behind one that was refused there.
	client int
	ends   bool
}

// bag is how the names of columns begin whose values are lists in no order, as of GROUP_CONCAT.
const bag = "bag"

// sequence is how those begin whose values are lists in order.
const sequence = "list"

// ordered tells whether every row has its place.
func (s *statement) ordered() bool { return s.order.present() && s.total.present() }

// cut tells whether which rows come is open: LIMIT without a complete order.
func (s *statement) cut() bool { return s.limit.present() && !s.ordered() }

// scenario is statements that belong together.
type scenario []*statement

// writes tells whether any statement changes tables.
func (s scenario) writes() bool {
	for _, st := range s {
		if len(st.writes) > 0 {
			return true
		}
	}
	return false
}

// tables are those that the scenario changes.
func (s scenario) tables() []string {
	var list []string
	for _, st := range s {
		list = append(list, st.writes...)
	}
	return list
}
