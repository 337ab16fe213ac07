package session

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"kingshard/mysql"
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
	binary := c.entry.Command() == mysql.ComStmtExecute
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
	b = append(b, 0)
	nulls := len(b)
	b = append(b, make([]byte, (len(row)+9)/8)...)
	for k, v := range row {
		if v == nullText {
			b[nulls+(k+2)/8] |= 1 << ((k + 2) % 8)
			continue
		}
		size := 0
		switch definitions[k].Type {
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
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
			continue
		default:
			b = mysql.AppendLenencString(b, v)
			continue
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			u, _ := strconv.ParseUint(v, 10, 64)
			n = int64(u)
		}
		var all [8]byte
		binary.LittleEndian.PutUint64(all[:], uint64(n))
		b = append(b, all[:size]...)
	}
	return b
}
