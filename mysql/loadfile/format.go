package loadfile

import "errors"

// Format is what the clauses FIELDS and LINES say. MySQL manual: "LOAD DATA Statement".
type Format struct {
	// FieldsTerminated and LinesTerminated end fields and lines. Without the latter a line is as many fields as are read.
	FieldsTerminated, LinesTerminated string
	// LinesStarting is a prefix: what stands ahead of it does not count.
	LinesStarting string
	// Enclosed and Escaped are one byte or none.
	Enclosed, Escaped string
	// UTF8 says that the file's characters may be of several bytes.
	UTF8 bool
}

// Faults of a format for which there is no Cutter.
var (
	ErrFixed     = errors.New("fields without TERMINATED BY and ENCLOSED BY have a fixed width")
	ErrSeparator = errors.New("ENCLOSED BY and ESCAPED BY are one character at the most")
	ErrNotASCII  = errors.New("separators beyond ASCII")
)

// Check tells why lines of the format cannot be cut; nil if they can.
func (f *Format) Check() error {
	if f.FieldsTerminated == "" && f.Enclosed == "" {
		return ErrFixed
	}
	for _, s := range []string{f.FieldsTerminated, f.LinesTerminated, f.LinesStarting, f.Enclosed, f.Escaped} {
		for k := range len(s) {
			if s[k] >= 0x80 {
				return ErrNotASCII
			}
		}
	}
	if len(f.Enclosed) > 1 || len(f.Escaped) > 1 {
		return ErrSeparator
	}
	return nil
}
