package sqltext

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
