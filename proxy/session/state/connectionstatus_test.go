package state

import (
	"net"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// compressed returns a client's connection that is compressed, or not.
func compressed(t *testing.T, algorithm mysql.Compression) *mysql.Conn {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	c := mysql.NewConn(near, mysql.ClientSide, 1<<20)
	if algorithm != mysql.NoCompression {
		if err := c.StartCompression(algorithm, 3); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// SHOW STATUS is told by its words, and its rows by their names.
func TestStatusRows(t *testing.T) {
	for text, want := range map[string]bool{"SHOW STATUS": true, "show session status like 's%'": true, "SHOW GLOBAL STATUS": true, "SHOW LOCAL STATUS": true, "SHOW TABLES": false, "SHOW FULL STATUS": false} {
		if got := ShowsStatus(text, sqltext.Mode{}); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	values := ConnectionStatus(compressed(t, mysql.Zlib))
	if values["compression"] != "ON" || values["compression_algorithm"] != "zlib" || values["ssl_cipher"] != "" {
		t.Errorf("%v", values)
	}
	if values := ConnectionStatus(compressed(t, mysql.NoCompression)); values["compression"] != "OFF" || values["compression_algorithm"] != "" {
		t.Errorf("%v", values)
	}
	row := func(texts ...string) (b []byte) {
		for _, text := range texts {
			b = mysql.AppendLenencString(b, text)
		}
		return b
	}
	for _, c := range []struct {
		binary    bool
		row, want []byte
	}{
		{false, row("Compression", "OFF"), row("Compression", "ON")}, {false, row("Uptime", "5"), row("Uptime", "5")},
		{true, append([]byte{0, 0}, row("Compression", "OFF")...), append([]byte{0, 0}, row("Compression", "ON")...)},
	} {
		r := &StatusRows{Values: values, Binary: c.binary}
		if got, err := r.Row([]byte("x"), c.row); err != nil || string(got) != "x"+string(c.want) {
			t.Errorf("%q becomes %q, %v", c.row, got, err)
		}
	}
	if _, err := (&StatusRows{Values: values}).Row(nil, []byte{9, 'x'}); err == nil {
		t.Error("a row that is cut off is taken")
	}
}

// The table of status variables has the client's own where it is one, and the names and aliases of the text stay.
func TestStatusTable(t *testing.T) {
	c := compressed(t, mysql.Zlib)
	for text, want := range map[string]string{
		"SELECT * FROM performance_schema.session_status":                     "SELECT * FROM (…) AS session_status",
		"SELECT * FROM `performance_schema`.`session_status` AS s WHERE 1":    "SELECT * FROM (…) AS s WHERE 1",
		"SELECT * FROM performance_schema.session_status s, d.session_status": "SELECT * FROM (…) s, d.session_status",
		"SELECT session_status.a FROM session_status WHERE 1":                 "SELECT session_status.a FROM (…) AS session_status WHERE 1",
		"SELECT 'session_status'":                                             "SELECT 'session_status'",
		"WITH session_status AS (SELECT 1) SELECT * FROM session_status":      "WITH session_status AS (SELECT 1) SELECT * FROM session_status",
		"SELECT 1": "SELECT 1",
	} {
		got := StatusTable(text, sqltext.Mode{}, "performance_schema", c)
		if from := strings.Index(got, "(SELECT VARIABLE_NAME"); from >= 0 {
			_, behind, _ := strings.Cut(got, ".session_status)")
			got = got[:from] + "(…)" + behind
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	const text = "SELECT * FROM session_status"
	if got := StatusTable(text, sqltext.Mode{}, "d", c); got != text {
		t.Errorf("a table of another database: %s", got)
	}
	if got := StatusTable(text, sqltext.Mode{}, "performance_schema", compressed(t, mysql.NoCompression)); got != text {
		t.Errorf("the servers' own values are right: %s", got)
	}
	if GreetingCollation("gbk") != 28 || GreetingCollation("nobody's") != 45 {
		t.Error("collations of the greeting")
	}
}
