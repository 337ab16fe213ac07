package mysqltest

import (
	"errors"
	"fmt"

	"kingshard/mysql"
)

// RawResult is one result as a client sees it. Exactly one of OK, Err and LocalInfile is set, or the result has columns.
type RawResult struct {
	OK       *mysql.OKPacket // of a result without columns; its slices are the result's own
	Err      *mysql.SQLError // rows may be there as well
	Columns  []mysql.ColumnDefinition41
	Rows     [][]any // each value a string, or nil for NULL; binary values in the form of the text protocol
	Status   mysql.Status
	Warnings uint16
	// LocalInfile is the name of the file that the server asks for; SendFile goes on.
	LocalInfile string
	// Next is the next result of the same command, nil behind the last.
	Next *RawResult
	// End is the packet that ended the rows, as an OK packet.
	End mysql.OKPacket
}

// Names gives the names of the columns.
func (r *RawResult) Names() []string {
	var names []string
	for i := range r.Columns {
		names = append(names, r.Columns[i].Name)
	}
	return names
}

// Query runs COM_QUERY and decodes all its results; the first is returned, the others follow by Next. The error is one
// of the connection only: the server's is in Err.
func (c *RawClient) Query(sql string) (*RawResult, error) {
	if c.Conn.Capabilities.Has(mysql.ClientQueryAttributes) {
		sql = "\x00\x01" + sql // no attributes
	}
	packets, err := c.Command(mysql.ComQuery, sql)
	if err != nil {
		return nil, err
	}
	return c.Decode(packets, false)
}

// Exec runs a statement that must succeed: an Err of the last result is returned as the error.
func (c *RawClient) Exec(sql string) (*RawResult, error) {
	r, err := c.Query(sql)
	for last := r; err == nil && last != nil; last = last.Next {
		if last.Err != nil {
			err = last.Err
		}
	}
	return r, err
}

// SendFile answers a request for a local file and reads the rest of the response.
func (c *RawClient) SendFile(content []byte) (*RawResult, error) {
	c.arm()
	for len(content) > 0 {
		n := min(len(content), 1<<20)
		c.Conn.WritePacket(content[:n])
		content = content[n:]
	}
	c.Conn.WritePacket(nil)
	if err := c.Conn.Flush(); err != nil {
		return nil, err
	}
	packets, err := c.readResults(nil)
	if err != nil {
		return nil, err
	}
	return c.Decode(packets, false)
}

// Decode turns the packets of a response, as Command gives them, into results. binary says that rows are those of
// COM_STMT_EXECUTE.
func (c *RawClient) Decode(packets [][]byte, binary bool) (*RawResult, error) {
	first := new(RawResult)
	for r := first; ; r = r.Next {
		var err error
		if packets, err = c.decodeResult(r, packets, binary); err != nil {
			return first, err
		}
		if len(packets) == 0 {
			return first, nil
		}
		r.Next = new(RawResult)
	}
}

// decodeResult fills r and gives the packets behind it.
func (c *RawClient) decodeResult(r *RawResult, packets [][]byte, binary bool) ([][]byte, error) {
	if len(packets) == 0 {
		return nil, errors.New("no packets to decode")
	}
	p, packets := packets[0], packets[1:]
	switch p[0] {
	case mysql.OKHeader:
		r.OK = new(mysql.OKPacket)
		err := r.OK.Decode(p, c.Conn.Capabilities)
		r.Status, r.Warnings = r.OK.Status, r.OK.Warnings
		return packets, err
	case mysql.EOFHeader:
		ok, err := c.decodeEnd(p)
		r.OK, r.Status, r.Warnings = &ok, ok.Status, ok.Warnings
		return packets, err
	case mysql.ErrHeader:
		r.Err = new(mysql.SQLError)
		return packets, r.Err.Decode(p)
	case mysql.LocalInfileHeader:
		r.LocalInfile = string(p[1:])
		return packets, nil
	}
	n, metadata, err := c.columnCount(p)
	if err != nil {
		return nil, err
	}
	r.Columns = make([]mysql.ColumnDefinition41, n)
	if metadata {
		if len(packets) < n {
			return nil, fmt.Errorf("%d packets for %d columns", len(packets), n)
		}
		for i := range r.Columns {
			if err := r.Columns[i].Decode(packets[i]); err != nil {
				return nil, err
			}
		}
		packets = packets[n:]
	}
	return c.decodeRows(r, packets, binary)
}

// decodeRows reads up to the packet that ends the result set, over the EOF packet behind the columns.
func (c *RawClient) decodeRows(r *RawResult, packets [][]byte, binary bool) ([][]byte, error) {
	between := !c.Conn.Capabilities.Has(mysql.ClientDeprecateEOF)
	for i, p := range packets {
		switch {
		case p[0] == mysql.ErrHeader:
			r.Err = new(mysql.SQLError)
			return packets[i+1:], r.Err.Decode(p)
		case c.isEnd(p):
			end, err := c.decodeEnd(p)
			if err != nil {
				return nil, err
			}
			if between && !end.Status.Has(mysql.ServerStatusCursorExists) {
				between = false
				continue
			}
			r.End, r.Status, r.Warnings = end, end.Status, end.Warnings
			return packets[i+1:], nil
		}
		row, err := textValues(p, len(r.Columns))
		if binary {
			row, err = binaryValues(p, r.Columns)
		}
		if err != nil {
			return nil, err
		}
		r.Rows = append(r.Rows, row)
	}
	return nil, errors.New("a result set without end")
}

// textValues decodes a text row.
func textValues(p []byte, n int) ([]any, error) {
	row := make([]any, n)
	c := mysql.NewCursor(p)
	for i := range row {
		if c.Len() > 0 && p[c.Pos()] == 0xfb {
			c.Bytes(1)
			continue
		}
		row[i] = string(c.LenencBytes())
	}
	if c.Err() == nil && c.Len() > 0 {
		return nil, fmt.Errorf("%d bytes behind the last value of a row", c.Len())
	}
	return row, c.Err()
}
