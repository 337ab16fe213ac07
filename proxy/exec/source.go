package exec

import (
	"errors"

	"kingshard/mysql"
	"kingshard/mysql/value"
)

// Causes of a mysql.ConnError of a shard that broke the protocol, or the bounds of what can be merged.
var (
	errNotRows    = errors.New("the response is not a result set")
	errNoMetadata = errors.New("result set without metadata")
	errMore       = errors.New("more than one result")
)

const (
	headerLen = 4
	endLenMin = 5 // bytes of the shortest packet that ends rows, without header
)

// Source is one shard's result, read packet by packet. The caller keeps the connection, and looks at Done before it uses
// the connection for anything else.
type Source struct {
	// AtEnd, if set, is called when the response has been read to its end, with the server's error where it ended with one.
	AtEnd func(*mysql.SQLError)

	conn   *mysql.Conn
	format value.Format

	scanner mysql.ResponseScanner
	last    int // length of the last row's payload
	rows    uint64
	done    bool
	end     mysql.OKPacket // how the rows ended, without its slices
}

// NewSource makes a source of a connection to which a statement has been sent and of whose response nothing has been
// read: COM_QUERY for text rows, COM_STMT_EXECUTE without cursor for binary ones.
func NewSource(conn *mysql.Conn, f value.Format) *Source { return &Source{conn: conn, format: f} }

// Done tells whether the response has been read to its end, so that the connection can take another command.
func (s *Source) Done() bool { return s.done }

// Rows is how many rows have been read.
func (s *Source) Rows() uint64 { return s.rows }

// Warnings is how many the server said there are, at the end of the rows.
func (s *Source) Warnings() uint16 { return s.end.Warnings }

// Drain reads and drops what is left of the response. It gives up when that is more than bytesMax bytes of rows; done is
// false then. An error is one of the connection: the server's own, in place of rows that nobody wants, is none.
func (s *Source) Drain(bytesMax int) (done bool, err error) {
	for !s.done && bytesMax >= 0 {
		row, err := s.next()
		if err != nil {
			if _, refused := err.(*mysql.SQLError); !refused {
				return false, err
			}
		}
		bytesMax -= len(row)
	}
	return s.done, nil
}

// packet reads one packet and tells what it is; a *mysql.SQLError is the server's, and ends the response.
func (s *Source) packet() ([]byte, mysql.Part, error) {
	p, err := s.conn.ReadPacket()
	if err != nil {
		return nil, 0, err
	}
	part, err := s.scanner.Scan(p, len(p), s.conn.Capabilities)
	if err != nil {
		return nil, 0, broken(err)
	}
	if part != mysql.PartError {
		return p, part, nil
	}
	e := new(mysql.SQLError)
	if err := e.Decode(p); err != nil {
		return nil, 0, broken(err)
	}
	s.ended(e)
	return nil, part, e
}

// broken is the error of a connection whose peer broke the protocol.
func broken(err error) error { return &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: err} }

// open reads up to the first row and gives the definitions. Their names are left out unless asked for.
func (s *Source) open(names bool) ([]mysql.ColumnDefinition41, error) {
	_, part, err := s.packet()
	switch {
	case err != nil:
		return nil, err
	case part != mysql.PartColumns:
		return nil, broken(errNotRows)
	case !s.scanner.Metadata:
		return nil, broken(errNoMetadata)
	}
	defs := make([]mysql.ColumnDefinition41, s.scanner.Columns)
	for i := range defs {
		p, _, err := s.packet()
		if err != nil {
			return nil, err
		}
		if names {
			err = defs[i].Decode(p)
		} else {
			err = defs[i].DecodeUnnamed(p)
		}
		if err != nil {
			return nil, broken(err)
		}
	}
	if s.conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
		return defs, nil
	}
	_, _, err = s.packet()
	return defs, err
}

// mayWait guesses whether the next packet is not there as a whole. A wrong guess sends rows to the client in smaller
// pieces, or later by one read of the shard.
func (s *Source) mayWait(pending int) bool {
	n := s.conn.Buffered()
	return n < headerLen+endLenMin || pending >= pendingWorth && n < headerLen+s.last
}

// pendingWorth is how many bytes of merged rows are worth a write of their own, when rows are likely to follow.
const pendingWorth = 4 << 10

// next reads a row; nil is the end of the rows. The slice is valid until the next read of the connection.
func (s *Source) next() ([]byte, error) {
	p, part, err := s.packet()
	if err != nil {
		return nil, err
	}
	if part == mysql.PartEnd {
		return nil, s.readEnd(p)
	}
	s.last = len(p)
	s.rows++
	return p, nil
}

func (s *Source) readEnd(p []byte) error {
	var end mysql.OKPacket
	if err := end.DecodeEnd(p, s.conn.Capabilities); err != nil {
		return broken(err)
	}
	if s.end = (mysql.OKPacket{Status: end.Status, Warnings: end.Warnings}); end.Status.Has(mysql.ServerMoreResultsExists) {
		return broken(errMore)
	}
	s.ended(nil)
	return nil
}

func (s *Source) ended(e *mysql.SQLError) {
	s.done = true
	if s.AtEnd != nil {
		s.AtEnd(e)
	}
}
