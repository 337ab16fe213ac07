package session

import "kingshard/router"

// packetOfLines is how many bytes of lines make up a packet to a server.
const packetOfLines = 32 << 10

// open starts a shard's statement on its node's connection, which runs none.
func (l *loading) open(p *part) (request []byte, err error) {
	loan := p.lane.loan
	l.s.effects.reachOn(loan, p.query.Text)
	loan.Started(l.s.client.id, l.s.client.observed.ShardSpan(loan.Instance, l.s.client.state.DB(), p.query.Text))
	request, err = loan.Conn.RequestFile(p.query.Text)
	if err != nil {
		loan.Ended(err)
	} else {
		p.lane.open = p
	}
	return request, err
}

// add gives a shard a line. It is sent when there are enough for a packet and the shard's statement is the one that reads,
// or when the shard's turn has come.
func (l *loading) add(p *part, line []byte) error {
	p.waiting = append(p.waiting, line...)
	l.waits += len(line)
	switch {
	case len(p.waiting) < packetOfLines:
		return nil
	case p.lane.open == p:
		return l.send(p)
	case len(p.waiting) < l.turn:
		return nil
	}
	return l.takeTurn(p)
}

// takeTurn ends the statement that reads on the shard's connection and starts the shard's own.
func (l *loading) takeTurn(p *part) error {
	if p.lane.open != p {
		if err := l.end(p.lane); err != nil {
			return err
		}
		if _, err := l.open(p); err != nil {
			return err
		}
	}
	return l.send(p)
}

// send sends what waits for a shard whose statement reads. The server takes it as fast as it can: the wait for it is the
// client's.
func (l *loading) send(p *part) error {
	c := p.lane.loan.Conn
	for rest := p.waiting; len(rest) > 0; {
		n := min(len(rest), packetOfLines)
		c.WritePacket(rest[:n])
		rest = rest[n:]
	}
	l.waits -= len(p.waiting)
	p.waiting = p.waiting[:0]
	return c.Flush()
}

// end ends the statement that reads on a connection, if there is one, and adds up what it did.
func (l *loading) end(way *lane) error {
	p := way.open
	if p == nil {
		return nil
	}
	way.open = nil
	if l.failure == nil {
		if err := l.send(p); err != nil {
			return err
		}
	}
	ok, err := way.loan.Conn.EndFile()
	way.loan.Ended(err)
	if err != nil || l.failure != nil {
		return err
	}
	if l.c.copies && l.first {
		l.one, l.where = countOf(&ok), way.loan.Node
	} else if l.c.copies && countOf(&ok) != l.one {
		return l.c.cameApart(l.plan, l.where, way.loan.Node)
	}
	counts := l.plan.Target.Table.Kind != router.Reference || l.first
	if ok.Warnings > 0 && counts {
		had := len(l.s.client.state.Diagnostics.Warnings)
		if err := l.s.client.addWarnings(way.loan.Pooled, renames(l.plan, p.query.Shards)); err != nil {
			return err
		}
		if !l.first {
			ok.Warnings -= l.s.client.state.Diagnostics.DropRepeated(had, l.s.client.mode().MariaDB)
		}
	}
	if counts {
		addChange(&l.total, ok)
	}
	l.first = false
	return nil
}

// endAll lets every shard load what waits for it, and ends all statements; after a failure it only ends them. The failure of
// a connection comes before others.
func (l *loading) endAll() (err error) {
	note := func(one error) {
		if one != nil && (err == nil || isConnError(one)) {
			err = one
		}
		if l.failure == nil {
			l.failure = one
		}
	}
	for _, p := range l.parts {
		if p != nil && l.failure == nil && len(p.waiting) > 0 {
			note(l.takeTurn(p))
		}
	}
	for _, p := range l.parts {
		if p != nil {
			note(l.end(p.lane))
		}
	}
	return err
}
