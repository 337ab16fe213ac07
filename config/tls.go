package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// Modes of NodeTLS. MySQL manual: "Command Options for Encrypted Connections", --ssl-mode.
const (
	tlsDisabled       = "disabled"
	tlsPreferred      = "preferred"
	tlsRequired       = "required"
	tlsVerifyCA       = "verify_ca"
	tlsVerifyIdentity = "verify_identity"
)

// Server reads the files and gives the TLS configuration towards clients, nil if TLS is not offered. With CA set a
// client must show a certificate of these authorities.
func (t ServerTLS) Server() (*tls.Config, error) {
	if t.Cert == "" {
		return nil, nil
	}
	cert, err := readKeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if t.MinVersion == "1.3" {
		c.MinVersion = tls.VersionTLS13
	}
	if t.CA != "" {
		if c.ClientCAs, err = readAuthorities(t.CA); err != nil {
			return nil, err
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}

// Client reads the files and gives the TLS configuration towards the node's instances, nil in mode disabled. In mode
// verify_identity without a server_name the caller sets ServerName, in a clone for each instance, to the host it dials;
// left empty, handshakes fail.
func (t NodeTLS) Client() (*tls.Config, error) {
	if t.Mode == "" || t.Mode == tlsDisabled {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.Cert != "" {
		cert, err := readKeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{cert}
	}
	if t.CA != "" {
		roots, err := readAuthorities(t.CA)
		if err != nil {
			return nil, err
		}
		c.RootCAs = roots
	}
	if t.Mode == tlsVerifyIdentity {
		return c, nil
	}
	c.InsecureSkipVerify = true
	if t.Mode == tlsVerifyCA {
		roots := c.RootCAs
		c.VerifyConnection = func(cs tls.ConnectionState) error { return verifyChain(roots, cs) }
	}
	return c, nil
}

// Verifies reports whether the server must show a certificate of an authority that is known.
func (t NodeTLS) Verifies() bool { return t.Mode == tlsVerifyCA || t.Mode == tlsVerifyIdentity }

// verifyChain checks what crypto/tls would but for the host's name.
func verifyChain(roots *x509.CertPool, cs tls.ConnectionState) error {
	if len(cs.PeerCertificates) == 0 || roots == nil {
		return errors.New("tls: the server's certificate cannot be verified")
	}
	opts := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, cert := range cs.PeerCertificates[1:] {
		opts.Intermediates.AddCert(cert)
	}
	_, err := cs.PeerCertificates[0].Verify(opts)
	return err
}

func readKeyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := readFile(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := readFile(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s with %s: %w", certFile, keyFile, err)
	}
	return pair, nil
}

func readAuthorities(file string) (*x509.CertPool, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s holds no PEM certificate", file)
	}
	return pool, nil
}
