package differential

import (
	"fmt"
	"reflect"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// TestRenumbering wants ids to stand for others only where as many were drawn, in their order.
func TestRenumbering(t *testing.T) {
	for _, tt := range []struct {
		oracle, subject []uint64
		want            renumbering
	}{
		{[]uint64{7, 8}, []uint64{7, 8}, nil},
		{[]uint64{8, 7}, []uint64{9, 12}, renumbering{"9": "7", "12": "8"}},
		{[]uint64{7, 8, 9}, []uint64{7, 8}, nil}, // the tables differ then
		{nil, nil, nil},
	} {
		if got := pair(tt.oracle, tt.subject); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%v and %v: %v", tt.oracle, tt.subject, got)
		}
	}
	n := renumbering{"9": "7"}
	r := &mysqltest.RawResult{OK: &mysql.OKPacket{LastInsertID: 9}, Next: &mysqltest.RawResult{Columns: make([]mysql.ColumnDefinition41, 2), Rows: [][]any{{"9", nil}, {"8", "19"}}}}
	n.answer(r)
	if got := fmt.Sprint(r.OK.LastInsertID, r.Next.Rows); got != "7 [[7 <nil>] [8 19]]" {
		t.Error(got)
	}
}
