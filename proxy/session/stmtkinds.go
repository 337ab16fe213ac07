package session

import (
	"kingshard/backend"
	"kingshard/mysql"
)

// Kinds of values of parameters. Values of one kind may follow each other in a statement.
const (
	kindInteger = 1 + iota
	kindFloat
	kindDecimal
	kindDate
	kindDatetime
	kindTime
	kindText
)

// takes tells whether a statement on a backend, which sessions share, can be executed with values of these types, and notes
// them if so. MySQL gives a parameter that nothing else gives a type that of its first value, and converts later ones to it:
// behind SELECT ? with 7 the same with 'x' is 0. MySQL manual: "PREPARE Statement", on parameters' types.
func takes(bs *backend.Stmt, st *stmt, ex *execution) bool {
	if bs.Kinds == nil {
		bs.Kinds = make([]byte, st.params)
	}
	for k, had := range bs.Kinds {
		if kind := kindOf(st, ex, k); kind != 0 && had != 0 && kind != had {
			return false
		}
	}
	for k := range bs.Kinds {
		if kind := kindOf(st, ex, k); kind != 0 {
			bs.Kinds[k] = kind
		}
	}
	return true
}

// kindOf is the kind of a parameter's value, 0 for NULL, which any type has.
func kindOf(st *stmt, ex *execution, k int) byte {
	if _, long := st.long[uint16(k)]; long {
		return kindText
	}
	if ex.bitmap[k/8]&(1<<(k%8)) != 0 {
		return 0
	}
	switch mysql.ColumnType(ex.types[2*k]) {
	case mysql.TypeNull:
		return 0
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeYear, mysql.TypeLong, mysql.TypeInt24, mysql.TypeLongLong:
		return kindInteger
	case mysql.TypeFloat, mysql.TypeDouble:
		return kindFloat
	case mysql.TypeDecimal, mysql.TypeNewDecimal:
		return kindDecimal
	case mysql.TypeDate:
		return kindDate
	case mysql.TypeDatetime, mysql.TypeTimestamp:
		return kindDatetime
	case mysql.TypeTime:
		return kindTime
	}
	return kindText
}
