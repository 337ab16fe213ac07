package console_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Under TLS the cookie is one that browsers send to this host by TLS alone.
func TestTLS(t *testing.T) {
	ca, cert, key, err := mysqltest.WriteCertificates(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, func(text string) string { return text + fmt.Sprintf("web_tls_cert: %s\nweb_tls_key: %s\n", cert, key) })
	data, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data)
	p.transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	p.transport.ForceAttemptHTTP2 = true
	answer, text := p.call("POST", "/console/login", webLogin)
	if answer.StatusCode != http.StatusOK || answer.ProtoMajor != 2 {
		t.Fatalf("%s %d %s", answer.Proto, answer.StatusCode, text)
	}
	c := answer.Cookies()[0]
	if !c.Secure || c.Name != "__Host-kingshard" || !c.HttpOnly {
		t.Errorf("cookie %s", answer.Header.Get("Set-Cookie"))
	}
	if answer, _ := p.call("GET", "/api/v2/nodes", "", "Cookie", c.Name+"="+c.Value); answer.StatusCode != http.StatusOK {
		t.Errorf("with it: %d", answer.StatusCode)
	}
	if answer, _ := p.call("GET", "/api/v2/nodes", "", "Cookie", "kingshard="+c.Value); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("by the name without TLS: %d", answer.StatusCode)
	}
}
