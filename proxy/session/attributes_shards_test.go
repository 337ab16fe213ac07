package session_test

import (
	"fmt"
	"io"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// attributeStatements read the query attributes who ('c') and nothing, which has none; # stands for a table.
var attributeStatements = []string{
	"SELECT mysql_query_attribute_string('who')", "SELECT id, mysql_query_attribute_string('who') FROM # ORDER BY id", "SELECT id FROM # WHERE name = mysql_query_attribute_string('who')", "SELECT id FROM # WHERE id = 3 AND name = mysql_query_attribute_string('who')",
	"SELECT COUNT(*) FROM # WHERE name = mysql_query_attribute_string('who')", "SELECT GROUP_CONCAT(name) FROM # WHERE name = mysql_query_attribute_string('who')", "SELECT MAX(name) = mysql_query_attribute_string('who') FROM #", "SELECT COUNT(DISTINCT mysql_query_attribute_string('who')) FROM #",
	"SELECT a.id FROM # a JOIN # b ON a.n = b.n + 1 WHERE b.name = mysql_query_attribute_string('who')", "SELECT IFNULL(mysql_query_attribute_string('nothing'), 'none') FROM # WHERE id IN (1, 3)", "SELECT name, COUNT(*) FROM # WHERE name >= mysql_query_attribute_string('who') GROUP BY name ORDER BY name",
	"UPDATE # SET e = 'b' WHERE name = mysql_query_attribute_string('who')", "UPDATE # SET e = 'a' WHERE name <> mysql_query_attribute_string('who')", "SELECT id, e FROM # ORDER BY id", "DELETE FROM # WHERE name > CONCAT(mysql_query_attribute_string('who'), 'zz') AND id > 50",
}

// Query attributes reach every server that a statement goes to, as text and by executions.
func TestAttributesOverShards(t *testing.T) {
	nodes := nodesOf(t, mysqltest.MySQL9)
	for _, server := range append([]*mysqltest.RealServer{mysqltest.Shared(t, mysqltest.MySQL9)}, nodes...) {
		d := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
		if r, err := d.Query("INSTALL COMPONENT 'file://component_query_attributes'"); err != nil || r.Err != nil && r.Err.Code != 3529 {
			t.Fatal(err, r)
		}
	}
	namesRig(t, mysqltest.MySQL9)
	login := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop", Capabilities: mysqltest.ScriptCapabilities | mysql.ClientQueryAttributes}
	one := dial(t, mysqltest.Shared(t, mysqltest.MySQL9).Addr, login)
	login.User, login.Password = "app", "app"
	c := dial(t, startProxyLog(t, fmt.Sprintf(namesConfig, nodes[0].Addr, nodes[1].Addr), io.Discard), login)
	// One attribute: the count, one set, which are NULL, new types, and the value.
	attribute := mysql.AppendLenencString([]byte{byte(mysql.TypeVarString), 0}, "who")
	query := append(append([]byte{1, 1, 0, 1}, attribute...), 1, 'c')
	ask := func(x *mysqltest.RawClient, cmd mysql.Command, body string) string {
		t.Helper()
		packets, err := x.Command(cmd, body)
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Decode(packets, cmd == mysql.ComStmtExecute)
		if err != nil {
			t.Fatal(err)
		}
		return rowsOrError(r)
	}
	refused := 0
	for _, table := range namedTables {
		for _, text := range attributeStatements {
			sql := forTable(text, table)
			for range 3 { // the last ones on a loop
				if w, g := ask(one, mysql.ComQuery, string(query)+sql), ask(c, mysql.ComQuery, string(query)+sql); w != g {
					t.Errorf("%s: %s instead of %s", sql, g, w)
				}
			}
			var answers [2]string
			for k, x := range []*mysqltest.RawClient{one, c} {
				st, err := x.Prepare(sql)
				if err != nil {
					t.Fatal(sql, err)
				}
				b := mysql.AppendUint32(nil, st.StatementID)
				b = append(mysql.AppendUint32(append(b, 8), 1), 1, 0, 1)
				answers[k] = ask(x, mysql.ComStmtExecute, string(append(append(b, attribute...), 1, 'c')))
				st.Close()
			}
			if answers[0] != answers[1] {
				if len(answers[1]) > 10 && answers[1][:10] == "error 9012" {
					refused++
					continue
				}
				t.Errorf("execute %s: %s instead of %s", sql, answers[1], answers[0])
			}
		}
	}
	if refused > 4 {
		t.Error(refused, "refused")
	}
}
