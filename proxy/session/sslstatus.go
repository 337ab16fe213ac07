package session

import (
	"crypto/tls"
	"strings"

	"kingshard/mysql"
)

// sslStatus answers SHOW STATUS LIKE 'Ssl_cipher' and 'Ssl_version': a client that asks means its own connection, not the
// one to the backend.
func (s *Session) sslStatus(q *query) (handled bool) {
	const longest = 48 // bytes of the longest spelling
	if len(q.text) > longest {
		return false
	}
	f := strings.Fields(strings.ToLower(strings.TrimRight(q.text, "; ")))
	if len(f) == 5 && (f[1] == "session" || f[1] == "local") {
		f = append(f[:1], f[2:]...)
	}
	if len(f) != 4 || f[0] != "show" || f[1] != "status" || f[2] != "like" {
		return false
	}
	var name, value string
	t, _ := s.conn.NetConn().(*tls.Conn)
	switch strings.Trim(f[3], `'"`) {
	case "ssl_cipher":
		name = "Ssl_cipher"
		if t != nil {
			value = tls.CipherSuiteName(t.ConnectionState().CipherSuite)
		}
	case "ssl_version":
		name = "Ssl_version"
		if t != nil {
			value = strings.Replace(tls.VersionName(t.ConnectionState().Version), "TLS ", "TLSv", 1)
		}
	default:
		return false
	}
	s.writeRows([]string{"Variable_name", "Value"}, []mysql.ColumnType{mysql.TypeVarString, mysql.TypeVarString}, [][]string{{name, value}})
	return true
}
