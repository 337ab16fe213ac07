package mysqltest

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"kingshard/mysql"
	"kingshard/mysql/auth"
)

func dialScript(t *testing.T, s *ScriptServer, c ClientConfig) *RawClient {
	t.Helper()
	r, err := DialRaw(s.Addr, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// answers is a handler with an answer of every kind.
func answers(c *ScriptConn, cmd mysql.Command, payload []byte) {
	switch text := string(payload); {
	case cmd == mysql.ComStmtPrepare:
		c.Prepared(7, 2, "a", "b")
	case cmd == mysql.ComStmtExecute && payload[4] == 1:
		c.Cursor(Strings("a", "b")...)
	case cmd == mysql.ComStmtExecute:
		c.BinaryRows([]string{"a", "b"}, []any{"x", nil}, []any{nil, 12})
	case cmd == mysql.ComStmtFetch:
		c.BinaryRow("f", nil)
		c.Status |= mysql.ServerStatusLastRowSent
		c.End()
		c.Status &^= mysql.ServerStatusLastRowSent
	case cmd == mysql.ComStmtClose:
	case cmd == mysql.ComFieldList:
		for _, d := range Strings("a", "b") {
			c.Conn.EndPacket(append(d.AppendTo(c.Conn.StartPacket()), 0xfb))
		}
		c.End()
	case cmd == mysql.ComStatistics:
		c.Conn.WritePacket([]byte("Uptime: 1"))
	case cmd == mysql.ComSetOption:
		c.End()
	case text == "rows":
		c.Rows([]string{"n", "s"}, []any{1, "one"}, []any{2, nil}, []any{3, []byte{0xff, 0}})
	case text == "none":
		c.Rows([]string{"n"})
	case text == "wide":
		c.Rows([]string{"n"}, []any{strings.Repeat("w", 1<<24+5)})
	case text == "broken":
		c.Columns(Strings("n")...)
		c.Row(1)
		c.Error(mysql.ERQueryInterrupted, "interrupted")
	case text == "several":
		c.Status |= mysql.ServerMoreResultsExists
		c.OKPacket(mysql.OKPacket{AffectedRows: 3, LastInsertID: 9, Info: []byte("info")})
		c.Rows([]string{"n"}, []any{1})
		c.Status &^= mysql.ServerMoreResultsExists
		c.Rows([]string{"m"}, []any{2})
	case text == "infile":
		content, err := c.LocalInfile("a.csv")
		if err != nil {
			c.Error(mysql.ERUnknown, "%v", err)
			return
		}
		c.OKPacket(mysql.OKPacket{AffectedRows: uint64(len(content))})
	case text == "cut":
		c.Columns(Strings("n")...)
		c.Row(1)
		c.Cut()
	case text == "raw":
		c.Raw([]byte{3, 0, 0, 1, 0xff, 0x51, 4})
	case text == "delay":
		c.Delay(time.Hour)
	case text == "fail":
		c.Error(mysql.ERParse, "near %q", text)
	default:
		c.OK()
	}
}

// TestScriptEveryAnswer runs over all forms that a connection can take.
func TestScriptEveryAnswer(t *testing.T) {
	ca, cert := scriptTLS(t)
	s := StartScript(t, ScriptConfig{
		Handler: answers, TLS: &tls.Config{Certificates: []tls.Certificate{cert}},
		Capabilities: ScriptCapabilities | mysql.ClientCompress | mysql.ClientZstdCompressionAlgorithm | mysql.ClientOptionalResultsetMetadata,
	})
	secure := &tls.Config{RootCAs: ca, ServerName: "127.0.0.1"}
	for name, config := range map[string]ClientConfig{
		"plain":    {},
		"EOF":      {Without: mysql.ClientDeprecateEOF},
		"bare":     {Capabilities: mysql.ClientProtocol41 | mysql.ClientSecureConnection},
		"metadata": {Capabilities: ScriptCapabilities | mysql.ClientOptionalResultsetMetadata, DB: "d"},
		"TLS":      {TLS: secure},
		"zlib":     {Compression: mysql.Zlib, Without: mysql.ClientDeprecateEOF},
		"zstd":     {Compression: mysql.Zstd, TLS: secure},
	} {
		t.Run(name, func(t *testing.T) {
			c := dialScript(t, s, config)
			if c.Conn.Net.Secure() != (config.TLS != nil) {
				t.Error("TLS")
			}
			everyQuery(t, c)
			everyStatement(t, c)
			packets, err := c.Command(mysql.ComStatistics, "")
			if err != nil || string(packets[0]) != "Uptime: 1" {
				t.Errorf("%q, %v", packets, err)
			}
			if packets, err = c.Command(mysql.ComFieldList, "t\x00"); err != nil || len(packets) != 3 {
				t.Errorf("%q, %v", packets, err)
			}
			if packets, err = c.Command(mysql.ComSetOption, "\x00\x00"); err != nil || packets[0][0] != mysql.EOFHeader {
				t.Errorf("%q, %v", packets, err)
			}
		})
	}
}

func everyQuery(t *testing.T, c *RawClient) {
	t.Helper()
	r, err := c.Exec("rows")
	if err != nil || !reflect.DeepEqual(r.Rows, [][]any{{"1", "one"}, {"2", nil}, {"3", "\xff\x00"}}) || !reflect.DeepEqual(r.Names(), []string{"n", "s"}) || r.Status != mysql.ServerStatusAutocommit {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = c.Exec("none"); err != nil || len(r.Columns) != 1 || r.Rows != nil || r.OK != nil || r.Next != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = c.Exec("wide"); err != nil || len(r.Rows[0][0].(string)) != 1<<24+5 {
		t.Errorf("%v", err)
	}
	var se *mysql.SQLError
	if r, err = c.Exec("broken"); !errors.As(err, &se) || se.Code != mysql.ERQueryInterrupted || len(r.Rows) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = c.Query("fail"); err != nil || r.Err.Code != mysql.ERParse || r.Err.State != "42000" {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = c.Exec("several")
	if err != nil || r.OK.AffectedRows != 3 || string(r.OK.Info) != "info" || r.Next.Rows[0][0] != "1" || r.Next.Next.Names()[0] != "m" || r.Next.Next.Next != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = c.Query("infile"); err != nil || r.LocalInfile != "a.csv" {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = c.SendFile(make([]byte, 3<<20)); err != nil || r.OK == nil || r.OK.AffectedRows != 3<<20 {
		t.Errorf("%+v, %v", r, err)
	}
}

func everyStatement(t *testing.T, c *RawClient) {
	t.Helper()
	st, err := c.Prepare("SELECT ?, ?")
	if err != nil || st.StatementID != 7 || len(st.Params) != 2 || len(st.Columns) != 2 || st.Columns[1].Name != "b" {
		t.Fatalf("%+v, %v", st, err)
	}
	r, err := st.Execute(1, nil)
	if err != nil || !reflect.DeepEqual(r.Rows, [][]any{{"x", nil}, {nil, "12"}}) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = st.OpenCursor("y", 2.5); err != nil || len(r.Columns) != 2 || r.Rows != nil || !r.Status.Has(mysql.ServerStatusCursorExists) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = st.Fetch(1); err != nil || !reflect.DeepEqual(r.Rows, [][]any{{"f", nil}}) || !r.Status.Has(mysql.ServerStatusLastRowSent) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := st.Execute(struct{}{}); err == nil {
		t.Error("an argument of no MySQL type accepted")
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

func TestScriptLogins(t *testing.T) {
	ca, cert := scriptTLS(t)
	secure := &tls.Config{RootCAs: ca, ServerName: "127.0.0.1"}
	s := StartScript(t, ScriptConfig{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	passwords := map[string]string{"u": "secret", "empty": ""}
	for _, test := range []struct {
		plugin, switchTo, clientPlugin string
		tls                            *tls.Config
	}{
		{auth.NativePassword, "", "", nil},
		{auth.NativePassword, "", auth.CachingSHA2, nil},
		{auth.NativePassword, auth.Ed25519, "", nil},
		{auth.CachingSHA2, "", "", nil},
		{auth.CachingSHA2, "", auth.NativePassword, secure},
		{auth.CachingSHA2, auth.NativePassword, "", secure},
	} {
		s.Configure(func(c *ScriptConfig) {
			c.Plugin, c.SwitchTo, c.Passwords = test.plugin, test.switchTo, passwords
		})
		for user, password := range map[string]string{"u": "secret", "empty": "", "u ": "secret", "nobody": "secret", "u  ": ""} {
			want, known := passwords[strings.TrimRight(user, " ")]
			ok := known && !strings.HasSuffix(user, " ") && want == password
			c, err := DialRaw(s.Addr, ClientConfig{User: user, Password: password, Plugin: test.clientPlugin, TLS: test.tls})
			var se *mysql.SQLError
			if ok != (err == nil) || err != nil && (!errors.As(err, &se) || se.Code != mysql.ERAccessDenied) {
				t.Errorf("%+v, %q: %v", test, user, err)
			}
			if err == nil {
				c.Close()
			}
		}
		// Anybody with anything.
		s.Configure(func(c *ScriptConfig) { c.Passwords = nil })
		dialScript(t, s, ClientConfig{User: "who", Password: "ever", Plugin: test.clientPlugin, TLS: test.tls})
	}
}

func TestScriptServerSeesTheClient(t *testing.T) {
	s := StartScript(t, ScriptConfig{Version: "5.7.1-x", Passwords: map[string]string{"u": "p", "v": "q"}})
	s.SetHandler(func(c *ScriptConn, _ mysql.Command, _ []byte) {
		c.Rows([]string{"id", "user", "db", "attrs"}, []any{c.ID, c.User, c.DB, c.Response.ConnectAttrs})
	})
	dialScript(t, s, ClientConfig{User: "u", Password: "p"})
	c := dialScript(t, s, ClientConfig{User: "u", Password: "p", DB: "d", ConnectAttrs: map[string]string{"b": "2", "a": "1"}})
	r, err := c.Exec("who")
	if err != nil || !reflect.DeepEqual(r.Rows[0], []any{"2", "u", "d", "\x01a\x011\x01b\x012"}) || c.Greeting.ServerVersion != "5.7.1-x" || c.Greeting.ConnectionID != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := c.ChangeUser("v", "q", "e"); err != nil {
		t.Fatal(err)
	}
	if r, err = c.Exec("who"); err != nil || !reflect.DeepEqual(r.Rows[0][1:3], []any{"v", "e"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if s.Accepted() != 2 || s.Open() != 2 {
		t.Errorf("%d accepted, %d open", s.Accepted(), s.Open())
	}
	commands := s.Commands()
	if !reflect.DeepEqual(s.Queries(), []string{"who", "who"}) || len(commands) != 3 || commands[1].Command != mysql.ComChangeUser || commands[1].Conn != 2 {
		t.Errorf("%+v", commands)
	}
	s.Forget()
	if len(s.Commands()) != 0 {
		t.Error("not forgotten")
	}
	var se *mysql.SQLError
	if err := c.ChangeUser("v", "wrong", ""); !errors.As(err, &se) || se.Code != mysql.ERAccessDenied {
		t.Error(err)
	}
}

func TestScriptBreaksConnections(t *testing.T) {
	s := StartScript(t, ScriptConfig{Handler: answers})
	if _, err := dialScript(t, s, ClientConfig{}).Query("cut"); !errors.Is(err, io.EOF) {
		t.Errorf("cut: %v", err)
	}
	if r, err := dialScript(t, s, ClientConfig{}).Query("raw"); err != nil || r.Err == nil || r.Err.Code != mysql.ERUnknown {
		t.Errorf("raw: %+v, %v", r, err)
	}
	if _, err := dialScript(t, s, ClientConfig{Timeout: 50 * time.Millisecond}).Query("delay"); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("delay: %v", err)
	}
	c := dialScript(t, s, ClientConfig{})
	s.CutAll()
	if _, err := c.Query("rows"); err == nil {
		t.Error("all connections were cut")
	}
	s.Configure(func(c *ScriptConfig) { c.Refuse = mysql.NewSQLError(mysql.ERConCount, "Too many connections") })
	var se *mysql.SQLError
	if _, err := DialRaw(s.Addr, ClientConfig{}); !errors.As(err, &se) || se.Code != mysql.ERConCount {
		t.Errorf("refused: %v", err)
	}
	if _, err := DialRaw(s.Addr, ClientConfig{TLS: &tls.Config{}}); err == nil {
		t.Error("TLS without TLS")
	}
	s.Close()
	if s.Open() != 0 {
		t.Error("connections left behind")
	}
	if _, err := DialRaw(s.Addr, ClientConfig{}); err == nil {
		t.Error("still listening")
	}
}

// TestScriptServerWithAnotherDriver is the opinion of somebody who did not write both sides.
func TestScriptServerWithAnotherDriver(t *testing.T) {
	for _, plugin := range []string{auth.NativePassword, auth.CachingSHA2} {
		s := StartScript(t, ScriptConfig{Handler: answers, Plugin: plugin, Passwords: map[string]string{"u": "p"}, Capabilities: ScriptCapabilities | mysql.ClientCompress})
		for _, compress := range []bool{false, true} {
			config := driver.NewConfig()
			config.User, config.Passwd, config.Net, config.Addr, config.MultiStatements = "u", "p", "tcp", s.Addr, true
			if err := config.Apply(driver.EnableCompression(compress)); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("mysql", config.FormatDSN())
			if err != nil {
				t.Fatal(err)
			}
			checkDriver(t, db)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func checkDriver(t *testing.T, db *sql.DB) {
	t.Helper()
	rows, err := db.Query("rows")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		var n int
		var s sql.NullString
		if err := rows.Scan(&n, &s); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(n, s.String))
	}
	if err := rows.Err(); err != nil || !reflect.DeepEqual(got, []string{"1one", "2", "3\xff\x00"}) {
		t.Errorf("%q, %v", got, err)
	}
	var a, b sql.NullString
	if err := db.QueryRow("SELECT ?, ?", 1, 2).Scan(&a, &b); err != nil || a.String != "x" || b.Valid {
		t.Errorf("%v %v, %v", a, b, err)
	}
	var me *driver.MySQLError
	if _, err := db.Exec("fail"); !errors.As(err, &me) || me.Number != mysql.ERParse {
		t.Error(err)
	}
}

// scriptTLS makes a certificate for 127.0.0.1.
func scriptTLS(t *testing.T) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	ca, cert, key, err := WriteCertificates(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(filepath.Clean(ca))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatal("no certificate")
	}
	return pool, pair
}
