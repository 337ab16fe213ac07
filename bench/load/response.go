package load

import (
	"time"

	"kingshard/mysql"
)

// reader reads responses without looking into rows.
type reader struct {
	conn *mysql.Conn
	rows uint64
	pace int // rows a second, 0 without bound
}

// paceBatch is how many rows a slow reader takes between two pauses.
const paceBatch = 64

// response reads one result; more says that another one follows.
func (r *reader) response() (more bool, err error) {
	p, err := r.conn.ReadPacket()
	if err != nil {
		return false, err
	}
	if len(p) == 0 {
		return false, mysql.ErrMalformedPacket
	}
	switch p[0] {
	case mysql.ErrHeader:
		return false, sqlError(p)
	case mysql.OKHeader:
		return r.end(p)
	case mysql.LocalInfileHeader:
		return false, mysql.ErrMalformedPacket // no command of ours asks for a file
	}
	count := mysql.NewCursor(p)
	columns := count.Lenenc()
	if err := count.Err(); err != nil {
		return false, err
	}
	if err := r.definitions(columns); err != nil {
		return false, err
	}
	return r.readRows()
}

// definitions reads column definitions and the EOF packet behind them, where there is one.
func (r *reader) definitions(n uint64) error {
	if !r.conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
		n++
	}
	for range n {
		p, err := r.conn.ReadPacket()
		if err != nil {
			return err
		}
		if len(p) > 0 && p[0] == mysql.ErrHeader {
			return sqlError(p)
		}
	}
	return nil
}

// readRows reads rows to the packet that ends them.
func (r *reader) readRows() (more bool, err error) {
	const rowEndMax = 1<<24 - 1 // a row that begins with 0xfe is at least so long
	for {
		p, err := r.conn.ReadPacket()
		if err != nil {
			return false, err
		}
		if len(p) > 0 {
			switch {
			case p[0] == mysql.EOFHeader && len(p) < rowEndMax:
				return r.end(p)
			case p[0] == mysql.ErrHeader:
				return false, sqlError(p)
			}
		}
		r.rows++
		if r.pace > 0 && r.rows%paceBatch == 0 {
			time.Sleep(paceBatch * time.Second / time.Duration(r.pace))
		}
	}
}

// end decodes the packet that ends a result.
func (r *reader) end(p []byte) (more bool, err error) {
	var status mysql.Status
	if p[0] == mysql.EOFHeader && !r.conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
		var eof mysql.EOFPacket
		err = eof.Decode(p)
		status = eof.Status
	} else {
		var ok mysql.OKPacket
		err = ok.Decode(p, r.conn.Capabilities)
		status = ok.Status
	}
	return status.Has(mysql.ServerMoreResultsExists), err
}

// sqlError decodes an ERR packet.
func sqlError(p []byte) error {
	e := new(mysql.SQLError)
	if err := e.Decode(p); err != nil {
		return err
	}
	return e
}
