package sqltext

import "iter"

// Split gives the statements of a text one by one, with positions in the whole text. An empty statement between two ';'
// is one of class Empty, as the server takes it. The last is the one after which no other is certain to begin: one that is
// not SplitSafe covers the rest.
func Split(sql string, m Mode) iter.Seq[Info] {
	return func(yield func(Info) bool) {
		for pos := 0; ; {
			s := scanner{sql: sql, l: lexerAt(sql, pos, m), maria: m.MariaDB}
			i := s.run()
			if !yield(i) || !i.Has(Multi) || !SplitSafe(i) {
				return
			}
			pos = i.Next
		}
	}
}
