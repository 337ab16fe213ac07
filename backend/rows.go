package backend

import (
	"fmt"

	"kingshard/mysql"
)

// ownRowsMax bounds the rows of the proxy's own queries.
const ownRowsMax = 100_000

// Rows runs a query of the proxy's own and gives each row as strings, NULL as "NULL". The slice is used again for the
// next row. Status is the server's afterwards: after a failed statement, whose ERR packet has no flags, this tells
// whether it left a transaction open.
func (c *Conn) Rows(sql string, row func([]string)) error {
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
	columns := int(cur.Lenenc())
	if cur.Err() != nil || columns == 0 || columns > 1000 {
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
	for range ownRowsMax {
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
	}
	return fmt.Errorf("more than %d rows", ownRowsMax)
}
