package mysqltest

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"kingshard/mysql"
)

// RawStmt is a prepared statement.
type RawStmt struct {
	mysql.StmtPrepareOK
	Params  []mysql.ColumnDefinition41
	Columns []mysql.ColumnDefinition41 // of the last result; types may differ from those that Prepare gave

	client *RawClient
}

// Prepare runs COM_STMT_PREPARE; an ERR packet is returned as a *mysql.SQLError.
func (c *RawClient) Prepare(sql string) (*RawStmt, error) {
	packets, err := c.Command(mysql.ComStmtPrepare, sql)
	if err != nil {
		return nil, err
	}
	if packets[0][0] == mysql.ErrHeader {
		return nil, asError(packets[0])
	}
	s := &RawStmt{client: c}
	if err := s.Decode(packets[0], c.Conn.Capabilities); err != nil {
		return nil, err
	}
	packets = packets[1:]
	for _, run := range []struct {
		n    uint16
		defs *[]mysql.ColumnDefinition41
	}{{s.StmtPrepareOK.Params, &s.Params}, {s.StmtPrepareOK.Columns, &s.Columns}} {
		if run.n == 0 || !s.MetadataFollows {
			continue
		}
		*run.defs = make([]mysql.ColumnDefinition41, run.n)
		for i := range *run.defs {
			if err := (*run.defs)[i].Decode(packets[i]); err != nil {
				return nil, err
			}
		}
		packets = packets[run.n:]
		if !c.Conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
			packets = packets[1:]
		}
	}
	return s, nil
}

// Statement is one that a command of the caller's has prepared: its first packet is still to be decoded.
func (c *RawClient) Statement() *RawStmt { return &RawStmt{client: c} }

// Execute runs COM_STMT_EXECUTE. Arguments are nil, int, int64, uint64, float64, string or []byte.
func (s *RawStmt) Execute(args ...any) (*RawResult, error) { return s.execute(0, args) }

// OpenCursor is Execute with a read-only cursor: the result has no rows, Fetch gives them.
func (s *RawStmt) OpenCursor(args ...any) (*RawResult, error) { return s.execute(1, args) }

func (s *RawStmt) execute(flags byte, args []any) (*RawResult, error) {
	body, err := s.ExecuteBody(flags, args...)
	if err != nil {
		return nil, err
	}
	packets, err := s.client.Command(mysql.ComStmtExecute, body)
	if err != nil {
		return nil, err
	}
	r, err := s.client.Decode(packets, true)
	if err == nil && len(r.Columns) > 0 {
		s.Columns = r.Columns
	}
	return r, err
}

// ExecuteBody makes the payload behind the command byte; flags 1 asks for a read-only cursor.
func (s *RawStmt) ExecuteBody(flags byte, args ...any) (string, error) {
	attributes := s.client.Conn.Capabilities.Has(mysql.ClientQueryAttributes)
	b := mysql.AppendUint32(nil, s.StatementID)
	if attributes {
		flags |= 8 // PARAMETER_COUNT_AVAILABLE
	}
	b = mysql.AppendUint32(append(b, flags), 1)
	if attributes {
		b = mysql.AppendLenenc(b, uint64(len(args)))
	}
	if len(args) == 0 {
		return string(b), nil
	}
	bitmap := len(b)
	b = append(b, make([]byte, (len(args)+7)/8)...)
	b = append(b, 1)
	var values []byte
	for i, arg := range args {
		var t mysql.ColumnType
		unsigned := byte(0)
		switch v := arg.(type) {
		case nil:
			b[bitmap+i/8] |= 1 << (i % 8)
			t = mysql.TypeNull
		case int8:
			t, values = mysql.TypeTiny, append(values, byte(v))
		case int16:
			t, values = mysql.TypeShort, mysql.AppendUint16(values, uint16(v))
		case int32:
			t, values = mysql.TypeLong, mysql.AppendUint32(values, uint32(v))
		case float32:
			t, values = mysql.TypeFloat, mysql.AppendUint32(values, math.Float32bits(v))
		case Date:
			t, values = mysql.TypeDate, append(mysql.AppendUint16(append(values, 4), uint16(time.Time(v).Year())), byte(time.Time(v).Month()), byte(time.Time(v).Day()))
		case time.Time:
			t, values = mysql.TypeDatetime, appendTime(values, v)
		case time.Duration:
			t, values = mysql.TypeTime, appendDuration(values, v)
		case int:
			t, values = mysql.TypeLongLong, appendUint64(values, uint64(v))
		case int64:
			t, values = mysql.TypeLongLong, appendUint64(values, uint64(v))
		case uint64:
			t, unsigned, values = mysql.TypeLongLong, 0x80, appendUint64(values, v)
		case float64:
			t, values = mysql.TypeDouble, appendUint64(values, math.Float64bits(v))
		case string:
			t, values = mysql.TypeVarString, mysql.AppendLenencString(values, v)
		case []byte:
			t, values = mysql.TypeBlob, mysql.AppendLenencString(values, v)
		default:
			return "", fmt.Errorf("argument %d is a %T", i, arg)
		}
		b = append(b, byte(t), unsigned)
		if attributes {
			b = append(b, 0) // a parameter, unlike an attribute, has no name
		}
	}
	return string(append(b, values...)), nil
}

// Fetch runs COM_STMT_FETCH for n rows of an open cursor.
func (s *RawStmt) Fetch(n uint32) (*RawResult, error) {
	packets, err := s.client.Command(mysql.ComStmtFetch, string(mysql.AppendUint32(mysql.AppendUint32(nil, s.StatementID), n)))
	if err != nil {
		return nil, err
	}
	r := &RawResult{Columns: s.Columns}
	for _, p := range packets[:len(packets)-1] {
		row, err := binaryValues(p, s.Columns)
		if err != nil {
			return nil, err
		}
		r.Rows = append(r.Rows, row)
	}
	last := packets[len(packets)-1]
	if last[0] == mysql.ErrHeader {
		r.Err = new(mysql.SQLError)
		return r, r.Err.Decode(last)
	}
	r.End, err = s.client.decodeEnd(last)
	r.Status, r.Warnings = r.End.Status, r.End.Warnings
	return r, err
}

// Close runs COM_STMT_CLOSE, which has no answer.
func (s *RawStmt) Close() error {
	return s.client.Send(mysql.ComStmtClose, string(mysql.AppendUint32(nil, s.StatementID)))
}

func appendUint64(b []byte, v uint64) []byte {
	return mysql.AppendUint32(mysql.AppendUint32(b, uint32(v)), uint32(v>>32))
}

// Values decodes a row of a result set with those columns, binary or text, to strings as the text protocol has them, and nil for NULL.
func Values(row []byte, columns []mysql.ColumnDefinition41, binary bool) ([]any, error) {
	if binary {
		return binaryValues(row, columns)
	}
	return textValues(row, len(columns))
}

// binaryValues decodes a binary row into what the text protocol would have. MySQL manual: "Binary Protocol Resultset Row".
func binaryValues(p []byte, columns []mysql.ColumnDefinition41) ([]any, error) {
	c := mysql.NewCursor(p)
	c.Bytes(1)
	nulls := c.Bytes((len(columns) + 9) / 8)
	row := make([]any, len(columns))
	for i := range row {
		if c.Err() != nil {
			return nil, c.Err()
		}
		if nulls[(i+2)/8]>>((i+2)%8)&1 == 0 {
			row[i] = binaryValue(&c, &columns[i])
		}
	}
	if c.Err() == nil && c.Len() > 0 {
		return nil, fmt.Errorf("%d bytes behind the last value of a row", c.Len())
	}
	return row, c.Err()
}

func binaryValue(c *mysql.Cursor, d *mysql.ColumnDefinition41) string {
	integer := func(v uint64, bits int) string {
		if d.Flags&mysql.UnsignedFlag != 0 {
			return strconv.FormatUint(v, 10)
		}
		return strconv.FormatInt(int64(v<<(64-bits))>>(64-bits), 10)
	}
	long := func() uint64 { low := uint64(c.Uint32()); return low | uint64(c.Uint32())<<32 }
	switch d.Type {
	case mysql.TypeTiny:
		return integer(uint64(c.Uint8()), 8)
	case mysql.TypeShort, mysql.TypeYear:
		return integer(uint64(c.Uint16()), 16)
	case mysql.TypeLong, mysql.TypeInt24:
		return integer(uint64(c.Uint32()), 32)
	case mysql.TypeLongLong:
		return integer(long(), 64)
	case mysql.TypeFloat:
		return strconv.FormatFloat(float64(math.Float32frombits(c.Uint32())), 'g', -1, 32)
	case mysql.TypeDouble:
		return strconv.FormatFloat(math.Float64frombits(long()), 'g', -1, 64)
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTimestamp:
		return binaryDate(mysql.NewCursor(c.Bytes(int(c.Uint8()))), d.Type == mysql.TypeDate)
	case mysql.TypeTime:
		return binaryTime(mysql.NewCursor(c.Bytes(int(c.Uint8()))))
	}
	return string(c.LenencBytes())
}

// binaryDate reads 0, 4, 7 or 11 bytes.
func binaryDate(c mysql.Cursor, dateOnly bool) string {
	s := fmt.Sprintf("%04d-%02d-%02d", c.Uint16(), c.Uint8(), c.Uint8())
	if dateOnly {
		return s
	}
	s += fmt.Sprintf(" %02d:%02d:%02d", c.Uint8(), c.Uint8(), c.Uint8())
	if c.Len() == 4 {
		s += fmt.Sprintf(".%06d", c.Uint32())
	}
	return s
}

// binaryTime reads 0, 8 or 12 bytes.
func binaryTime(c mysql.Cursor) string {
	sign := ""
	if c.Uint8() != 0 {
		sign = "-"
	}
	s := fmt.Sprintf("%s%02d:%02d:%02d", sign, c.Uint32()*24+uint32(c.Uint8()), c.Uint8(), c.Uint8())
	if c.Len() == 4 {
		s += fmt.Sprintf(".%06d", c.Uint32())
	}
	return s
}

// Date is an argument of type DATE; a time.Time itself is a DATETIME.
type Date time.Time

// appendTime encodes a DATETIME. MySQL manual: "Binary Protocol Value".
func appendTime(b []byte, v time.Time) []byte {
	b = append(mysql.AppendUint16(append(b, 11), uint16(v.Year())), byte(v.Month()), byte(v.Day()), byte(v.Hour()), byte(v.Minute()), byte(v.Second()))
	return mysql.AppendUint32(b, uint32(v.Nanosecond()/1000))
}

// appendDuration encodes a TIME. MySQL manual: "Binary Protocol Value".
func appendDuration(b []byte, v time.Duration) []byte {
	negative := byte(0)
	if v < 0 {
		negative, v = 1, -v
	}
	hours := int(v / time.Hour)
	b = append(mysql.AppendUint32(append(b, 12, negative), uint32(hours/24)), byte(hours%24), byte(v/time.Minute%60), byte(v/time.Second%60))
	return mysql.AppendUint32(b, uint32(v%time.Second/time.Microsecond))
}
