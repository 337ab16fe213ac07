package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority issues certificates for the tests of one folder.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a := &authority{dir: t.TempDir(), cert: cert, key: key}
	a.issue(t, "ca", cert, key)
	return a
}

// issue writes name.pem and name.key.
func (a *authority) issue(t *testing.T, name string, template *x509.Certificate, key *ecdsa.PrivateKey) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, a.file(name+".pem"), "CERTIFICATE", der)
	writePEM(t, a.file(name+".key"), "PRIVATE KEY", pkcs8)
}

func (a *authority) leaf(t *testing.T, name, host string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a.issue(t, name, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, key)
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func writePEM(t *testing.T, file, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// handshake runs both sides over a pipe and gives the client's and the server's error.
func handshake(t *testing.T, server, client *tls.Config) (clientErr, serverErr error) {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	deadline := time.Now().Add(30 * time.Second)
	_ = a.SetDeadline(deadline)
	_ = b.SetDeadline(deadline)
	done := make(chan error)
	go func() {
		s := tls.Server(b, server)
		err := s.Handshake()
		if err == nil {
			_, err = s.Write([]byte{1})
		}
		b.Close()
		done <- err
	}()
	c := tls.Client(a, client)
	if clientErr = c.Handshake(); clientErr == nil {
		_, clientErr = c.Read(make([]byte, 1)) // in TLS 1.3 a refused certificate shows only here
	}
	a.Close()
	return clientErr, <-done
}

func TestNodeTLSModes(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	ours.leaf(t, "server", "db1.example")
	theirs.leaf(t, "server", "db1.example")
	for _, c := range []struct {
		mode, name string
		server     *authority
		ok         bool
	}{
		{"required", "", theirs, true},
		{"preferred", "", theirs, true},
		{"verify_ca", "", ours, true},
		{"verify_ca", "other.example", ours, true},
		{"verify_ca", "db1.example", theirs, false},
		{"verify_identity", "db1.example", ours, true},
		{"verify_identity", "other.example", ours, false},
		{"verify_identity", "db1.example", theirs, false},
		{"verify_identity", "", ours, false},
	} {
		server, err := ServerTLS{Cert: c.server.file("server.pem"), Key: c.server.file("server.key")}.Server()
		if err != nil {
			t.Fatal(err)
		}
		client, err := NodeTLS{Mode: c.mode, CA: ours.file("ca.pem"), ServerName: c.name}.Client()
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := handshake(t, server, client); (got == nil) != c.ok {
			t.Errorf("%s for name %q: %v", c.mode, c.name, got)
		}
	}
	for _, mode := range []string{"", "disabled"} {
		if client, err := (NodeTLS{Mode: mode, CA: "absent"}).Client(); client != nil || err != nil {
			t.Errorf("mode %q gives %v, %v", mode, client, err)
		}
	}
}

func TestServerTLS(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	ours.leaf(t, "server", "ks.example")
	ours.leaf(t, "client", "app.example")
	theirs.leaf(t, "client", "app.example")
	plain := ServerTLS{Cert: ours.file("server.pem"), Key: ours.file("server.key"), MinVersion: "1.3"}
	server, err := plain.Server()
	if err != nil {
		t.Fatal(err)
	}
	old := &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}
	if clientErr, serverErr := handshake(t, server, old); clientErr == nil || serverErr == nil {
		t.Error("min_version 1.3 lets 1.2 in")
	}
	plain.MinVersion, plain.CA = "1.2", ours.file("ca.pem")
	if server, err = plain.Server(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		node NodeTLS
		ok   bool
	}{
		{NodeTLS{Mode: "required"}, false},
		{NodeTLS{Mode: "required", Cert: theirs.file("client.pem"), Key: theirs.file("client.key")}, false},
		{NodeTLS{Mode: "required", Cert: ours.file("client.pem"), Key: ours.file("client.key")}, true},
	} {
		client, err := c.node.Client()
		if err != nil {
			t.Fatal(err)
		}
		if clientErr, serverErr := handshake(t, server, client); (clientErr == nil) != c.ok || (serverErr == nil) != c.ok {
			t.Errorf("certificate %q: %v, %v", c.node.Cert, clientErr, serverErr)
		}
	}
	if server, err := (ServerTLS{}).Server(); server != nil || err != nil {
		t.Errorf("without a certificate: %v, %v", server, err)
	}
}

func TestRSAKeys(t *testing.T) {
	dir := t.TempDir()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, filepath.Join(dir, "pkcs8.pem"), "PRIVATE KEY", pkcs8)
	writePEM(t, filepath.Join(dir, "pkcs1.pem"), "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
	writePEM(t, filepath.Join(dir, "public.pem"), "PUBLIC KEY", public)
	for _, name := range []string{"pkcs8.pem", "pkcs1.pem"} {
		c := Config{AuthRSAKey: filepath.Join(dir, name)}
		if got, err := c.RSAKey(); err != nil || !got.Equal(key) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := (Node{ServerPublicKey: filepath.Join(dir, "public.pem")}).PublicKey(); err != nil || !got.Equal(&key.PublicKey) {
		t.Errorf("public key: %v", err)
	}
	if got, err := new(Config).RSAKey(); got != nil || err != nil {
		t.Errorf("no key gives %v, %v", got, err)
	}
}
