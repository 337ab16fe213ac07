package mysql

import (
	"hash/maphash"
	"testing"
)

// The sum of a response is that of what it gives, however it arrives: of rows, counts, ids and codes of errors, not of status, warnings and changes of state.
func TestForwardSum(t *testing.T) {
	seed := maphash.MakeSeed()
	rows := manyRows(500, 30)
	changed := append([][]byte(nil), rows...)
	changed[400] = rowOf(len(rows[400]))
	changed[400][len(rows[400])-1] ^= 1
	same := [][]reply{
		{{affected: 2, insertID: 7, status: autocommit, info: "Rows matched: 2"}, {affected: 2, insertID: 7, status: inTrans, warnings: 3, info: "Rows matched: 2", state: "\x01\x05\x04test"}},
		{{affected: 2, insertID: 7, info: "Rows matched: 3"}},
		{{affected: 3, insertID: 7}},
		{{affected: 2, insertID: 8}},
		{{columns: 2, rows: rows, status: autocommit}, {columns: 2, rows: rows, status: inTrans, warnings: 1, state: "\x02\x01\x31"}},
		{{columns: 2, rows: changed}},
		{{columns: 2, rows: rows[:499]}},
		{{columns: 2}, {columns: 2, warnings: 1}},
		{{columns: 1}},
		{{err: &SQLError{1062, "23000", "Duplicate entry '1' for key 'PRIMARY'"}}, {err: &SQLError{1062, "23000", "Duplicate entry '1' for key 't.PRIMARY'"}}},
		{{err: &SQLError{1213, "40001", "Deadlock"}}},
		{{columns: 2, rows: rows[:3], err: &SQLError{1317, "70100", "interrupted"}}},
	}
	for _, src := range capabilitySets() {
		for _, dst := range capabilitySets() {
			sums := map[uint64]int{}
			for k, replies := range same {
				for _, r := range replies {
					for _, next := range []func() int{nil, func() int { return 7 }, func() int { return 1000 }} {
						var h maphash.Hash
						h.SetSeed(seed)
						from, to := NewConn(&memConn{in: frames(1, r.packets(src)...), next: next}, BackendSide, testCap), NewConn(new(memConn), ClientSide, testCap)
						from.Capabilities, to.Capabilities, from.seq, to.seq = src, dst, 1, 1
						if _, err := ForwardResult(to, from, ForwardOptions{Sum: &h}); err != nil {
							t.Fatal(err)
						}
						if of, known := sums[h.Sum64()]; known && of != k {
							t.Errorf("%v to %v: %d has the sum of %d", src, dst, k, of)
						}
						sums[h.Sum64()] = k
					}
				}
			}
			if len(sums) != len(same) {
				t.Errorf("%v to %v: %d sums", src, dst, len(sums))
			}
		}
	}
}
