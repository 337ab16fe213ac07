package session

import (
	"slices"

	"kingshard/mysql"
)

// utf8mb4General is the collation id of the proxy's own result columns.
const utf8mb4General = 45

// binaryCollation is the collation id of numbers.
const binaryCollation = 63

// writeRows queues a text result set of the proxy's own.
func (s *Session) writeRows(names []string, types []mysql.ColumnType, rows [][]string) {
	b := mysql.AppendLenenc(s.conn.StartPacket(), uint64(len(names)))
	if s.conn.Capabilities.Has(mysql.ClientOptionalResultsetMetadata) {
		b = append(b, 1)
	}
	s.conn.EndPacket(b)
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
		s.conn.EndPacket(def.AppendTo(s.conn.StartPacket()))
	}
	if !s.conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
		eof := mysql.EOFPacket{Status: s.status()}
		s.conn.EndPacket(eof.AppendTo(s.conn.StartPacket()))
	}
	for _, row := range rows {
		b := s.conn.StartPacket()
		for _, v := range row {
			if v == nullText {
				b = append(b, 0xfb)
				continue
			}
			b = mysql.AppendLenencString(b, v)
		}
		s.conn.EndPacket(b)
	}
	s.conn.WriteEnd(&mysql.OKPacket{Status: s.status()})
}

// nullText marks a NULL in the proxy's own rows; no value of theirs is a zero byte alone.
const nullText = "\x00"
