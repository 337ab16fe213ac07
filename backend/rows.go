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
	p, err := c.ReadPacket()
	if err != nil {
		return err
	}
	if len(p) > 0 && p[0] == mysql.ErrHeader {
		return decodeError(p)
	}
	cur := mysql.NewCursor(p)
	if n := cur.Lenenc(); cur.Err() != nil || n != uint64(columns) {
		return &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: mysql.ErrMalformedPacket}
	}
	skip := columns
	if !c.Capabilities.Has(mysql.ClientDeprecateEOF) {
		skip++
	}
	for range skip {
		if _, err := c.ReadPacket(); err != nil {
			return err
		}
	}
	return c.readRows(columns, row)
}

func (c *Conn) readRows(columns int, row func([]string)) error {
	values := make([]string, columns)
	n := 0
	return c.rowPackets(func(p []byte) error {
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
			return &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: cur.Err()}
		}
		row(values)
		return nil
	})
}

// rowPackets reads the rows of a result and what ends them. An error of row ends the reading, in the middle of them.
func (c *Conn) rowPackets(row func(p []byte) error) error {
	for {
		p, err := c.ReadPacket()
		if err != nil {
			return err
		}
		if len(p) > 0 && p[0] == mysql.ErrHeader {
			return decodeError(p)
		}
		if len(p) > 0 && p[0] == mysql.EOFHeader && len(p) < 1<<24-1 {
			return c.readStatus(p)
		}
		if err := row(p); err != nil {
			return err
		}
	}
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
	definitions, err := c.readDefinitions()
	if err != nil {
		return nil, err
	}
	return definitions, c.readRows(len(definitions), func([]string) {})
}

// readDefinitions reads a result set up to its rows.
func (c *Conn) readDefinitions() ([]mysql.ColumnDefinition41, error) {
	p, err := c.ReadPacket()
	if err != nil {
		return nil, err
	}
	return c.definitions(p)
}

// definitions reads the definitions behind p, the first packet of an answer.
func (c *Conn) definitions(p []byte) ([]mysql.ColumnDefinition41, error) {
	if len(p) > 0 && p[0] == mysql.ErrHeader {
		return nil, decodeError(p)
	}
	cur := mysql.NewCursor(p)
	n := cur.Lenenc()
	if cur.Err() != nil || n == 0 || n > 1<<16 {
		return nil, &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: mysql.ErrMalformedPacket}
	}
	return c.columnDefinitions(int(n))
}

// ReadChange reads the answer to a statement that returns no rows.
func (c *Conn) ReadChange() (mysql.OKPacket, error) {
	var ok mysql.OKPacket
	if err := c.ReadAhead(); err != nil {
		return ok, err
	}
	p, err := c.ReadPacket()
	if err != nil {
		return ok, err
	}
	if len(p) > 0 && p[0] == mysql.ErrHeader {
		return ok, decodeError(p)
	}
	if len(p) == 0 || p[0] != mysql.OKHeader {
		return ok, &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: mysql.ErrMalformedPacket}
	}
	if err := ok.Decode(p, c.Capabilities); err != nil {
		return ok, &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: err}
	}
	c.Status = ok.Status
	c.insertID.told(ok.LastInsertID)
	ok.StateChanges, ok.Info = nil, slices.Clone(ok.Info)
	return ok, nil
}

// RawRows runs a query of the proxy's own and gives each row's cells as they came, with the columns' definitions. Both are
// valid during the call only.
func (c *Conn) RawRows(sql string, row func([]mysql.ColumnDefinition41, []value.Cell)) error {
	return c.RawRowsWith(nil, sql, row)
}

// RawRowsWith is RawRows of a query that reads a client's query attributes, as they are encoded in COM_QUERY.
func (c *Conn) RawRowsWith(attributes []byte, sql string, row func([]mysql.ColumnDefinition41, []value.Cell)) error {
	c.Query(attributes, sql)
	if err := c.Flush(); err != nil {
		return err
	}
	definitions, err := c.readDefinitions()
	if err != nil {
		return err
	}
	layout := value.Layout{Format: value.TextRow, Visible: len(definitions), Types: make([]value.Type, len(definitions))}
	for k := range definitions {
		layout.Types[k] = value.TypeOf(&definitions[k])
	}
	r := value.Row{Cells: make([]value.Cell, len(definitions))}
	return c.rowPackets(func(p []byte) error {
		r.Raw = p
		if err := layout.Split(&r); err != nil {
			return &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: err}
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
