package session

import (
	"errors"
	"math"
	"slices"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn"
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

// lacks tells whether a statement on a backend has not had the values that the client's began with, while those of this execution are of
// other kinds.
func lacks(bs *backend.Stmt, st *stmt, ex *execution) bool {
	st.noteKinds(ex)
	if bs.Mixed != nil {
		return false
	}
	for k, first := range st.kinds {
		if kind := kindOf(st, ex, k); first != 0 && kind != 0 && kind != first && (bs.Kinds == nil || bs.Kinds[k] == 0) {
			return true
		}
	}
	return false
}

// prime executes a query on a backend with values of the kinds that the client's first ones had, which gives its parameters their types, and
// drops what comes of it: the client's own executions were on other connections.
func (xs *exchanges) prime(p backend.Pooled, bs *backend.Stmt, st *stmt) error {
	first := &stmt{params: st.params}
	ex := &execution{bitmap: make([]byte, (st.params+7)/8)}
	for k, kind := range st.kinds {
		t, v := sample(kind)
		if v == nil {
			ex.bitmap[k/8] |= 1 << (k % 8)
		}
		ex.types = append(ex.types, byte(t), 0)
		ex.values = append(ex.values, v...)
	}
	xs.sendExecution(p, bs, first, ex)
	if err := p.Conn.Flush(); err != nil {
		return err
	}
	var sqlErr *mysql.SQLError
	if _, err := p.Conn.SkipResponse(math.MaxInt); err != nil && !errors.As(err, &sqlErr) {
		return err
	}
	bs.Kinds = slices.Clone(st.kinds)
	return nil
}

// sample gives a value of a kind, encoded, and its type; nil for NULL. MySQL manual: "Binary Protocol Value".
func sample(kind byte) (mysql.ColumnType, []byte) {
	switch kind {
	case kindInteger:
		return mysql.TypeLongLong, make([]byte, 8)
	case kindFloat:
		return mysql.TypeDouble, make([]byte, 8)
	case kindDecimal:
		return mysql.TypeNewDecimal, []byte("\x010")
	case kindDate:
		return mysql.TypeDate, []byte{4, 0xd0, 0x07, 1, 1} // 2000-01-01
	case kindDatetime:
		return mysql.TypeDatetime, []byte{4, 0xd0, 0x07, 1, 1}
	case kindTime:
		return mysql.TypeTime, []byte{0}
	case kindText:
		return mysql.TypeVarString, []byte{0}
	}
	return mysql.TypeNull, nil
}

// pinMixed keeps the connection for a statement that values of several kinds have made the client's own there.
func (xs *exchanges) pinMixed(bs *backend.Stmt, st *stmt) {
	if bs.Mixed == st && !st.mixed {
		st.mixed = true
		xs.client.txn.MixedStmts++
		xs.client.txn.Pin(txn.PinParameterTypes)
	}
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
