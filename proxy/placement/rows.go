package placement

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/plan"
	"kingshard/router/rule"
)

// Scanned is what lies in a sub-table.
type Scanned struct {
	router.Shard
	Rows uint64
	// Elsewhere counts the rows that the rule looks for in another sub-table, and those whose key it places nowhere.
	Elsewhere uint64
	// Keys are those of the first few of them, as text, each with the sub-table that its row belongs to.
	Keys []Misplaced
	Err  error // why it could not be read to its end
}

// Misplaced is a row that is not where it is looked for.
type Misplaced struct {
	Key string
	To  string // node/db.table, or why it has none
}

// keysMax is how many keys are kept of a sub-table, in keys and in bytes of each.
const (
	keysMax     = 5
	keyBytesMax = 100
)

// burst is how many rows are read without a pause; the pause is as long as reading them took, so that a server has half of
// its time for others.
const burst = 10_000

// silenceMax is how long a server may send nothing while a sub-table is read.
const silenceMax = time.Minute

// Rows reads the keys of all rows of a sharded table, from primaries, one sub-table after the other, and finds those that lie
// where the rule does not look for them. It holds a few keys at a time, and ends early when ctx does.
func Rows(ctx context.Context, t *router.Table, nodes map[string]*backend.Node, each func(Scanned)) error {
	if t.Kind != router.Sharded {
		return errors.New("the table is whole on its nodes: it has no rows in a wrong place")
	}
	for position, s := range t.Shards {
		found := Scanned{Shard: s}
		a, err := ask(ctx, nodes[s.Node])
		if err == nil {
			err = a.scan(ctx, t, position, &found)
			a.close()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		found.Err = err
		each(found)
	}
	return nil
}

// scan reads one sub-table.
func (a *asking) scan(ctx context.Context, t *router.Table, position int, found *Scanned) error {
	columns, err := a.keyColumns(t, found.Shard)
	if err != nil {
		return err
	}
	key := make([]value.Value, len(t.Keys))
	sql := "SELECT " + keyNames(t) + " FROM " + quoted(found.Shard)
	began := time.Now()
	return a.RawRows(sql, func(_ []mysql.ColumnDefinition41, cells []value.Cell) {
		if found.Rows++; found.Rows%burst == 0 {
			pause := time.NewTimer(time.Since(began))
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
			}
			began = time.Now()
		}
		if found.Rows%1000 == 1 {
			deadline := time.Now().Add(silenceMax)
			if ctx.Err() != nil {
				deadline = time.Unix(1, 0)
			}
			_ = a.Net.SetDeadline(deadline)
		}
		for k, cell := range cells {
			key[k] = storedKey(cell, columns[k].Class)
		}
		at, err := t.Place(key, columns)
		if err == nil && at == position {
			return
		}
		found.Elsewhere++
		if len(found.Keys) < keysMax {
			found.Keys = append(found.Keys, misplaced(t, cells, at, err))
		}
	})
}

// keyNames are the key columns as SQL has them.
func keyNames(t *router.Table) string {
	names := make([]string, len(t.Keys))
	for k, key := range t.Keys {
		names[k] = quote(key)
	}
	return strings.Join(names, ", ")
}

// keyColumns tells of the types of the key columns of a sub-table, and has texts come in UTF-8 from then on.
func (a *asking) keyColumns(t *router.Table, s router.Shard) ([]rule.Column, error) {
	// Results in the columns' own character sets tell the columns' own collations.
	if err := a.exec("SET character_set_results = NULL"); err != nil {
		return nil, err
	}
	definitions, err := a.Columns("SELECT " + keyNames(t) + " FROM " + quoted(s) + " LIMIT 0")
	if err != nil {
		return nil, err
	}
	columns := make([]rule.Column, len(t.Keys))
	for k, name := range t.Keys {
		columns[k] = plan.KeyColumn(definitions, name, sqltext.Mode{})
		columns[k].Zone = time.UTC
	}
	return columns, a.exec("SET NAMES utf8mb4")
}

func misplaced(t *router.Table, cells []value.Cell, at int, err error) Misplaced {
	var texts []string
	for _, cell := range cells {
		text := "NULL"
		if cell != nil {
			text = strconv.Quote(string(cell[:min(len(cell), keyBytesMax)]))
		}
		texts = append(texts, text)
	}
	m := Misplaced{Key: strings.Join(texts, ", ")}
	switch {
	case errors.Is(err, rule.ErrNoShard):
		m.To = "no sub-table"
	case err != nil:
		m.To = "no certain sub-table"
	default:
		m.To = t.Shards[at].String()
	}
	return m
}

// storedKey is a cell of a key column as a statement would have it.
func storedKey(cell value.Cell, c rule.Class) value.Value {
	if cell == nil {
		return value.Value{}
	}
	text := string(cell)
	switch c {
	case rule.Integer, rule.Unsigned, rule.Year:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value.NewInt(n)
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return value.NewUint(n)
		}
	case rule.Decimal:
		return value.NewDecimal(text)
	case rule.Bytes:
		return value.NewBytes(text)
	}
	return value.NewString(text)
}
