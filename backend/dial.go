package backend

import (
	"fmt"

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
		Unverified:              !nc.TLS.Verifies(),
	}
	var err error
	if d.TLS, err = nc.TLS.Client(); err != nil {
		return d, fmt.Errorf("nodes[%s].tls: %w", nc.Name, err)
	}
	if d.ServerPublicKey, err = nc.PublicKey(); err != nil {
		return d, fmt.Errorf("nodes[%s].server_public_key: %w", nc.Name, err)
	}
	return d, nil
}
