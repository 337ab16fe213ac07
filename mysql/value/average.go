package value

// Average is AVG from the sums and counts of parts.
type Average struct {
	t      Type // of the result
	format Format
	sum    *Sum
	count  *Count
	out    []byte
}

// AverageTypes are the types of the columns of an Average.
type AverageTypes struct{ Result, Sum, Count Type }

// NewAverage makes an average of rows of that format. Result and sum are both DECIMAL or both DOUBLE.
func NewAverage(types AverageTypes, f Format) (*Average, error) {
	sum, err := NewSum(types.Sum, f)
	if err != nil {
		return nil, err
	}
	count, err := NewCount(types.Count, f)
	if err != nil {
		return nil, err
	}
	if types.Result.class != types.Sum.class {
		return nil, ErrAggregate
	}
	return &Average{t: types.Result, format: f, sum: sum, count: count}, nil
}

// Reset starts a new average.
func (a *Average) Reset() {
	a.sum.Reset()
	a.count.Reset()
}

// Add adds a part; it fails as Sum.Add and Count.Add do.
func (a *Average) Add(sum, count Cell) error {
	if err := a.sum.Add(sum); err != nil {
		return err
	}
	return a.count.Add(count)
}

// Cell gives the average as a cell of the result column: NULL when nothing was counted. It is valid until the next call.
func (a *Average) Cell() (Cell, error) {
	if a.count.n == 0 || !a.sum.some {
		return nil, nil
	}
	if a.t.class == classFloat {
		a.out = a.t.appendDouble(a.out[:0], a.sum.double/float64(a.count.n), a.format)
		return a.out, nil
	}
	total, negative := a.sum.total()
	quotient := total.divide(uint64(a.count.n))
	from, to := int(a.sum.t.decimals), int(a.t.decimals)
	var ok bool
	a.out, ok = quotient.decimalText(a.out[:0], negative, to, quotientDigits(from, to))
	if !ok {
		return nil, ErrRange
	}
	return a.out, nil
}

// quotientDigits is how many digits behind the point the servers compute before they round an average to those it shows.
// They divide in words of nine digits and cut off there, so an average whose digits end with a word is not rounded at all:
// that of 0.00001 and 0.00000 and 0.00001 is 0.000006666.
func quotientDigits(sumScale, resultScale int) int {
	words := func(n int) int { return (n + limbDigits - 1) / limbDigits * limbDigits }
	whole := words(sumScale)
	return words(whole + max(0, resultScale-whole))
}
