package session

// several are the parts of a session that run statements on several shards, and what is kept of a transaction for a replay.
type several struct {
	recording   recording
	shards      shards
	queries     queries
	changes     changes
	definitions definitions
}

// several returns the parts that most sessions never need.
func (xs *exchanges) several() *several {
	if xs.parts == nil {
		p := new(several)
		c, ef, ls, ro := xs.client, xs.effects, xs.leases, xs.routing
		p.shards = shards{c, ef, ls, xs}
		p.queries = queries{c, ef, ls, ro, xs, &p.shards}
		p.changes = changes{c, ef, ls, ro, &p.shards}
		p.definitions = definitions{c, ef, ls, ro, &p.shards, &p.changes}
		xs.parts = p
	}
	return xs.parts
}
