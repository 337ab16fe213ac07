package mysql

// ParameterCountAvailable is the execute flag that says that a parameter count follows. MySQL manual: "COM_STMT_EXECUTE".
const ParameterCountAvailable = 0x08

// SkipBinaryValue passes over one value of the binary protocol, of type t. Where it is cut off, c has an error. MySQL manual: "Binary Protocol Value".
func SkipBinaryValue(c *Cursor, t ColumnType) {
	switch t {
	case TypeNull:
	case TypeTiny:
		c.Bytes(1)
	case TypeShort, TypeYear:
		c.Bytes(2)
	case TypeLong, TypeInt24, TypeFloat:
		c.Bytes(4)
	case TypeLongLong, TypeDouble:
		c.Bytes(8)
	case TypeDate, TypeDatetime, TypeTimestamp, TypeTime:
		c.Bytes(int(c.Uint8()))
	default:
		c.LenencBytes()
	}
}
