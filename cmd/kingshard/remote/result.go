package remote

import (
	"context"
	"database/sql"
	"slices"
)

// result is the rows that a statement gave; no columns: it gave none.
type result struct {
	columns []string
	numeric []bool
	yesNo   []bool
	rows    [][]sql.NullString
}

// query runs one statement by the text protocol.
func query(ctx context.Context, db *sql.DB, statement string) (*result, error) {
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	r := new(result)
	if r.columns, err = rows.Columns(); err != nil {
		return nil, err
	}
	kinds, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		r.numeric = append(r.numeric, slices.Contains(numericTypes, k.DatabaseTypeName()))
		r.yesNo = append(r.yesNo, k.DatabaseTypeName() == "ENUM")
	}
	for rows.Next() {
		row := make([]sql.NullString, len(r.columns))
		cells := make([]any, len(row))
		for k := range row {
			cells[k] = &row[k]
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, err
		}
		r.rows = append(r.rows, row)
	}
	return r, rows.Err()
}

// numericTypes are types as the driver names them.
var numericTypes = []string{
	"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "UNSIGNED TINYINT", "UNSIGNED SMALLINT", "UNSIGNED MEDIUMINT", "UNSIGNED INT",
	"UNSIGNED BIGINT", "DECIMAL", "FLOAT", "DOUBLE",
}

// maps gives each row by the names of its columns; NULL is missing.
func (r *result) maps() []map[string]string {
	all := make([]map[string]string, len(r.rows))
	for n, row := range r.rows {
		all[n] = make(map[string]string, len(row))
		for k, cell := range row {
			if cell.Valid {
				all[n][r.columns[k]] = cell.String
			}
		}
	}
	return all
}
