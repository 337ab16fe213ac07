package session

import (
	"fmt"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// A statement that collects far more than it may is refused before anything is collected, where that is known without a cost to others: where servers were asked for
// estimates anyway, to order the tables, and of tables of which a statement has collected much before.

const (
	// estimateDoubt is how much too high estimates are taken to be: servers guess rows from samples, and the first rows of a table need not be like its others.
	estimateDoubt = 4
	// estimateRow is how long rows have to be, in bytes, for a table to be looked at.
	estimateRow = 4 << 10
	// estimateSample is how many rows of each node are looked at.
	estimateSample = 100
)

// fits refuses a statement of which one table alone is far more than it may collect.
func (r *reducing) fits() error {
	if !r.f.plan.ReadOnly { // what is looked at would be locked
		return nil
	}
	if r.ordered {
		if _, err := r.fewest(); err != nil {
			return err
		}
	}
	for _, s := range r.left {
		if s.Conditions > 0 || s.Distinct || s.Like != nil || r.reducible(s) || s != r.first && len(s.Reductions) > 0 {
			continue
		}
		if _, noted := r.f.s.client.schema.Plans.large.Load(s.Ref.Table); !r.ordered && !noted {
			continue
		}
		if err := r.fit(s); err != nil {
			return err
		}
	}
	return nil
}

// fit refuses a statement where a table is far more than it may collect.
func (r *reducing) fit(s *plan.Scratch) error {
	rows, err := r.estimate(s)
	if err != nil {
		return err
	}
	l := &r.f.limits
	if rows*estimateRow < float64(l.maxBytes) && (l.maxRows == 0 || rows < float64(l.maxRows)) {
		r.f.s.client.schema.Plans.large.Delete(s.Ref.Table)
		return nil
	}
	rows, bytes := 0.0, 0.0
	for k := range s.Queries {
		n, known, err := r.explained(s, &s.Queries[k])
		if err != nil {
			return err
		}
		if !known {
			return nil
		}
		if rows += n; s.Queries[k].Node != r.f.last.Node {
			length, err := r.lengthOf(s, &s.Queries[k])
			if err != nil {
				return err
			}
			bytes += n * length
		}
	}
	switch why := r.f.reason(); {
	case bytes > estimateDoubt*float64(l.maxBytes):
		return newError(KSFinishLimit, fmt.Sprintf("the statement would collect some %.0f rows of %s on one server, about %v from others, by the servers' estimates (ANALYZE TABLE renews them), and may collect %v (finish_max_bytes): %s",
			rows, s.Ref.Parsed.Name, config.ByteSize(bytes)>>20<<20, l.maxBytes, why))
	case l.maxRows > 0 && rows > estimateDoubt*float64(l.maxRows):
		return newError(KSFinishLimit, fmt.Sprintf("the statement would collect some %.0f rows of %s on one server by the servers' estimates (ANALYZE TABLE renews them), and may collect %d (finish_max_rows): %s",
			rows, s.Ref.Parsed.Name, l.maxRows, why))
	}
	return nil
}

// lengthOf returns how long the first rows of a query are in the mean, in bytes as they are sent to the server that finishes.
func (r *reducing) lengthOf(s *plan.Scratch, query *plan.Query) (float64, error) {
	from, moved := txn.Find(r.f.loans, query.Node), *query
	if moved.Moved != "" {
		moved.Text = moved.Moved
	}
	text, err := r.f.literals(&moved)
	if err != nil {
		return 0, err
	}
	collations := r.f.s.client.schema.Nodes[from.Node].Info()
	rows, bytes := 0, 0
	var row []byte
	err = from.Conn.RawRowsWith(r.f.s.client.task().query.attributes, fmt.Sprint(text, " LIMIT ", estimateSample), func(definitions []mysql.ColumnDefinition41, cells []value.Cell) {
		row = appendRow(row[:0], definitions, cells, collations)
		rows, bytes = rows+1, bytes+len(row)
	})
	return float64(bytes) / float64(max(rows, 1)), err
}

// noteLarge notes a table of which a statement has collected so many bytes that the next one is to be asked about ahead.
func (f *finishing) noteLarge(s *plan.Scratch, bytes int) {
	if s.Ref.Table.Kind == router.Sharded && s.Conditions == 0 && !s.Distinct && s.Like == nil && bytes > int(f.limits.maxBytes)/estimateDoubt {
		f.s.client.schema.Plans.large.Store(s.Ref.Table, true)
	}
}
