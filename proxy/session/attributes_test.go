package session_test

import (
	"fmt"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// The query attributes of an execution reach a server that knows of them, whatever parameters there are, and not the next execution.
func TestAttributesOfExecution(t *testing.T) {
	server := mysqltest.Shared(t, mysqltest.MySQL9)
	makeDatabases(t, server, "accept")
	direct := dial(t, server.Addr, accept())
	if r, err := direct.Query("INSTALL COMPONENT 'file://component_query_attributes'"); err != nil || r.Err != nil && r.Err.Code != 3529 {
		t.Fatal(err, r)
	}
	addr := startProxy(t, server, 2)
	login := accept()
	login.Capabilities = mysqltest.ScriptCapabilities | mysql.ClientQueryAttributes
	const asked = "mysql_query_attribute_string('who'), mysql_query_attribute_string('n')"
	execute := func(c *mysqltest.RawClient, params int, named, null bool) string {
		t.Helper()
		text := "SELECT " + asked
		for range params {
			text += ", ? + 1"
		}
		st, err := c.Prepare(text)
		if err != nil {
			t.Fatal(err)
		}
		count := params
		if named {
			count += 2
		}
		b := mysql.AppendUint32(nil, st.StatementID)
		b = mysql.AppendUint32(append(b, 8), 1) // PARAMETER_COUNT_AVAILABLE
		b = mysql.AppendLenenc(b, uint64(count))
		if count > 0 {
			bitmap := make([]byte, (count+7)/8)
			if null {
				bitmap[params/8] |= 1 << (params % 8)
			}
			b = append(append(b, bitmap...), 1)
			for range params {
				b = append(b, byte(mysql.TypeTiny), 0, 0)
			}
			if named {
				b = mysql.AppendLenencString(append(b, byte(mysql.TypeVarString), 0), "who")
				b = mysql.AppendLenencString(append(b, byte(mysql.TypeLong), 0), "n")
			}
			for k := range params {
				b = append(b, byte(k))
			}
			if named {
				if !null {
					b = mysql.AppendLenencString(b, "me")
				}
				b = mysql.AppendUint32(b, 4711)
			}
		}
		packets, err := c.Command(mysql.ComStmtExecute, string(b))
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Decode(packets, true)
		if err != nil || r.Err != nil {
			t.Fatal(err, r)
		}
		return fmt.Sprint(r.Rows)
	}
	own, through := dial(t, server.Addr, login), dial(t, addr, login)
	seen := map[string]bool{}
	for _, params := range []int{0, 1, 6, 7, 8, 9} {
		for _, named := range []bool{true, false} {
			for _, null := range []bool{false, named} {
				want := execute(own, params, named, null)
				if got := execute(through, params, named, null); got != want {
					t.Errorf("%d parameters, attributes %v, NULL %v: %s, a connection of its own says %s", params, named, null, got, want)
				}
				seen[want] = true
			}
		}
	}
	if len(seen) < 18 {
		t.Errorf("only %d different answers", len(seen))
	}
}
