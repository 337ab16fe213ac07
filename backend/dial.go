package backend

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"kingshard/config"
)

// dialConfig turns a node's part of the configuration into what its instances share; files are read here.
func dialConfig(cfg *config.Config, nc config.Node) (DialConfig, error) {
	d := DialConfig{
		User:                    nc.User,
		Password:                nc.Password.Reveal(),
		AllowPublicKeyRetrieval: nc.AllowPublicKeyRetrieval,
		AllowedAuthPlugins:      nc.AllowedAuthPlugins,
		MaxAllowedPacket:        int(cfg.MaxAllowedPacket),
		PreparedStmts:           cfg.BackendPreparedStmts,
		TLSPreferred:            nc.TLS.Mode == "preferred",
	}
	var err error
	if d.TLS, err = nc.TLS.Client(); err != nil {
		return d, fmt.Errorf("nodes[%s].tls: %w", nc.Name, err)
	}
	if nc.ServerPublicKey != "" {
		if d.ServerPublicKey, err = readPublicKey(nc.ServerPublicKey); err != nil {
			return d, fmt.Errorf("nodes[%s].server_public_key: %w", nc.Name, err)
		}
	}
	return d, nil
}

func readPublicKey(file string) (*rsa.PublicKey, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", file)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%s holds no RSA key", file)
	}
	return public, nil
}
