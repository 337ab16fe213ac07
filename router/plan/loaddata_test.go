package plan

import (
	"testing"

	"kingshard/mysql"
	"kingshard/router"
)

// TestLoadLeavesTheStatement plans a LOAD DATA without a list of fields by one definition of its table and then by another, as after an ALTER
// TABLE. The parsed statement says the same to both.
func TestLoadLeavesTheStatement(t *testing.T) {
	r := testRouter(t)
	st, err := parse("LOAD DATA LOCAL INFILE 'f' INTO TABLE u", r, mysql8)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		columns string
		key     int
	}{{"id name", 0}, {"age name id", 2}} {
		p, err := Build(st, mysql8, r, "kingshard", func(*router.Table) (columns, invisible []mysql.ColumnDefinition41) {
			return columnsNamed(c.columns), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := p.Operator.(*Load); !ok || len(l.Keys) != 1 || l.Keys[0] != c.key {
			t.Errorf("%s: the key is among the fields %v, want %d", c.columns, l.Keys, c.key)
		}
		if st.Load.Fields != nil {
			t.Errorf("%s: the statement has got the fields %v", c.columns, st.Load.Fields)
		}
	}
}
