package value

import (
	"errors"

	"kingshard/mysql"
)

// Errors of aggregates.
var (
	// ErrAggregate says that a column's type is not one that the function's parts can have.
	ErrAggregate = errors.New("column cannot be aggregated")
	// ErrRange says that a result has more digits than a server computes with, or does not fit into 64 bits.
	ErrRange = errors.New("aggregate is out of range")
)

// Sum adds up the cells of a column of type DECIMAL, exactly, or DOUBLE. NULLs are passed over, and a sum of nothing else
// is NULL.
type Sum struct {
	t      Type
	format Format
	some   bool // a cell was not NULL
	double float64
	// Amounts of either sign are added up apart, which leaves one subtraction to the end.
	plus, minus fixed
	out         []byte
}

// NewSum makes a sum of a column of that type and rows of that format.
func NewSum(t Type, f Format) (*Sum, error) {
	if t.class != classDecimal && t.class != classFloat {
		return nil, ErrAggregate
	}
	return &Sum{t: t, format: f}, nil
}

// Reset starts a new sum.
func (s *Sum) Reset() {
	s.some, s.double = false, 0
	s.plus, s.minus = fixed{}, fixed{}
}

// Add adds a cell. It fails with mysql.ErrMalformedPacket or ErrRange.
func (s *Sum) Add(c Cell) error {
	if c == nil {
		return nil
	}
	s.some = true
	if s.t.class == classFloat {
		v, ok := s.t.float(c, s.format)
		if !ok {
			return mysql.ErrMalformedPacket
		}
		s.double += v
		return nil
	}
	if !IsDecimal(c) {
		return mysql.ErrMalformedPacket
	}
	into := &s.plus
	negative, whole, fraction := splitDecimal(c)
	if negative {
		into = &s.minus
	}
	if !into.add(whole, fraction) {
		return ErrRange
	}
	return nil
}

// Cell gives the sum as a cell of the column. It is valid until the next call.
func (s *Sum) Cell() (Cell, error) {
	if !s.some {
		return nil, nil
	}
	if s.t.class == classFloat {
		s.out = s.t.appendDouble(s.out[:0], s.double, s.format)
		return s.out, nil
	}
	total, negative := s.total()
	var ok bool
	s.out, ok = total.decimalText(s.out[:0], negative, int(s.t.decimals), fractionLimbs*limbDigits)
	if !ok {
		return nil, ErrRange
	}
	return s.out, nil
}

// total gives amount and sign of a decimal sum.
func (s *Sum) total() (amount fixed, negative bool) {
	if s.plus.less(&s.minus) {
		return s.minus.minus(&s.plus), true
	}
	return s.plus.minus(&s.minus), false
}
