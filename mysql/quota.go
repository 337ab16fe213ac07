package mysql

// Quota is what a destination may still be sent of one statement's rows. Without a bound a number is math.MaxUint64.
type Quota struct {
	Rows, Bytes uint64 // packet headers do not count
	// RowsOver and BytesOver are what the destination hears in place of the first row that is too much.
	RowsOver, BytesOver *SQLError
}

// Take takes a row of so many bytes off the quota; what it gives back refuses the row. A nil Quota is without bounds.
func (q *Quota) Take(bytes uint64) *SQLError {
	switch {
	case q == nil:
		return nil
	case q.Rows == 0:
		return q.RowsOver
	case q.Bytes < bytes:
		return q.BytesOver
	}
	q.Rows--
	q.Bytes -= bytes
	return nil
}
