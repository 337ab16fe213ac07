package value

// Extreme is MIN or MAX. Its memory is the one value kept.
type Extreme struct {
	by     Type
	sign   int // 1 keeps the greatest, -1 the least
	format Format
	some   bool
	key    Key    // of the value kept; what it aliases is in keyBuf
	keyBuf []byte // a copy of the cell compared
	cell   []byte // a copy of the value kept
}

// NewExtreme makes a MAX, or a MIN, of values that are compared by cells of type by.
func NewExtreme(by Type, f Format, greatest bool) (*Extreme, error) {
	if !by.Ordered() {
		return nil, ErrAggregate
	}
	e := &Extreme{by: by, format: f, sign: -1}
	if greatest {
		e.sign = 1
	}
	return e, nil
}

// Reset starts anew.
func (e *Extreme) Reset() { e.some = false }

// Add looks at a value and the cell that it is compared by, which is the value itself where that has an order. Of equal
// values the first is kept. It fails with mysql.ErrMalformedPacket.
func (e *Extreme) Add(c, by Cell) error {
	if c == nil || by == nil {
		return nil
	}
	k, err := e.by.Key(by, e.format)
	if err != nil || e.some && e.by.Compare(&k, &e.key)*e.sign <= 0 {
		return err
	}
	e.some = true
	e.cell = append(e.cell[:0], c...)
	e.keyBuf = append(e.keyBuf[:0], by...)
	e.key = k
	if k.b != nil {
		e.key.b = e.keyBuf
	}
	return nil
}

// Cell gives the value kept, NULL when there was none. It is valid until the next call.
func (e *Extreme) Cell() (Cell, error) {
	if !e.some {
		return nil, nil
	}
	if e.cell == nil {
		e.cell = []byte{} // an empty string is not NULL
	}
	return e.cell, nil
}
