package twophase

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// family is a kind of server. What the families differ in was measured; TestModelIsReal compares.
type family uint8

const (
	mysqlDetach  family = iota // xa_detach_on_prepare: a prepared branch is nobody's
	mysqlHolding               // the connection that prepared a branch has it
	mariadb                    // as mysqlHolding, but for error numbers and branches without changes
)

// op is a command to a server.
type op uint8

const (
	opSelect1 op = iota
	opBegin
	opCommit
	opRollback
	opXAStart
	opXAEnd
	opXAPrepare
	opXACommit
	opXACommitOne
	opXARollback
	opXARecover
	opAdd      // UPDATE … SET v = v + delta WHERE id = account
	opRead     // SELECT v … WHERE id = account
	opLockRead // … FOR UPDATE
	opSnapshot // START TRANSACTION WITH CONSISTENT SNAPSHOT, and everything read in it
	opClock
	opBranch
	opDecide
	opInsert
	opRowRead
	opRowShare
	opRowPeek
	opMark
	opDelete
	opFinish
	opExpire
	opKill
	opFind
	opList
	opListBranches // of the node cmd.xid.Node
	opPrepare      // opBranch, opXAEnd and opXAPrepare as far as they succeed, of scripts alone
)

// command is one of a connection's.
type command struct {
	op       op
	xid      XID
	account  int
	delta    int
	tag      uint // of opAdd: the transaction, for the bookkeeping of the simulator
	row      Row
	deadline time.Duration
	id       uint64
	server   string
	readonly bool // of opXAStart: nothing
}

// reply is what a server answers.
type reply struct {
	code    uint16
	value   int
	row     *Row
	rows    []Row
	xids    []XID
	applied uint64
	time    time.Duration
	found   bool
}

const (
	accounts    = 3
	modelWait   = 2 * time.Second // innodb_lock_wait_timeout of clients
	modelAdmins = time.Second     // and of Administers
)

type xaState uint8

const (
	xaNone xaState = iota
	xaActive
	xaIdle
	xaPrepared
)

// trx is a transaction of InnoDB.
type trx struct {
	conn     *modelConn // nil when it was prepared and its connection is gone, or was detached
	xa       xaState
	xid      XID
	dead     bool // rolled back as a victim; the connection has not ended it yet
	changed  bool
	balances map[int]int
	applied  uint64
	rows     []string // of dtx, inserted
	locks    []*lock
	waits    *lock
	prepared time.Duration
	wasOpen  bool // the connection that prepared it has gone
}

// lock is that of one row.
type lock struct {
	owner  *trx   // exclusive
	shared []*trx // or these
	queue  []*waiter
}

// free reports whether t may have the lock.
func (k *lock) free(t *trx, share bool) bool {
	if k.owner != nil {
		return k.owner == t
	}
	return share || len(k.shared) == 0 || len(k.shared) == 1 && k.shared[0] == t
}

func (k *lock) give(t *trx, share bool) {
	switch {
	case k.owner == t || share && slices.Contains(k.shared, t):
		return
	case share:
		k.shared = append(k.shared, t)
	default:
		k.owner, k.shared = t, nil
	}
	if !slices.Contains(t.locks, k) {
		t.locks = append(t.locks, k)
	}
}

func (k *lock) drop(t *trx) {
	if k.owner == t {
		k.owner = nil
	}
	k.shared = slices.DeleteFunc(k.shared, func(o *trx) bool { return o == t })
}

type waiter struct {
	t     *trx
	share bool
	do    func(code uint16)
	over  bool
}

// dtxRow is a row of ks_meta.dtx.
type dtxRow struct {
	row   Row
	owner *trx // nil when committed
	done  bool
}

// model is a server.
type model struct {
	l        *loop
	family   family
	name     string
	up       bool
	paused   time.Duration // until when
	held     []*modelConn  // those that have something to do then
	offset   time.Duration // of its clock
	balances [accounts]int
	applied  uint64 // tags of transactions that have changed it and are committed
	dtx      map[string]*dtxRow
	prepared map[XID]*trx
	accLocks [accounts]lock
	dtxLocks map[string]*lock
	conns    map[uint64]*modelConn
	lastID   uint64
	loose    int           // statements that ran outside of the transaction they were for
	lossy    bool          // a crash loses prepared branches
	lost     []XID         // those
	noFences time.Duration // deadlines are not looked at, for a mutation
	badEnd   int           // one decision in so many is answered with an error although it was committed
	badRow   int           // one branch's row in so many is not inserted
}

func newModel(l *loop, f family, name string) *model {
	return &model{l: l, family: f, name: name, up: true, dtx: map[string]*dtxRow{}, prepared: map[XID]*trx{}, dtxLocks: map[string]*lock{}, conns: map[uint64]*modelConn{}}
}

func (m *model) clock() time.Duration { return m.l.now + m.offset }

// modelConn is a connection, as the server has it.
type modelConn struct {
	m      *model
	id     uint64
	admin  bool
	trx    *trx
	queue  []queued
	busy   bool
	closed bool
	waiter *waiter
	gone   func() // the client's end, told that the server has closed it
}

type queued struct {
	c    command
	done func(reply)
}

func (m *model) connect() *modelConn {
	m.lastID++
	c := &modelConn{m: m, id: m.lastID}
	m.conns[c.id] = c
	return c
}

// send queues a command; done is called when the server has done it, and not at all if the connection is closed before.
func (c *modelConn) send(cmd command, done func(reply)) {
	if c.closed {
		return
	}
	c.queue = append(c.queue, queued{cmd, done})
	c.pump()
}

// sendCompound queues commands that end at the first error, whose answer is that of all.
func (c *modelConn) sendCompound(cmds []command, done func(reply)) {
	c.send(cmds[0], func(r reply) {
		if r.code != 0 || len(cmds) == 1 {
			done(r)
			return
		}
		c.sendCompound(cmds[1:], done)
	})
}

func (c *modelConn) pump() {
	for !c.busy && !c.closed && len(c.queue) > 0 {
		if c.m.paused > c.m.l.now {
			c.m.held = append(c.m.held, c)
			return
		}
		q := c.queue[0]
		c.queue = c.queue[1:]
		c.busy = true
		c.m.exec(c, q.c, func(r reply) {
			c.busy = false
			if !c.closed || q.c.op == opKill {
				q.done(r)
			}
		})
	}
}

// pause has the server stand still.
func (m *model) pause(d time.Duration) {
	m.paused = max(m.paused, m.l.now+d)
	m.l.at(m.paused, m.resume)
}

// resume has it go on, unless it is to stand still for longer.
func (m *model) resume() {
	if m.paused <= m.l.now {
		held := m.held
		m.held = nil
		for _, c := range held {
			c.pump()
		}
	}
}

// close is what a server does when a connection ends.
func (c *modelConn) close() {
	if c.closed {
		return
	}
	c.closed = true
	c.queue = nil
	delete(c.m.conns, c.id)
	if c.gone != nil {
		c.gone()
	}
	if c.waiter != nil {
		c.waiter.over = true
		c.waiter.t.waits = nil
		c.waiter = nil
	}
	if t := c.trx; t != nil {
		c.trx = nil
		if t.xa == xaPrepared {
			t.conn, t.wasOpen = nil, true
		} else {
			c.m.undo(t)
		}
	}
}

// crash ends the process: what was prepared is there when it comes back.
func (m *model) crash() {
	m.up = false
	for _, id := range sortedKeys(m.conns) {
		m.conns[id].close()
	}
	if m.lossy {
		for _, x := range m.sortedXIDs() {
			m.lost = append(m.lost, x)
			m.undo(m.prepared[x])
		}
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (m *model) sortedXIDs() []XID {
	list := make([]XID, 0, len(m.prepared))
	for x := range m.prepared {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b XID) int {
		return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.Proxy, b.Proxy), cmp.Compare(a.Node, b.Node))
	})
	return list
}

// undo rolls a transaction back and forgets it.
func (m *model) undo(t *trx) {
	m.rollback(t)
	m.forget(t)
}

func (m *model) rollback(t *trx) {
	for _, key := range t.rows {
		delete(m.dtx, key)
	}
	t.rows, t.balances, t.applied = nil, nil, 0
	m.unlock(t)
}

func (m *model) commit(t *trx) {
	for account, v := range t.balances {
		m.balances[account] = v
	}
	m.applied |= t.applied
	for _, key := range t.rows {
		m.dtx[key].owner = nil
	}
	m.forget(t)
	m.unlock(t)
}

func (m *model) forget(t *trx) {
	if t.xa != xaNone && m.prepared[t.xid] == t {
		delete(m.prepared, t.xid)
	}
	if t.conn != nil && t.conn.trx == t {
		t.conn.trx = nil
	}
}

// unlock gives each lock to the first who waits for it.
func (m *model) unlock(t *trx) {
	locks := t.locks
	t.locks = nil
	for _, k := range locks {
		k.drop(t)
		m.grant(k)
	}
}

func (m *model) grant(k *lock) {
	for len(k.queue) > 0 {
		w := k.queue[0]
		if !w.over && !k.free(w.t, w.share) {
			return
		}
		k.queue = k.queue[1:]
		if w.over {
			continue
		}
		m.stopWaiting(w)
		k.give(w.t, w.share)
		w.do(0)
	}
}

func (m *model) stopWaiting(w *waiter) {
	w.over = true
	w.t.waits = nil
	if w.t.conn != nil {
		w.t.conn.waiter = nil
	}
}

// acquire has do called with 0 when t has the lock, or with the error that it does not get it for.
func (m *model) acquire(t *trx, k *lock, share bool, wait time.Duration, do func(code uint16)) {
	if k.free(t, share) {
		k.give(t, share)
		do(0)
		return
	}
	for o := k.owner; o != nil && o.waits != nil; o = o.waits.owner {
		if o.waits.owner == t { // a deadlock, whose victim is the one who closes the circle
			m.rollback(t)
			t.dead = true
			do(errDeadlock)
			return
		}
	}
	w := &waiter{t: t, share: share, do: do}
	t.waits = k
	t.conn.waiter = w
	k.queue = append(k.queue, w)
	m.l.after(wait, func() {
		if !w.over {
			m.stopWaiting(w)
			do(errLockWait)
		}
	})
}

func (m *model) rowLock(key string) *lock {
	k := m.dtxLocks[key]
	if k == nil {
		k = &lock{}
		m.dtxLocks[key] = k
	}
	return k
}

// visible is a row that is committed, or t's own.
func (m *model) visible(key string, t *trx) *Row {
	d := m.dtx[key]
	if d == nil || d.owner != nil && d.owner != t {
		return nil
	}
	row := d.row
	return &row
}

const (
	errXAInval   = 1398
	errXARMFail  = 1399
	errXAOutside = 1400
	errXADupID   = 1440
)

// exec carries out a command.
func (m *model) exec(c *modelConn, cmd command, done func(reply)) {
	t := c.trx
	state := xaNone
	if t != nil {
		state = t.xa
	}
	code := func(n uint16) { done(reply{code: n}) }
	switch cmd.op {
	case opSelect1:
		code(0)
	case opBegin:
		if state != xaNone {
			code(errXARMFail)
			return
		}
		if t != nil {
			m.commit(t)
		}
		c.trx = &trx{conn: c}
		code(0)
	case opCommit, opRollback:
		switch {
		case state != xaNone:
			code(errXARMFail)
			return
		case t == nil:
		case t.dead || cmd.op == opRollback:
			m.undo(t)
		default:
			m.commit(t)
		}
		code(0)
	case opXAStart, opXAEnd, opXAPrepare, opXACommit, opXACommitOne, opXARollback:
		code(m.xa(c, cmd))
	case opXARecover:
		done(reply{xids: m.sortedXIDs()})
	case opAdd, opLockRead:
		m.change(c, cmd, done)
	case opRead:
		if state == xaIdle || state == xaPrepared {
			code(errXARMFail)
			return
		}
		v := m.balances[cmd.account]
		if t != nil {
			if own, ok := t.balances[cmd.account]; ok {
				v = own
			}
		}
		done(reply{value: v})
	case opSnapshot:
		r := reply{applied: m.applied}
		for _, key := range sortedKeys(m.dtx) {
			if d := m.dtx[key]; d.owner == nil && d.row.State != Aborted {
				r.rows = append(r.rows, d.row)
			}
		}
		done(r)
	case opClock:
		done(reply{time: m.clock()})
	case opBranch:
		if m.badRow > 0 && m.l.chance(m.badRow) {
			code(1114)
			return
		}
		m.insert(c, cmd.row, done)
	case opDecide:
		m.decide(c, cmd, done)
	case opInsert:
		m.insert(c, cmd.row, done)
	default:
		m.administer(c, cmd, done)
	}
}

// dead is what a statement behind a deadlock is answered; 0 is that it runs on its own.
func (m *model) dead(t *trx) uint16 {
	switch {
	case t.xa == xaNone:
		return 0
	case m.family == mariadb:
		return errXARMFail
	}
	return errXADeadlock
}

// change is opAdd and opLockRead.
func (m *model) change(c *modelConn, cmd command, done func(reply)) {
	t := c.trx
	switch {
	case t != nil && t.dead:
		n := m.dead(t)
		if n == 0 {
			m.loose++
		}
		done(reply{code: n})
		return
	case t != nil && (t.xa == xaIdle || t.xa == xaPrepared):
		done(reply{code: errXARMFail})
		return
	}
	own := t == nil
	if own {
		t = &trx{conn: c}
	}
	m.acquire(t, &m.accLocks[cmd.account], false, modelWait, func(code uint16) {
		if code != 0 {
			if own {
				m.unlock(t)
			}
			done(reply{code: code})
			return
		}
		v, ok := t.balances[cmd.account]
		if !ok {
			v = m.balances[cmd.account]
		}
		if cmd.op == opAdd {
			if t.balances == nil {
				t.balances = map[int]int{}
			}
			v += cmd.delta
			t.balances[cmd.account] = v
			t.applied |= 1 << cmd.tag
			t.changed = true
		}
		if own {
			m.commit(t)
		}
		done(reply{value: v})
	})
}

// insert adds a row in the connection's transaction, or in one of its own.
func (m *model) insert(c *modelConn, row Row, done func(reply)) {
	t := c.trx
	if t != nil && (t.xa == xaIdle || t.xa == xaPrepared) {
		done(reply{code: errXARMFail})
		return
	}
	if t != nil && t.dead && t.xa != xaNone {
		done(reply{code: m.dead(t)})
		return
	}
	own, wait := t == nil, modelWait
	if own {
		t, wait = &trx{conn: c}, modelAdmins
	}
	over := func(code uint16) {
		if own && code == 0 {
			m.commit(t)
		} else if own {
			m.unlock(t)
		}
		done(reply{code: code})
	}
	m.acquire(t, m.rowLock(row.Key), m.dtx[row.Key] != nil, wait, func(code uint16) {
		if code != 0 || m.dtx[row.Key] != nil {
			over(cmp.Or(code, uint16(errDuplicate)))
			return
		}
		// Who waited for a row that was rolled back has only shared its lock so far.
		m.acquire(t, m.rowLock(row.Key), false, wait, func(code uint16) {
			switch {
			case code != 0:
			case m.dtx[row.Key] != nil:
				code = errDuplicate
			default:
				m.dtx[row.Key] = &dtxRow{row: row, owner: t}
				t.rows = append(t.rows, row.Key)
				t.changed = true
			}
			over(code)
		})
	})
}

// decide is the procedure ks_decide.
func (m *model) decide(c *modelConn, cmd command, done func(reply)) {
	if c.trx != nil && c.trx.xa != xaNone {
		done(reply{code: errXARMFail})
		return
	}
	if m.noFences == 0 && m.clock() >= cmd.deadline {
		done(reply{code: errNull})
		return
	}
	if c.trx == nil {
		c.trx = &trx{conn: c}
	}
	if c.trx.dead {
		m.loose++
	}
	m.insert(c, cmd.row, func(r reply) {
		if r.code == 0 {
			m.commit(c.trx)
			if m.badEnd > 0 && m.l.chance(m.badEnd) {
				r.code = 1180
			}
		}
		done(r)
	})
}

// xa carries out an XA statement.
func (m *model) xa(c *modelConn, cmd command) uint16 {
	t := c.trx
	own := t != nil && t.xa != xaNone && t.xid == cmd.xid
	switch cmd.op {
	case opXAStart:
		switch {
		case t != nil && t.xa != xaNone:
			return errXARMFail
		case t != nil:
			return errXAOutside
		case m.prepared[cmd.xid] != nil || m.live(cmd.xid):
			return errXADupID
		}
		c.trx = &trx{conn: c, xa: xaActive, xid: cmd.xid}
		return 0
	case opXAEnd:
		switch {
		case t == nil || t.xa != xaActive:
			return errXARMFail
		case !own:
			return errUnknownXID
		case t.dead:
			t.xa = xaIdle
			return m.dead(t)
		}
		t.xa = xaIdle
		return 0
	case opXAPrepare:
		switch {
		case t == nil || t.xa != xaIdle:
			return errXARMFail
		case !own:
			return errUnknownXID
		case t.dead:
			return errXARMFail
		}
		t.xa, t.prepared = xaPrepared, m.l.now
		m.prepared[t.xid] = t
		if m.family == mysqlDetach {
			c.trx, t.conn = nil, nil
		}
		return 0
	case opXACommitOne:
		switch {
		case own && t.xa == xaIdle && t.dead:
			m.undo(t)
			return errXADeadlock
		case own && t.xa == xaIdle:
			m.commit(t)
			return 0
		case t != nil && t.xa != xaNone:
			return errXARMFail
		}
		return errUnknownXID
	}
	return m.endPrepared(c, cmd)
}

// endPrepared is XA COMMIT and XA ROLLBACK of what may be prepared.
func (m *model) endPrepared(c *modelConn, cmd command) uint16 {
	t := c.trx
	switch {
	case t != nil && t.xa == xaNone && m.family == mariadb:
		return errXAOutside
	case t != nil && t.xa == xaNone:
		return errXARMFail
	case t != nil && t.xid != cmd.xid, t != nil && t.xa == xaActive, t != nil && t.xa == xaIdle && cmd.op == opXACommit:
		return errXARMFail
	case t != nil && cmd.op == opXARollback:
		m.undo(t)
		return 0
	case t != nil:
		m.commit(t)
		return 0
	}
	p := m.prepared[cmd.xid]
	switch {
	case p == nil || p.conn != nil:
		return errUnknownXID
	case !p.changed && p.wasOpen && m.family == mariadb:
		m.undo(p)
		return errXARolledBack
	case cmd.op == opXACommit:
		m.commit(p)
	default:
		m.undo(p)
	}
	return 0
}

// live reports whether a connection has the branch and has not prepared it.
func (m *model) live(x XID) bool {
	for _, c := range m.conns {
		if c.trx != nil && c.trx.xa != xaNone && c.trx.xid == x {
			return true
		}
	}
	return false
}

// administer carries out what the proxies' account sends.
func (m *model) administer(c *modelConn, cmd command, done func(reply)) {
	switch cmd.op {
	case opRowRead:
		done(reply{row: m.visible(cmd.row.Key, c.trx)})
	case opRowPeek:
		if d := m.dtx[cmd.row.Key]; d != nil {
			row := d.row
			done(reply{row: &row})
			return
		}
		done(reply{})
	case opRowShare, opMark, opDelete, opFinish:
		t := &trx{conn: c}
		m.acquire(t, m.rowLock(cmd.row.Key), cmd.op == opRowShare, modelAdmins, func(code uint16) {
			r := reply{code: code}
			if code == 0 {
				r.row = m.visible(cmd.row.Key, t)
				m.alter(cmd, r.row)
			}
			m.unlock(t)
			done(r)
		})
	case opExpire:
		for _, key := range sortedKeys(m.dtx) {
			if d := m.dtx[key]; d.done {
				delete(m.dtx, key)
			}
		}
		done(reply{})
	case opKill:
		target := m.conns[cmd.id]
		if target == nil {
			done(reply{code: errNoSuchThread})
			return
		}
		target.close()
		done(reply{})
	case opFind:
		done(reply{found: m.conns[cmd.id] != nil})
	case opList:
		var rows []Row
		for _, key := range sortedKeys(m.dtx) {
			if d := m.dtx[key]; d.owner == nil && !d.done && d.row.State != BranchRow && d.row.Key[:3] == gtridPrefix {
				rows = append(rows, d.row)
			}
		}
		done(reply{rows: rows})
	case opListBranches:
		var rows []Row
		for _, key := range sortedKeys(m.dtx) {
			if d := m.dtx[key]; d.owner == nil && d.row.State == BranchRow && strings.HasPrefix(key, branchPrefix+cmd.xid.Node.String()) {
				rows = append(rows, d.row)
			}
		}
		done(reply{rows: rows})
	}
}

// alter changes a row that is there.
func (m *model) alter(cmd command, row *Row) {
	d := m.dtx[cmd.row.Key]
	switch {
	case row == nil:
	case cmd.op == opMark && row.State == Committed:
		d.row.State = Done
	case cmd.op == opDelete && row.State == cmd.row.State:
		delete(m.dtx, cmd.row.Key)
	case cmd.op == opFinish && row.State == Done:
		d.done = true
	}
}
