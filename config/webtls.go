package config

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// WebTLS reads the files and gives the TLS configuration of web_addr, nil if it speaks none. A certificate that was renewed in its
// files is shown from the next connection on. While the new one cannot be read the old one is shown, and failed, if it is
// not nil, is called with the error, once for each state of the files.
func (c *Config) WebTLS(failed func(err error)) (*tls.Config, error) {
	if c.WebTLSCert == "" {
		return nil, nil
	}
	p := &keyPair{files: [2]string{c.WebTLSCert, c.WebTLSKey}, failed: failed}
	if err := p.read(); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.current(), nil }}, nil
}

// keyPair is a certificate that follows its files.
type keyPair struct {
	files  [2]string // certificate, key
	failed func(err error)

	mu    sync.Mutex
	cert  *tls.Certificate
	state [2]fileState // when the files were read
}

// fileState changes when a file does.
type fileState struct {
	at   time.Time
	size int64
}

// read reads the files. The caller holds mu, or nobody else has p.
func (p *keyPair) read() error {
	p.state = p.look()
	cert, err := readKeyPair(p.files[0], p.files[1])
	if err == nil {
		p.cert = &cert
	}
	return err
}

func (p *keyPair) look() (s [2]fileState) {
	for k, name := range p.files {
		if info, err := os.Stat(name); err == nil {
			s[k] = fileState{info.ModTime(), info.Size()}
		}
	}
	return s
}

// current gives the certificate of the files as they are now.
func (p *keyPair) current() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.look() != p.state {
		if err := p.read(); err != nil && p.failed != nil {
			p.failed(err)
		}
	}
	return p.cert
}
