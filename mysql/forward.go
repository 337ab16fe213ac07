package mysql

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
)

// columnsMax is how many columns a result may announce: as many as a prepared statement can say. A table has 4,096 at the
// most, a select list more.
const columnsMax = 1<<16 - 1

// terminatorMax bounds the packets of a response that are read whole: OK, ERR, EOF, the column count.
const terminatorMax = 1 << 20

// Shape is how the response to a command begins.
type Shape uint8

// The shapes.
const (
	// ShapeResult: OK, ERR, LOCAL INFILE request or a result set (COM_QUERY, COM_STMT_EXECUTE and the simple commands).
	ShapeResult Shape = iota
	// ShapeRows: rows, or column definitions, up to an end packet, with no column count before (COM_STMT_FETCH, COM_FIELD_LIST).
	ShapeRows
)

// ResponseKind is how a response ended.
type ResponseKind uint8

// The kinds.
const (
	ResponseOK          ResponseKind = iota
	ResponseErr                      // Err is set; rows may have gone before
	ResponseRows                     // a result set with its end packet
	ResponseLocalInfile              // the server asks for a file; nothing was forwarded
)

// Response is what one forwarded response was.
type Response struct {
	Kind ResponseKind
	// OK holds the fields of the OK packet or of the result set's end. Its slices alias the source's buffer: valid
	// until the source is read again.
	OK  OKPacket
	Err *SQLError
	// Columns is the number of columns of a result set.
	Columns int
	Rows    uint64
	Bytes   uint64 // of rows, headers included
	// Cut says that rows were more than the quota: Err is what the destination heard, and the source's response lies unread
	// from the first row on that did not go.
	Cut bool
	// Held says that Err was not forwarded.
	Held bool
	// LocalInfile is the payload of the server's request, an alias like OK's slices.
	LocalInfile []byte
}

// More tells whether another response to the same command follows.
func (r *Response) More() bool {
	return r.Kind != ResponseErr && r.OK.Status.Has(ServerMoreResultsExists)
}

// ForwardOptions say what ForwardResult must know of the command.
type ForwardOptions struct {
	Shape Shape
	// Status is sent in the EOF between columns and rows when only the destination has that packet.
	Status Status
	// Patch, if set, changes every OK and EOF packet of the source, the EOF between columns and rows included, before
	// it goes on; what it sets beyond status and warnings is dropped where the packet has no place for it.
	Patch func(*OKPacket)
	// Rename, if set, gives tables other names in column definitions and in error messages.
	Rename []TableName
	// Definitions, if there are as many as columns, are sent in place of the source's; where the rows' cells are encoded
	// otherwise than such a definition says, the source's own type stays.
	Definitions []ColumnDefinition41
	// AsDefined has the type in Definitions hold in any case: the rows are text, or there are none.
	AsDefined bool
	// Rows, if set, changes the rows on their way.
	Rows RowChanger
	// Arrived, if set, is the walk over the response, which has arrived whole and plain: it is not walked over again, and what is queued
	// for dst in the end is left for the caller to flush.
	Arrived *Walk
	// PatchError, if set, changes an ERR packet of the source before it goes on.
	PatchError func(*SQLError)
	// Hold has the codes of errors that are left for the caller to send.
	Hold []uint16
	// Sum, if set, is given what the response says: rows, as the source sends them, the counts and the text of an OK packet, the code of an error. What is
	// left out are definitions of columns, status, warnings and changes of state, and rows that Rows changes.
	Sum *maphash.Hash
	// Quota, if set, bounds the rows that go on. What does is taken off it; of a row of 16 MB or more its first packet counts.
	Quota *Quota
}

// TableName is a table that one side knows by another name than the other.
type TableName struct {
	FromSchema, FromTable string // as the source says
	Schema, Table         string // as the destination is to hear
	// Node, if set, is where the source's table is.
	Node string
	// Flags are added to those of the table's columns, by name, where the server shows key flags.
	Flags map[string]uint16
	// Hidden are flags of the source's columns that the destination is not to hear of.
	Hidden uint16
	// KeyFlags are added to those of columns that the source shows as some of a primary key, by name.
	KeyFlags map[string]uint16
	// Columns are the destination's names for columns of the source that it does not know, or expressions that they have the values of.
	Columns map[string]string
	// Others, if set, knows the tables that messages may name beside this one.
	Others TableNames
}

// errNoMetadata says that a server left out column definitions for a client that cannot do without.
var errNoMetadata = errors.New("result set without metadata for a client that did not ask for that")

// ForwardResult copies one response from src to dst. Rows go in the runs in which they arrive, headers walked in
// place and sequence ids rewritten, no row looked into; column counts, OK, EOF and ERR packets are put into the form
// that dst negotiated. A request for a local file is not forwarded.
//
// Bytes are sent on before a read that may block and at the end, so dst is flushed when ForwardResult returns without
// error and More is false, unless Arrived is set. An error is a *ConnError of the side that failed, after which both connections are out of step.
func ForwardResult(dst, src *Conn, o ForwardOptions) (Response, error) {
	f := forwards.Get().(*forward)
	*f = forward{dst: dst, src: src, o: o}
	err := f.run()
	if err == nil && !f.res.More() && f.res.Kind != ResponseLocalInfile && o.Arrived == nil {
		err = dst.Flush()
	}
	res := f.res
	*f = forward{}
	forwards.Put(f)
	return res, err
}

// forwards keeps what a Patch, being called through a pointer, would put on the heap each time.
var forwards = sync.Pool{New: func() any { return new(forward) }}

// forward is one ForwardResult under way.
type forward struct {
	dst, src *Conn
	o        ForwardOptions
	scanner  ResponseScanner
	res      Response
}

func (f *forward) run() error {
	if f.o.Arrived != nil && f.o.Rows == nil && f.alike() {
		return f.arrived(f.o.Arrived)
	}
	if f.o.Shape == ShapeRows {
		f.scanner.ToRows()
		return f.rows()
	}
	p, part, err := f.part()
	if err != nil {
		return err
	}
	switch part {
	case PartOK:
		return f.ok(p)
	case PartError:
		return f.err(p)
	case PartFile:
		f.res.Kind, f.res.LocalInfile = ResponseLocalInfile, p
		return nil
	case PartEnd:
		return f.end(p)
	}
	if err := f.columnCount(); err != nil {
		return err
	}
	if f.scanner.Metadata {
		if done, err := f.definitions(f.res.Columns); done || err != nil {
			return err
		}
		f.scanner.defined(f.src.Capabilities)
	}
	if done, err := f.metadataEnd(); done || err != nil {
		return err
	}
	return f.rows()
}

// part reads the next packet, which is no row, and tells what it is.
func (f *forward) part() ([]byte, Part, error) {
	p, err := f.packet()
	if err != nil {
		return nil, 0, err
	}
	part, err := f.scanner.Scan(p, len(p), f.src.Capabilities)
	if err != nil {
		return nil, 0, f.protocolError(err)
	}
	return p, part, nil
}

// packet reads one packet whole; used for packets that are short by nature.
func (f *forward) packet() ([]byte, error) {
	if f.dst.Pending() > 0 && !holdsPacket(f.src.Unread()) {
		if err := f.dst.Flush(); err != nil {
			return nil, err
		}
	}
	saved := f.src.payloadCap
	f.src.payloadCap = terminatorMax
	p, err := f.src.ReadPacket()
	f.src.payloadCap = saved
	return p, err
}

func (f *forward) protocolError(err error) error { return &ConnError{f.src.side, "read", err} }

// sum adds what a packet says to the sum that is asked for.
func (f *forward) sum(kind byte, a, b uint64) {
	if f.o.Sum != nil {
		_, _ = f.o.Sum.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte{kind}, a), b)) // which never fails
	}
}

// ok forwards an OK packet.
func (f *forward) ok(p []byte) error {
	if err := f.res.OK.Decode(p, f.src.Capabilities); err != nil {
		return f.protocolError(err)
	}
	f.sum('o', f.res.OK.AffectedRows, f.res.OK.LastInsertID)
	if f.o.Sum != nil {
		_, _ = f.o.Sum.Write(f.res.OK.Info)
	}
	if f.o.Patch != nil {
		f.o.Patch(&f.res.OK)
	}
	f.dst.WriteOK(&f.res.OK)
	return nil
}

// err forwards an ERR packet; progress reports of MariaDB are never asked for, so code 0xffff is an error like others.
func (f *forward) err(p []byte) error {
	e := new(SQLError)
	if err := e.Decode(p); err != nil {
		return f.protocolError(err)
	}
	f.sum('e', uint64(e.Code), 0)
	RenameError(e, f.o.Rename)
	if f.o.PatchError != nil {
		f.o.PatchError(e)
	}
	f.res.Kind, f.res.Err = ResponseErr, e
	if slices.Contains(f.o.Hold, e.Code) {
		f.res.Held = true
		return nil
	}
	f.dst.WriteError(e)
	return nil
}

// end forwards the packet that ends a result set.
func (f *forward) end(p []byte) error {
	if err := f.decodeEnd(p); err != nil {
		return err
	}
	f.dst.WriteEnd(&f.res.OK)
	return nil
}

func (f *forward) decodeEnd(p []byte) error {
	if err := f.res.OK.DecodeEnd(p, f.src.Capabilities); err != nil {
		return f.protocolError(err)
	}
	if f.o.Patch != nil {
		f.o.Patch(&f.res.OK)
	}
	return nil
}

// columnCount forwards the first packet of a result set.
func (f *forward) columnCount() error {
	f.res.Kind, f.res.Columns = ResponseRows, f.scanner.Columns
	f.sum('c', uint64(f.scanner.Columns), 0)
	optional := f.dst.Capabilities.Has(ClientOptionalResultsetMetadata)
	if !f.scanner.Metadata && !optional {
		return f.protocolError(errNoMetadata)
	}
	b := AppendLenenc(f.dst.StartPacket(), uint64(f.scanner.Columns))
	if optional {
		b = append(b, boolByte(f.scanner.Metadata))
	}
	f.dst.EndPacket(b)
	return nil
}

func boolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// metadataEnd deals with what is or is not between column definitions and rows. done says that an open cursor ended
// the response there.
func (f *forward) metadataEnd() (done bool, err error) {
	if f.src.Capabilities.Has(ClientDeprecateEOF) {
		if f.dst.Capabilities.Has(ClientDeprecateEOF) {
			return false, nil
		}
		length, first, err := f.peek()
		if err != nil {
			return false, err
		}
		if first == EOFHeader && endsRows(length, f.src.Capabilities) {
			return true, f.emptyEnd()
		}
		f.midEOF(f.o.Status)
		return false, nil
	}
	p, part, err := f.part()
	if err != nil {
		return false, err
	}
	if part == PartError {
		return true, f.err(p)
	}
	if err := f.decodeEnd(p); err != nil {
		return false, err
	}
	if part == PartEnd { // of a cursor
		f.dst.WriteEnd(&f.res.OK)
		return true, nil
	}
	if !f.dst.Capabilities.Has(ClientDeprecateEOF) {
		f.midEOF(f.res.OK.Status)
	}
	return false, nil
}

// emptyEnd forwards the end of a result set without rows to a destination that wants an EOF packet before it as well,
// or, where a cursor was opened, only the one.
func (f *forward) emptyEnd() error {
	p, _, err := f.part()
	if err != nil {
		return err
	}
	if err := f.decodeEnd(p); err != nil {
		return err
	}
	if !f.res.OK.Status.Has(ServerStatusCursorExists) {
		f.midEOF(f.res.OK.Status &^ ServerMoreResultsExists)
	}
	f.dst.WriteEnd(&f.res.OK)
	return nil
}

func (f *forward) midEOF(s Status) {
	eof := EOFPacket{Status: s}
	f.dst.EndPacket(eof.AppendTo(f.dst.StartPacket()))
}
