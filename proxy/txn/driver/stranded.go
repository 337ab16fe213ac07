package driver

import (
	"fmt"
	"slices"
	"time"

	"kingshard/backend"
	"kingshard/proxy/txn/twophase"
)

// strandedAt is a branch that a replica has prepared and its primary has not.
type strandedAt struct {
	replica string // the address
	xid     twophase.XID
}

// strandings looks for branches that a node's replicas keep prepared for good: what their primary has lost in a crash, or has ended without its binary log. MariaDB's log and
// InnoDB may differ after one. Each locks rows on its replica, and stops that when they change. It is one where the primary does not have it and
// the replica has carried out all that the primary had logged when that was seen. MariaDB Knowledge Base: "MASTER_GTID_WAIT".
func (r *resolving) strandings(n *backend.Node) {
	if !r.d.store.Server(n.Primary.Addr).MariaDB {
		return
	}
	for _, i := range n.Instances() {
		if i.Role == backend.Replica && i.State() != backend.Down {
			r.strandedOn(n, i)
		}
	}
}

// strandedOn looks at one replica. What it cannot ask is asked at the next look.
func (r *resolving) strandedOn(n *backend.Node, i *backend.Instance) {
	deadline := time.Now().Add(adminTimeout)
	c, err := i.OwnUntil(deadline)
	if err != nil {
		return
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	caught := map[string]bool{} // whether the replica has come to a position
	for at, position := range r.stranded {
		if at.replica == i.Addr && !caught[position] {
			wait := ""
			if err := c.Rows("SELECT MASTER_GTID_WAIT('"+position+"', 0)", 1, func(row []string) { wait = row[0] }); err != nil {
				return
			}
			caught[position] = wait == "0"
		}
	}
	// In this order: what the replica has prepared is on the primary, or has ended there.
	replica := &administrator{conn: c}
	has, err := replica.prepared(deadline)
	if err != nil {
		return
	}
	primary, ok := r.prepared(n)
	if !ok {
		return
	}
	left := map[strandedAt]string{}
	for _, p := range has {
		xid, err := twophase.ParseXID(p.FormatID, p.GTRIDLength, p.BQUALLength, p.Data)
		if err != nil || xid.Node != twophase.NodeIDOf(n.Name) || slices.Contains(primary, p) {
			continue
		}
		at := strandedAt{i.Addr, xid}
		position, seen := r.stranded[at]
		switch {
		case !seen:
			if position, ok = r.logged(n); ok {
				left[at] = position
			}
		case caught[position]:
			r.reportStranded(at)
			fallthrough
		default:
			left[at] = position
		}
	}
	for at := range r.stranded {
		if at.replica == i.Addr {
			delete(r.stranded, at)
		}
	}
	for at, position := range left {
		r.stranded[at] = position
	}
}

// logged returns how far the primary of a node has logged.
func (r *resolving) logged(n *backend.Node) (position string, ok bool) {
	admin := r.admin(n)
	if admin == nil {
		return "", false
	}
	admin.conn.Net.SetDeadline(time.Now().Add(adminTimeout))
	if err := admin.conn.Rows("SELECT @@GLOBAL.gtid_binlog_pos", 1, func(row []string) { position = row[0] }); err != nil {
		r.failed(n, err)
		return "", false
	}
	return position, position != ""
}

// reportStranded tells an operator what to do on the replica: that what the node which decides says. Where that cannot be asked now, it is asked at the next look.
func (r *resolving) reportStranded(at strandedAt) {
	answer := r.do(twophase.Action{Do: twophase.DoRead, Node: at.xid.Anchor, XID: at.xid, Row: twophase.Row{Key: at.xid.GTRID.String()}})
	if answer.Result != twophase.OK {
		return
	}
	do := "XA ROLLBACK "
	if answer.Row != nil && answer.Row.State != twophase.Aborted && r.secret.Genuine(*answer.Row) {
		do = "XA COMMIT "
	}
	text := fmt.Sprintf("on the replica %s, by an account that may: SET SESSION sql_log_bin = 0; %s%s", at.replica, do, at.xid)
	if age := time.Now().Unix() - int64(at.xid.Start); answer.Row == nil && age > int64(r.d.timing.Retention.Seconds()) {
		text = fmt.Sprintf("the replica %s has it, and nobody knows any more whether it was committed: make the replica anew", at.replica)
	}
	r.d.report(twophase.Incident{Kind: twophase.IncidentStranded, XID: at.xid, Text: text})
}
