package main

import (
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/lockwaits"
)

// locksHidden lists what the account lacks to be told which changes wait for each other's row locks. Only a primary is asked, where
// there are sharded tables on several nodes.
func locksHidden(i *backend.Instance, cfg *config.Config, databases map[string]map[string][]string) (missing []string, err error) {
	if i.Role != backend.Primary || len(databases) < 2 || len(databases[i.Node]) == 0 {
		return nil, nil
	}
	deadline := time.Now().Add(cfg.ConnectTimeout.Duration())
	c, err := i.OwnUntil(deadline)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	return lockwaits.Missing(c)
}
