package session

import (
	"kingshard/mysql/sqlparse"
	"kingshard/router/plan"
)

// idsDefined has the sequences of a statement's tables go by what it did: emptied and dropped tables begin at 1 again, and AUTO_INCREMENT = n has
// ids begin at n. A failure leaves ids that are larger than they had to be.
func (ds *definitions) idsDefined(p *plan.Plan) {
	d := p.Statement.Definition
	restarts := p.Statement.Kind == sqlparse.TruncateKind || d != nil && d.Verb == sqlparse.DropTable
	if !restarts && (d == nil || d.AutoIncrement == 0) {
		return
	}
	deadline, cancel := ds.client.entry.Now().Add(ds.client.snap.Config.PoolWaitTimeout.Duration()), ds.client.entry.Cancelled()
	for _, r := range p.Refs {
		if len(r.Table.Shards) < 2 {
			continue
		}
		t := ds.routing.sequenceTable(r.Table)
		q := ds.client.shared.Sequences.Of(t)
		var err error
		if restarts {
			err = q.Restart(t, deadline)
		} else {
			err = q.Begin(t, d.AutoIncrement, deadline, cancel)
		}
		if err != nil {
			ds.client.shared.Log.Warn("the ids of a table do not begin where its definition says", "conn", ds.client.id, "table", t.DB+"."+t.Name, "error", err)
		}
	}
}
