package config

import (
	"crypto/x509"
	"os"
	"testing"
	"time"
)

// A renewed certificate is shown without a reload; files that are half written leave the old one.
func TestWebTLS(t *testing.T) {
	a := newAuthority(t)
	a.leaf(t, "web", "first.example")
	c := &Config{WebTLSCert: a.file("web.pem"), WebTLSKey: a.file("web.key")}
	var failures []error
	conf, err := c.WebTLS(func(err error) { failures = append(failures, err) })
	if err != nil {
		t.Fatal(err)
	}
	host := func() string {
		t.Helper()
		pair, err := conf.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return cert.DNSNames[0]
	}
	touch := func(ahead time.Duration) { // so that the files differ however coarse their times are
		for _, f := range []string{c.WebTLSCert, c.WebTLSKey} {
			if err := os.Chtimes(f, time.Time{}, time.Now().Add(ahead)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := host(); got != "first.example" {
		t.Errorf("shown: %s", got)
	}
	if err := os.WriteFile(c.WebTLSCert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	touch(time.Minute)
	for range 3 {
		if got := host(); got != "first.example" {
			t.Errorf("while the files are broken: %s", got)
		}
	}
	if len(failures) != 1 {
		t.Errorf("told %d times that they are: %v", len(failures), failures)
	}
	a.leaf(t, "web", "second.example")
	touch(2 * time.Minute)
	if got := host(); got != "second.example" {
		t.Errorf("after a renewal: %s", got)
	}
	if conf, err := new(Config).WebTLS(nil); conf != nil || err != nil {
		t.Errorf("without a certificate: %v, %v", conf, err)
	}
}
