package backend

import (
	"fmt"

	"kingshard/mysql"
)

// response is the answer to a command of the proxy's own, read part by part.
type response struct {
	c       *Conn
	scanner mysql.ResponseScanner
	end     mysql.OKPacket // the packet that ended it, or a part of it; its slices are valid until the next read
}

// next reads a packet; of one that ends the response the connection has the status from then on. A *mysql.SQLError is what the server
// answers. The slice is valid until the next read.
func (r *response) next() (p []byte, part mysql.Part, err error) {
	if p, err = r.c.ReadPacket(); err != nil {
		return nil, 0, err
	}
	if part, err = r.scanner.Scan(p, len(p), r.c.Capabilities); err != nil {
		return nil, 0, broken(err)
	}
	switch part {
	case mysql.PartError:
		return nil, part, decodeError(p)
	case mysql.PartOK:
		err = r.end.Decode(p, r.c.Capabilities)
	case mysql.PartEnd:
		err = r.end.DecodeEnd(p, r.c.Capabilities)
	default:
		return p, part, nil
	}
	if err != nil {
		return nil, 0, broken(err)
	}
	r.c.Status = r.end.Status
	r.c.insertID.told(r.end.LastInsertID)
	if len(r.end.StateChanges) > 0 {
		r.c.gtids.Told(r.end.StateChanges)
	}
	return p, part, nil
}

// columns reads the packet that begins a result set.
func (r *response) columns() error {
	_, part, err := r.next()
	if err == nil && part != mysql.PartColumns {
		err = broken(fmt.Errorf("%w: no result set", mysql.ErrMalformedPacket))
	}
	return err
}

// definitions reads the definitions of a result set's columns, from behind the packet that begins it, with what ends them.
func (r *response) definitions() ([]mysql.ColumnDefinition41, error) {
	if !r.scanner.Metadata {
		return nil, broken(fmt.Errorf("%w: no column definitions", mysql.ErrMalformedPacket))
	}
	return r.c.columnDefinitions(r.scanner.Columns, func() ([]byte, error) {
		p, _, err := r.next()
		return p, err
	})
}

// skipDefinitions passes over the definitions of columns that the reader knows.
func (r *response) skipDefinitions() error {
	n := r.scanner.Columns
	if !r.c.Capabilities.Has(mysql.ClientDeprecateEOF) {
		n++
	}
	for range n {
		if _, _, err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// rows reads the rows of a result set and what ends them. An error of row ends the reading, in the middle of them.
func (r *response) rows(row func(p []byte) error) error {
	for {
		p, part, err := r.next()
		if err != nil || part == mysql.PartEnd {
			return err
		}
		if err := row(p); err != nil {
			return err
		}
	}
}

// open reads a result set up to its rows.
func (r *response) open() ([]mysql.ColumnDefinition41, error) {
	if err := r.columns(); err != nil {
		return nil, err
	}
	return r.definitions()
}

// broken is the error of a connection whose server broke the protocol.
func broken(err error) error { return &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: err} }
