package session_test

import (
	"fmt"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// COM_FIELD_LIST lists the columns of every kind of table as one server does, with the names that the client knows.
func TestFieldList(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c := namesRig(t, kind)
			cases := 0
			for _, where := range []string{"", "BEGIN", "held"} {
				for _, x := range []*mysqltest.RawClient{one, c} {
					switch where {
					case "BEGIN":
						must(t, x, "BEGIN")
						must(t, x, "SELECT id FROM s WHERE id = 1") // on the node that is not the default one
					case "held":
						must(t, x, "COMMIT")
						must(t, x, "SELECT GET_LOCK('fields', 0)")
					}
				}
				for _, table := range []string{"u", "uc", "s", "sc", "r", "rc", "p", "pc", "nothing", "U", ""} {
					for _, pattern := range []string{"", "%", "n%", "i_", "nothing", "name", "%\\_%"} {
						arg := table + "\x00" + pattern
						want, werr := one.Command(mysql.ComFieldList, arg)
						got, gerr := c.Command(mysql.ComFieldList, arg)
						if werr != nil || gerr != nil {
							t.Fatalf("%q: %v, %v", arg, werr, gerr)
						}
						// The last packet has the status, which a held transaction may differ in.
						if w, g := fmt.Sprintf("%q", want[:len(want)-1]), fmt.Sprintf("%q", got[:len(got)-1]); w != g {
							t.Errorf("%s %q: %s instead of %s", where, arg, g, w)
						}
						if w, g := want[len(want)-1], got[len(got)-1]; w[0] != g[0] || w[0] == mysql.ErrHeader && string(w) != string(g) {
							t.Errorf("%s %q ends with %q instead of %q", where, arg, g, w)
						}
						cases++
					}
				}
			}
			for _, x := range []*mysqltest.RawClient{one, c} {
				must(t, x, "SELECT RELEASE_LOCK('fields')")
				must(t, x, "SELECT COUNT(*) FROM u")
			}
			t.Log(cases, "lists")
		})
	}
}
