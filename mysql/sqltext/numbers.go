package sqltext

import "math"

// numbersMin is the length in bytes from which on a list of numbers is worth remembering.
const numbersMin = 512

// Numbers is where in a text the longest list of whole numbers lies that Classify passed over, if it is long: most of a text with such a
// list is in it. Zero is none.
type Numbers struct{ from, stop int32 }

// keep remembers a run that the function numbers gave for a number that ends at from, if it is the longest.
func (n *Numbers) keep(from, stop int) {
	if length := stop - from; length >= numbersMin && length > int(n.stop-n.from) && stop <= math.MaxInt32 {
		*n = Numbers{int32(from), int32(stop)}
	}
}

// AppendNormal is the function AppendNormal for the text that Classify gave n for. It does not read the list again.
func (n Numbers) AppendNormal(dst []byte, sql string, m Mode, max int) []byte {
	return appendNormal(dst, sql, m, max, n)
}

// numbers is what a run of whole numbers between commas is passed over in, behind a number that ends at end: lists of ids are
// long. It stops behind the last one that is certain to be one, with a byte behind it: pos and end are that number's, minus says
// that it has a sign. pos is 0 if there is none.
func numbers(sql string, end int) (pos, stop int, minus bool) {
	for stop = end; ; {
		k := stop
		if k >= len(sql) || sql[k] != ',' {
			return pos, stop, minus
		}
		if k++; k < len(sql) && sql[k] == ' ' {
			k++
		}
		signed := k < len(sql) && sql[k] == '-'
		if signed {
			k++
		}
		from := k
		for k < len(sql) && sql[k]-'0' < 10 {
			k++
		}
		if k == from || k == len(sql) || isIdent(sql[k]) || sql[k] == '.' {
			return pos, stop, minus
		}
		pos, stop, minus = from, k, signed
	}
}
