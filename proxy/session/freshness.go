package session

import (
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/backend/gtid"
	"kingshard/config"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
)

// Reads may go to replicas, which are behind their primary. At replica_consistency session they go to one that has what the session has changed: of each
// node where that may have been, the session keeps which transactions a replica must have. They are those that the node's primary has told of on all
// connections of the proxy until then, which the session's own are among.

// lastChange is what a session may have changed on a node.
type lastChange struct {
	node string
	// log is that of the primary on which something may have been committed, or is to be; nil where has is all.
	log *backend.GTIDs
	has *gtid.Set
	// unknown says that something else may have been committed there: the primary is to be asked.
	unknown bool
	// unfinished says that a part of what the session has been told is committed may be committed at any time: nobody but the primary knows when.
	unfinished bool
}

// freshness is about what a client's reads must find on replicas.
type freshness struct{ client *client }

// freshness returns the part for reads on replicas.
func (ro *routing) freshness() freshness { return freshness{ro.client} }

// list returns the entries of all nodes, to be changed in place.
func (fr freshness) list() []lastChange {
	if fr.client.lastChanges == nil {
		return nil
	}
	return *fr.client.lastChanges
}

// at returns the entry of a node, nil if the session has changed nothing there.
func (fr freshness) at(node string) *lastChange {
	list := fr.list()
	if k := slices.IndexFunc(list, func(l lastChange) bool { return l.node == node }); k >= 0 {
		return &list[k]
	}
	return nil
}

// of returns the entry of a node, which it makes where there is none.
func (fr freshness) of(node string) *lastChange {
	if l := fr.at(node); l != nil {
		return l
	}
	list := append(fr.list(), lastChange{node: node})
	fr.client.lastChanges = &list
	return &list[len(list)-1]
}

// mayCommit notes that the statement under way may commit something on the primary of a node that has replicas, or, in a transaction, the end of that.
func (fr freshness) mayCommit(node string, log *backend.GTIDs) {
	l := fr.of(node)
	if l.log != nil && l.log != log {
		l.unknown = true // another server has become the primary meanwhile
	}
	l.log = log
}

// uses notes that a statement runs on p; reads says that its text changes nothing.
func (fr freshness) uses(p backend.Pooled, reads bool) {
	if !p.Instance.GTIDs.Replicated.Load() || p.Instance.Role == backend.Replica {
		return
	}
	info := &fr.client.task().query.info
	switch info.Class {
	case sqltext.Begin, sqltext.Commit, sqltext.Rollback, sqltext.RollbackTo, sqltext.Savepoint, sqltext.ReleaseSavepoint:
		return // what they commit was noted when it was changed
	}
	if !reads || !reachesNone(p.Instance.Stored(), info, p.Key.Database()) {
		fr.mayCommit(p.Instance.Node, p.Instance.GTIDs)
	}
}

// defines notes that DDL may commit something on any node, on connections of the proxy's own.
func (fr freshness) defines() {
	for _, n := range fr.client.schema.Nodes {
		if n.Primary.GTIDs.Replicated.Load() {
			fr.mayCommit(n.Name, n.Primary.GTIDs)
		}
	}
}

// failed notes that the client hears an error: a part of the statement may have been committed, of which an error does not tell.
func (fr freshness) failed() {
	list := fr.list()
	for k := range list {
		list[k].unknown = list[k].unknown || list[k].log != nil
	}
}

// unfinished notes that the commit of a node's part of a change may be still to come.
func (fr freshness) unfinished(p backend.Pooled) {
	if p.Instance.GTIDs.Replicated.Load() {
		fr.of(p.Instance.Node).unfinished = true
	}
}

// settle learns what has been committed. It is not called in a transaction, which may commit more.
func (fr freshness) settle() {
	list := fr.list()
	for k := range list {
		l := &list[k]
		if l.log == nil {
			continue
		}
		committed, all := l.log.Committed()
		// What a connection that stays with the session has set may be its trackers, too.
		if l.log = nil; !all || fr.client.txn.Holding() || fr.client.state.Setting().OwnTrackers() {
			l.unknown = true
		} else {
			l.has = l.has.With(committed)
		}
	}
}

// ended is settle behind a command, unless it leaves a transaction open.
func (fr freshness) ended() {
	if fr.client.txn.InTransaction() || fr.client.txn.Branches || fr.client.spread != nil || fr.client.txn.ReadsInTransaction(fr.client.state.Autocommit) {
		return
	}
	fr.settle()
}

// bound says what the replica must have that serves t, a read that a replica may serve, or that it has to go to the primary.
func (fr freshness) bound(t *txn.Target, text string) {
	level := ownReplicaConsistency.value(fr.client)
	switch level {
	case config.ReplicaEventual:
		return
	case config.ReplicaPrimary:
		t.Replica = false
		return
	}
	fr.settle()
	if level == config.ReplicaGlobal {
		var all bool
		if t.After, all = t.Node.Primary.GTIDs.Committed(); !all {
			t.Replica = false
		}
		t.Bound = true
	}
	if l := fr.at(t.Node.Name); l != nil {
		t.Bound = true
		if t.After = t.After.With(l.has); l.unknown || l.unfinished {
			t.Replica, t.Asks = false, l.unknown && t.Node.Primary.GTIDs.Logged()
		}
	}
	if len(text) >= largeText && t.After != nil && !backend.Has(t.Instance(0), t.After) {
		t.Replica = false // a wait in front of it would be long on its way
	}
}

// noGTIDs stands for what is unknown in a text of what replicas must have.
const noGTIDs = "?"

// text writes what replicas must have that serve the session, for another session to take: node=GTIDs, with ';' in between.
func (fr freshness) text() string {
	fr.ended()
	var items []string
	for _, l := range fr.list() {
		has := l.has.String()
		if l.unknown || l.unfinished || l.log != nil {
			has = noGTIDs
		}
		if has != "" {
			items = append(items, l.node+"="+has)
		}
	}
	slices.Sort(items)
	return strings.Join(items, ";")
}

// take adds what a text of text tells of the nodes that the user sees; none, or DEFAULT, has the session forget all. It reports whether it is such a text.
func (fr freshness) take(text string) bool {
	if text == "" || strings.EqualFold(text, "default") {
		fr.client.lastChanges = nil
		return true
	}
	text = strings.Clone(text)
	sets := make(map[string]*gtid.Set)
	for item := range strings.SplitSeq(text, ";") {
		node, has, ok := strings.Cut(item, "=")
		if !ok {
			return false
		}
		var s *gtid.Set
		if has != noGTIDs {
			var err error
			if s, err = gtid.Parse(has, !strings.Contains(has, ":")); err != nil || s == nil {
				return false
			}
		}
		if fr.client.schema.Nodes[node] != nil {
			sets[node] = s
		}
	}
	for node, s := range sets {
		l := fr.of(node)
		l.has, l.unknown = l.has.With(s), l.unknown || s == nil
	}
	return true
}

// lose notes that nobody knows what the session has changed.
func (fr freshness) lose() {
	for node := range fr.client.schema.Nodes {
		fr.of(node).unknown = true
	}
}

// ask has the primary of a node say what it has, on p, where it is not known what the session has changed.
func (fr freshness) ask(p backend.Pooled) error {
	l := fr.at(p.Instance.Node)
	if l == nil || !l.unknown {
		return nil
	}
	s, err := backend.AskGTIDs(p.Conn)
	if err != nil && !isSQLError(err) {
		return err
	}
	if err == nil && s != nil {
		l.has, l.unknown = l.has.With(s), false
	}
	return nil
}
