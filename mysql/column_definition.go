package mysql

import (
	"bytes"
	"unsafe"
)

// ColumnType is the type byte of a column or parameter. MySQL manual: "field_types.h".
type ColumnType byte

// The column types.
const (
	TypeDecimal    ColumnType = 0x00
	TypeTiny       ColumnType = 0x01
	TypeShort      ColumnType = 0x02
	TypeLong       ColumnType = 0x03
	TypeFloat      ColumnType = 0x04
	TypeDouble     ColumnType = 0x05
	TypeNull       ColumnType = 0x06
	TypeTimestamp  ColumnType = 0x07
	TypeLongLong   ColumnType = 0x08
	TypeInt24      ColumnType = 0x09
	TypeDate       ColumnType = 0x0a
	TypeTime       ColumnType = 0x0b
	TypeDatetime   ColumnType = 0x0c
	TypeYear       ColumnType = 0x0d
	TypeNewDate    ColumnType = 0x0e
	TypeVarchar    ColumnType = 0x0f
	TypeBit        ColumnType = 0x10
	TypeVector     ColumnType = 0xf2
	TypeJSON       ColumnType = 0xf5
	TypeNewDecimal ColumnType = 0xf6
	TypeEnum       ColumnType = 0xf7
	TypeSet        ColumnType = 0xf8
	TypeTinyBlob   ColumnType = 0xf9
	TypeMediumBlob ColumnType = 0xfa
	TypeLongBlob   ColumnType = 0xfb
	TypeBlob       ColumnType = 0xfc
	TypeVarString  ColumnType = 0xfd
	TypeString     ColumnType = 0xfe
	TypeGeometry   ColumnType = 0xff
)

// Column flags of a definition that the proxy sets itself. MySQL manual: "Column Definition Flags".
const (
	NotNullFlag  uint16 = 1
	UnsignedFlag uint16 = 32
	BinaryFlag   uint16 = 128
	ZerofillFlag uint16 = 64
	EnumFlag     uint16 = 256
	SetFlag      uint16 = 2048
)

// ColumnDefinition41 describes one column of a result or one parameter. MySQL manual: "Protocol::ColumnDefinition41".
type ColumnDefinition41 struct {
	Catalog, Schema, Table, OrgTable, Name, OrgName string
	Charset                                         uint16
	Length                                          uint32
	Type                                            ColumnType
	Flags                                           uint16
	Decimals                                        uint8
}

// Decode reads a definition; strings are parts of one copy. The default value of COM_FIELD_LIST is left out.
func (p *ColumnDefinition41) Decode(payload []byte) error { return p.view(bytes.Clone(payload)) }

// DecodeUnnamed is Decode but for the names, which become empty.
func (p *ColumnDefinition41) DecodeUnnamed(payload []byte) error {
	err := p.view(payload)
	p.Catalog, p.Schema, p.Table, p.OrgTable, p.Name, p.OrgName = "", "", "", "", "", ""
	return err
}

// view is Decode with strings that alias the payload.
func (p *ColumnDefinition41) view(payload []byte) error {
	c := NewCursor(payload)
	for _, s := range [...]*string{&p.Catalog, &p.Schema, &p.Table, &p.OrgTable, &p.Name, &p.OrgName} {
		b := c.LenencBytes()
		*s = unsafe.String(unsafe.SliceData(b), len(b))
	}
	fixed := c.LenencBytes()
	if c.Err() != nil || len(fixed) < 10 {
		return ErrMalformedPacket
	}
	f := NewCursor(fixed)
	p.Charset = f.Uint16()
	p.Length = f.Uint32()
	p.Type = ColumnType(f.Uint8())
	p.Flags = f.Uint16()
	p.Decimals = f.Uint8()
	return f.Err()
}

// AppendTo appends the definition.
func (p *ColumnDefinition41) AppendTo(dst []byte) []byte {
	for _, s := range []string{p.Catalog, p.Schema, p.Table, p.OrgTable, p.Name, p.OrgName} {
		dst = AppendLenencString(dst, s)
	}
	dst = AppendUint16(append(dst, 0x0c), p.Charset)
	dst = AppendUint32(dst, p.Length)
	dst = AppendUint16(append(dst, byte(p.Type)), p.Flags)
	return append(dst, p.Decimals, 0, 0)
}
