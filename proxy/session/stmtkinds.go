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

// takes tells whether a statement on a backend, which sessions share, is the client's own for all that the client can see, and notes
// the kinds of its first values. MySQL gives a parameter that nothing else gives a type that of its first value, and converts
// later ones to it, or refuses them: behind SELECT ? with 7 the same with 'x' is 0. So those first values count, the client's and
// the backend's, and not the ones of this execution. After values of another kind it may go by these, so that from then on it is
// that client's statement alone. MySQL manual: "PREPARE Statement", on parameters' types.
func takes(bs *backend.Stmt, st *stmt, ex *execution) bool {
	st.noteKinds(ex)
	if bs.Kinds == nil {
		bs.Kinds = make([]byte, st.params)
	}
	if bs.Mixed != nil {
		return bs.Mixed == st
	}
	for k, first := range bs.Kinds {
		if first != 0 && st.kinds[k] != 0 && first != st.kinds[k] {
			return false
		}
	}
	for k, first := range bs.Kinds {
		switch kind := kindOf(st, ex, k); {
		case first == 0:
			bs.Kinds[k] = kind
		case kind != 0 && kind != first:
			bs.Mixed = st
		}
	}
	return true
}

// noteKinds keeps the kind of each parameter's first value.
func (st *stmt) noteKinds(ex *execution) {
	if st.kinds == nil {
		st.kinds = make([]byte, st.params)
	}
	for k, first := range st.kinds {
		if first == 0 {
			st.kinds[k] = kindOf(st, ex, k)
		}
	}
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
