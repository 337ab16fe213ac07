package backend

import (
	"fmt"
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/value"
)

// ownRowsMax bounds the rows of the proxy's own queries.
const ownRowsMax = 100_000

// Rows runs a query of the proxy's own that answers with so many columns, or fails, and gives each row as strings, NULL as
// "NULL". The slice is used again for the next row. Status is the server's afterwards: after a failed statement, whose
// ERR packet has no flags, this tells whether it left a transaction open.
func (c *Conn) Rows(sql string, columns int, row func([]string)) error {
	c.Command(mysql.ComQuery, sql)
	if err := c.Flush(); err != nil {
		return err
	}
	r := response{c: c}
	return r.result(columns, row)
}

// Call runs a procedure of the proxy's own whose one result has so many columns, and drops its rows, however many there are.
func (c *Conn) Call(sql string, columns int) error {
	c.Command(mysql.ComQuery, sql)
	if err := c.Flush(); err != nil {
		return err
	}
	return c.ReadCall(columns, nil)
}

// ReadCall reads the answer to a call that was sent; see [Conn.Call]. row, which may be nil, is given its rows as by [Conn.Rows]. Behind the result there is
// the end of the call.
func (c *Conn) ReadCall(columns int, row func([]string)) error {
	r := response{c: c}
	if err := r.result(columns, row); err != nil {
		return err
	}
	_, part, err := r.next()
	if err == nil && part != mysql.PartOK {
		err = broken(fmt.Errorf("%w: behind the result of a call", mysql.ErrMalformedPacket))
	}
	return err
}

// result reads a result of so many columns.
func (r *response) result(columns int, row func([]string)) error {
	if err := r.columns(); err != nil {
		return err
	}
	if r.scanner.Columns != columns {
		return broken(fmt.Errorf("%w: %d columns", mysql.ErrMalformedPacket, r.scanner.Columns))
	}
	if err := r.skipDefinitions(); err != nil {
		return err
	}
	if row == nil {
		return r.rows(func([]byte) error { return nil })
	}
	return r.texts(columns, row)
}

// texts reads rows as strings; see [Conn.Rows].
func (r *response) texts(columns int, row func([]string)) error {
	values := make([]string, columns)
	n := 0
	return r.rows(func(p []byte) error {
		if n++; n > ownRowsMax {
			return fmt.Errorf("more than %d rows", ownRowsMax)
		}
		cur := mysql.NewCursor(p)
		for k := range values {
			if cur.Pos() < len(p) && p[cur.Pos()] == 0xfb {
				cur.Uint8()
				values[k] = "NULL"
				continue
			}
			values[k] = string(cur.LenencBytes())
		}
		if cur.Err() != nil {
			return broken(cur.Err())
		}
		row(values)
		return nil
	})
}

// Columns runs a query of the proxy's own that gives no rows and returns the definitions of its columns.
func (c *Conn) Columns(sql string) ([]mysql.ColumnDefinition41, error) {
	c.Command(mysql.ComQuery, sql)
	if err := c.Flush(); err != nil {
		return nil, err
	}
	return c.ReadColumns()
}

// ReadColumns reads a result set that must have no rows and returns the definitions of its columns.
func (c *Conn) ReadColumns() ([]mysql.ColumnDefinition41, error) {
	r := response{c: c}
	definitions, err := r.open()
	if err != nil {
		return nil, err
	}
	return definitions, r.texts(len(definitions), func([]string) {})
}

// ReadChange reads the answer to a statement that returns no rows.
func (c *Conn) ReadChange() (mysql.OKPacket, error) {
	if err := c.ReadAhead(); err != nil {
		return mysql.OKPacket{}, err
	}
	r := response{c: c}
	_, part, err := r.next()
	if err == nil && part != mysql.PartOK {
		err = broken(mysql.ErrMalformedPacket)
	}
	ok := r.end
	ok.StateChanges, ok.Info = nil, slices.Clone(ok.Info)
	return ok, err
}

// ReadReturned reads the answer to a change that returns rows, of either protocol: row is given each as it came, valid during the call only. Without
// definitions it is that of a change that returns none, as a DELETE is whose condition never holds. MariaDB Knowledge Base: "INSERT...RETURNING".
func (c *Conn) ReadReturned(row func(p []byte)) (definitions []mysql.ColumnDefinition41, end mysql.OKPacket, err error) {
	if err := c.ReadAhead(); err != nil {
		return nil, end, err
	}
	r := response{c: c}
	_, part, err := r.next()
	switch {
	case err != nil:
		return nil, end, err
	case part == mysql.PartOK:
		end = r.end
		end.StateChanges, end.Info = nil, slices.Clone(end.Info)
		return nil, end, nil
	case part != mysql.PartColumns:
		return nil, end, broken(mysql.ErrMalformedPacket)
	}
	if definitions, err = r.definitions(); err != nil {
		return nil, end, err
	}
	err = r.rows(func(p []byte) error { row(p); return nil })
	end = r.end
	end.StateChanges, end.Info = nil, nil
	return definitions, end, err
}

// RawRows runs a query of the proxy's own and gives each row's cells as they came, with the columns' definitions. Both are
// valid during the call only.
func (c *Conn) RawRows(sql string, row func([]mysql.ColumnDefinition41, []value.Cell)) error {
	return c.RawRowsWith(nil, sql, row)
}

// RawRowsWith runs a query that reads a client's query attributes, as they are encoded in COM_QUERY.
func (c *Conn) RawRowsWith(attributes []byte, sql string, row func([]mysql.ColumnDefinition41, []value.Cell)) error {
	c.Query(attributes, sql)
	if err := c.Flush(); err != nil {
		return err
	}
	return c.ReadRawRows(row)
}

// ReadRawRows reads the answer to a query of the proxy's own, and gives its rows as RawRows does.
func (c *Conn) ReadRawRows(row func([]mysql.ColumnDefinition41, []value.Cell)) error {
	answer := response{c: c}
	definitions, err := answer.open()
	if err != nil {
		return err
	}
	layout := value.Layout{Format: value.TextRow, Visible: len(definitions), Types: make([]value.Type, len(definitions))}
	for k := range definitions {
		layout.Types[k] = value.TypeOf(&definitions[k])
	}
	r := value.Row{Cells: make([]value.Cell, len(definitions))}
	return answer.rows(func(p []byte) error {
		r.Raw = p
		if err := layout.Split(&r); err != nil {
			return broken(err)
		}
		row(definitions, r.Cells)
		return nil
	})
}

// Table runs a query of the proxy's own: columns is called once, row for each row, with which of its cells are NULL.
func (c *Conn) Table(sql string, columns func([]mysql.ColumnDefinition41), row func(cells []string, null []bool)) error {
	known := false
	err := c.RawRows(sql, func(definitions []mysql.ColumnDefinition41, cells []value.Cell) {
		if !known {
			columns(definitions)
			known = true
		}
		texts, null := make([]string, len(cells)), make([]bool, len(cells))
		for k, cell := range cells {
			texts[k], null[k] = string(cell), cell == nil
		}
		row(texts, null)
	})
	return err
}
