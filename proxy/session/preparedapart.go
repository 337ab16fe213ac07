package session

import (
	"kingshard/backend"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/process"
	"kingshard/router"
)

// prepareApart prepares a statement of whose tables its node lacks some, as prepareAside does.
func (ss *stmts) prepareApart(q *query, lacks []router.Shard) error {
	switch q.info.Class {
	case sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete:
		if v := ss.client.state.Value("transaction_read_only"); v != "" && v != "0" { // of which temporary tables are exempt
			return newError(KSRefusedSharding, "a change over tables that are each on another node, prepared while transactions only read: send it as text")
		}
	}
	sent := ss.client.conn.Sequence()
	err := ss.onModels(q.node, lacks, func(p backend.Pooled) error { return ss.prepareOn(p, q) })
	switch {
	case err == nil || isSQLError(err):
		return err
	case isClientSide(err):
		return clientEnd(err)
	case ss.client.conn.Sequence() != sent:
		return &endError{process.EndBackendLost, err}
	}
	return backendError(err)
}

// onModels has something done on a connection to a node that has, besides, empty temporary tables like those which it lacks: so its server describes statements on them. The connection
// is closed behind it, and with it go the tables and what was prepared on them.
func (ss *stmts) onModels(n *backend.Node, lacks []router.Shard, do func(backend.Pooled) error) error {
	sh := &ss.exchanges.several().shards
	var create []string
	for _, of := range lacks {
		err := ss.exchanges.leases.aside(ss.client.schema.Nodes[of.Node], func(p backend.Pooled) error {
			inside, err := definitionOf(sh, p, of)
			create = append(create, "CREATE TEMPORARY TABLE "+plainName(of.DB, of.Table)+" "+inside)
			return err
		})
		if err != nil {
			return err
		}
	}
	for attempt := 0; ; attempt++ {
		p, err := ss.exchanges.leases.freshConn(n, nil)
		if err != nil {
			return ss.exchanges.leases.notBorrowed(nil, err)
		}
		restore, err := sh.writable(p)
		if err == nil {
			err = restore(inOneMode(sh, p, func() error {
				for _, sql := range create {
					if err := ss.client.observed.Run(p, ss.client.state.DB(), sql); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		if ss.exchanges.leases.replaces(p, attempt, err) {
			continue
		}
		if err == nil {
			err = do(p)
		}
		p.Taint()
		return err
	}
}
