package admin

import (
	"context"

	"kingshard/proxy/admin/change"
	"kingshard/proxy/admin/rest"
)

func v2CheckTables(c *request) (any, error) { return v2Check(c, checkTableColumns, c.a.checkTables) }

func v2CheckPlacement(c *request) (any, error) {
	return v2Check(c, checkPlacementColumns, c.a.checkPlacement)
}

// v2Check runs a check of a table until it ends or its client goes away.
func v2Check(c *request, columns []column, check func(ctx context.Context, w change.Who, name string) ([][]any, error)) (any, error) {
	var body struct {
		Table string `json:"table"`
	}
	if err := rest.Decode(c.http, &body, true); err != nil {
		return nil, err
	}
	rows, err := check(c.http.Context(), c.who, body.Table)
	if err != nil {
		return nil, err
	}
	return rowsAnswer{columns, rows}, nil
}
