package session

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/value"
)

// utf8mb4General is the collation id of the proxy's own result columns.
const utf8mb4General = 45

// binaryCollation is the collation id of numbers.
const binaryCollation = 63

// nullText marks a NULL in the proxy's own rows; no value of theirs is a zero byte alone.
const nullText = "\x00"

// writeRows queues a result set of the proxy's own, in the protocol of the command under way.
func (c *client) writeRows(names []string, types []mysql.ColumnType, rows [][]string) {
	c.writeTable(ownDefinitions(names, types, rows), rows)
}

// ownDefinitions describes columns of the proxy's own.
func ownDefinitions(names []string, types []mysql.ColumnType, rows [][]string) []mysql.ColumnDefinition41 {
	definitions := make([]mysql.ColumnDefinition41, len(names))
	for k, name := range names {
		def := mysql.ColumnDefinition41{Catalog: "def", Name: name, Type: types[k], Charset: utf8mb4General, Length: 1024, Flags: mysql.NotNullFlag}
		if types[k] == mysql.TypeEnum {
			def.Type = mysql.TypeString // what servers send of an ENUM, with its flag
			def.Flags |= mysql.EnumFlag
		} else if types[k] != mysql.TypeVarString && types[k] != mysql.TypeMediumBlob {
			def.Charset, def.Length = binaryCollation, 21
			def.Flags |= mysql.BinaryFlag
		}
		if types[k] == mysql.TypeDouble {
			def.Decimals = 31 // as many as the value has
		}
		if slices.ContainsFunc(rows, func(row []string) bool { return row[k] == nullText }) {
			def.Flags &^= mysql.NotNullFlag
		}
		definitions[k] = def
	}
	return definitions
}

// writeTable queues a result set whose columns are known, in the protocol of the command under way. Cells are texts, whole
// numbers or doubles.
func (c *client) writeTable(definitions []mysql.ColumnDefinition41, rows [][]string) {
	b := mysql.AppendLenenc(c.conn.StartPacket(), uint64(len(definitions)))
	if c.conn.Capabilities.Has(mysql.ClientOptionalResultsetMetadata) {
		b = append(b, 1)
	}
	c.conn.EndPacket(b)
	c.writeDefinitions(definitions)
	binary := c.entry.Command() == mysql.ComStmtExecute && !c.task().composed // those of a statement's own statements are texts
	for _, row := range rows {
		b := c.conn.StartPacket()
		if binary {
			c.conn.EndPacket(appendBinaryRow(b, definitions, row))
			continue
		}
		for _, v := range row {
			if v == nullText {
				b = append(b, 0xfb)
				continue
			}
			b = mysql.AppendLenencString(b, v)
		}
		c.conn.EndPacket(b)
	}
	c.conn.WriteEnd(&mysql.OKPacket{Status: c.status()})
}

// writeDefinitions queues definitions with the packet that ends them.
func (c *client) writeDefinitions(definitions []mysql.ColumnDefinition41) {
	for k := range definitions {
		c.conn.EndPacket(definitions[k].AppendTo(c.conn.StartPacket()))
	}
	if !c.conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
		eof := mysql.EOFPacket{Status: c.status()}
		c.conn.EndPacket(eof.AppendTo(c.conn.StartPacket()))
	}
}

// appendBinaryRow appends a row of the binary protocol. MySQL manual: "Binary Protocol Resultset Row".
func appendBinaryRow(b []byte, definitions []mysql.ColumnDefinition41, row []string) []byte {
	cells := make([]value.Cell, len(row))
	for k, v := range row {
		if v != nullText {
			cells[k] = value.Cell(v)
		}
	}
	return appendBinaryCells(b, definitions, cells)
}

// appendBinaryCells appends a row of values as the text protocol has them; nil is NULL.
func appendBinaryCells(b []byte, definitions []mysql.ColumnDefinition41, row []value.Cell) []byte {
	b = append(b, 0)
	nulls := len(b)
	b = append(b, make([]byte, (len(row)+9)/8)...)
	for k, v := range row {
		if v == nil {
			b[nulls+(k+2)/8] |= 1 << ((k + 2) % 8)
			continue
		}
		b = appendBinaryCell(b, definitions[k].Type, string(v))
	}
	return b
}

// appendBinaryCell appends a value that is not NULL. MySQL manual: "Binary Protocol Value".
func appendBinaryCell(b []byte, of mysql.ColumnType, v string) []byte {
	size := 0
	switch of {
	case mysql.TypeTiny:
		size = 1
	case mysql.TypeShort, mysql.TypeYear:
		size = 2
	case mysql.TypeLong, mysql.TypeInt24:
		size = 4
	case mysql.TypeLongLong:
		size = 8
	case mysql.TypeDouble:
		f, _ := strconv.ParseFloat(v, 64)
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTimestamp:
		return appendBinaryMoment(b, v)
	case mysql.TypeTime:
		return appendBinaryTime(b, v)
	default:
		return mysql.AppendLenencString(b, v)
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		u, _ := strconv.ParseUint(v, 10, 64)
		n = int64(u)
	}
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], uint64(n))
	return append(b, all[:size]...)
}

// appendBinaryMoment appends a DATE, DATETIME or TIMESTAMP, with as much of it as is not 0.
func appendBinaryMoment(b []byte, v string) []byte {
	date, clock, _ := strings.Cut(v, " ")
	var year, month, day, hour, minute, second uint64
	_, _ = fmt.Sscanf(date, "%d-%d-%d", &year, &month, &day)
	clock, fraction, _ := strings.Cut(clock, ".")
	_, _ = fmt.Sscanf(clock, "%d:%d:%d", &hour, &minute, &second)
	micros, _ := strconv.ParseUint((fraction + "000000")[:6], 10, 32)
	all := []byte{byte(year), byte(year >> 8), byte(month), byte(day), byte(hour), byte(minute), byte(second)}
	all = binary.LittleEndian.AppendUint32(all, uint32(micros))
	switch {
	case micros > 0:
	case hour+minute+second > 0:
		all = all[:7]
	case year+month+day > 0:
		all = all[:4]
	default:
		all = nil
	}
	return append(append(b, byte(len(all))), all...)
}

// appendBinaryTime appends a TIME, with as much of it as is not 0.
func appendBinaryTime(b []byte, v string) []byte {
	negative := strings.HasPrefix(v, "-")
	clock, fraction, _ := strings.Cut(strings.TrimPrefix(v, "-"), ".")
	var hour, minute, second uint64
	_, _ = fmt.Sscanf(clock, "%d:%d:%d", &hour, &minute, &second)
	micros, _ := strconv.ParseUint((fraction + "000000")[:6], 10, 32)
	all := []byte{0}
	if negative {
		all[0] = 1
	}
	all = binary.LittleEndian.AppendUint32(all, uint32(hour/24))
	all = append(all, byte(hour%24), byte(minute), byte(second))
	all = binary.LittleEndian.AppendUint32(all, uint32(micros))
	switch {
	case micros > 0:
	case hour+minute+second > 0:
		all = all[:8]
	default:
		all = nil
	}
	return append(append(b, byte(len(all))), all...)
}
