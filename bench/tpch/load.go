package tpch

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// batchBytes is about how long one INSERT is.
const batchBytes = 512 << 10

// Load makes the tables in the connections' database, fills them with so many times the rows of scale 1, which are the same for the same seed, and has the server look at them.
func Load(ctx context.Context, db *sql.DB, scale float64, seed uint64) error {
	for _, t := range tables {
		if _, err := db.ExecContext(ctx, "CREATE TABLE "+t.name+" ("+t.definition+")"); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	batches := map[string]*strings.Builder{}
	flush := func(table string) error {
		b := batches[table]
		if b == nil || b.Len() == 0 {
			return nil
		}
		_, err := db.ExecContext(ctx, "INSERT INTO "+table+" VALUES "+b.String())
		b.Reset()
		return err
	}
	err := newGenerator(scale, seed).rows(func(table, row string) error {
		b := batches[table]
		if b == nil {
			b = new(strings.Builder)
			batches[table] = b
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(row)
		if b.Len() < batchBytes {
			return nil
		}
		return flush(table)
	})
	for _, t := range tables {
		if err == nil {
			err = flush(t.name)
		}
		if err == nil {
			_, err = db.ExecContext(ctx, "ANALYZE TABLE "+t.name)
		}
	}
	return err
}
