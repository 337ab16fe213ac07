package config

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

const rsaBitsMin = 2048

// RSAKey reads auth_rsa_key, in PKCS #1 or PKCS #8 form; nil if it is not set.
func (c *Config) RSAKey() (*rsa.PrivateKey, error) {
	if c.AuthRSAKey == "" {
		return nil, nil
	}
	block, err := readPEM(c.AuthRSAKey)
	if err != nil {
		return nil, err
	}
	var key any
	if block.Type == "RSA PRIVATE KEY" {
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	} else {
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	private, ok := key.(*rsa.PrivateKey)
	if err != nil || !ok || private.N.BitLen() < rsaBitsMin {
		return nil, fmt.Errorf("%s holds no RSA private key of %d bits or more", c.AuthRSAKey, rsaBitsMin)
	}
	return private, nil
}

// PublicKey reads server_public_key, as MySQL writes public_key.pem; nil if it is not set.
func (n Node) PublicKey() (*rsa.PublicKey, error) {
	if n.ServerPublicKey == "" {
		return nil, nil
	}
	block, err := readPEM(n.ServerPublicKey)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	public, ok := key.(*rsa.PublicKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s holds no RSA public key", n.ServerPublicKey)
	}
	return public, nil
}

func readPEM(file string) (*pem.Block, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", file)
	}
	return block, nil
}
