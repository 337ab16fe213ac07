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
	var scanner mysql.ResponseScanner
	for {
		p, err := r.conn.ReadPacket()
		if err != nil {
			return false, err
		}
		part, err := scanner.Scan(p, len(p), r.conn.Capabilities)
		if err != nil {
			return false, err
		}
		switch part {
		case mysql.PartError:
			return false, sqlError(p)
		case mysql.PartFile:
			return false, mysql.ErrMalformedPacket // no command of ours asks for a file
		case mysql.PartOK, mysql.PartEnd:
			return r.end(p)
		case mysql.PartRow:
			if r.rows++; r.pace > 0 && r.rows%paceBatch == 0 {
				time.Sleep(paceBatch * time.Second / time.Duration(r.pace))
			}
		}
	}
}

// definitions reads definitions of a prepared statement and the EOF packet behind them, where there is one.
func (r *reader) definitions(n uint64) error {
	if !r.conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
		n++
	}
	for range n {
		if _, err := r.conn.ReadPacket(); err != nil {
			return err
		}
	}
	return nil
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
