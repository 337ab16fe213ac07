package pool

import "time"

// idleList holds the idle connections in the order they came back, and those of each setting in the same order. Every
// operation is O(1).
type idleList[C Conn, K comparable] struct {
	newest, oldest *Pooled[C, K]
	tops           map[K]*Pooled[C, K] // the newest of each setting; settings without an idle connection have no entry
	len            int
}

// push adds pc as the newest. Its Key must not change until it is removed.
func (l *idleList[C, K]) push(pc *Pooled[C, K]) {
	pc.older = l.newest
	if l.newest != nil {
		l.newest.newer = pc
	} else {
		l.oldest = pc
	}
	l.newest = pc
	if top := l.tops[pc.Key]; top != nil {
		pc.keyOlder, top.keyNewer = top, pc
	}
	l.tops[pc.Key] = pc
	l.len++
}

// remove takes pc out, wherever it stands.
func (l *idleList[C, K]) remove(pc *Pooled[C, K]) {
	if pc.newer != nil {
		pc.newer.older = pc.older
	} else {
		l.newest = pc.older
	}
	if pc.older != nil {
		pc.older.newer = pc.newer
	} else {
		l.oldest = pc.newer
	}
	switch {
	case pc.keyNewer != nil:
		pc.keyNewer.keyOlder = pc.keyOlder
	case pc.keyOlder != nil:
		l.tops[pc.Key] = pc.keyOlder
	default:
		delete(l.tops, pc.Key)
	}
	if pc.keyOlder != nil {
		pc.keyOlder.keyNewer = pc.keyNewer
	}
	pc.newer, pc.older, pc.keyNewer, pc.keyOlder = nil, nil, nil, nil
	l.len--
}

// restedAfter is the time after which nobody is taken for missing an idle connection with a setting of its own.
const restedAfter = time.Second

// takeIdleLocked lends the idle connection that suits want best, and tells how well it does. One with another setting is lent, which costs
// the borrower a round trip or two, at the most what a new one costs, unless one with this setting was lent away so not long ago: then there
// may be more settings in use than connections, and a new one is opened, if there are few idle ones. Settings that do not come again, as of
// clients that each set a variable of their own and go, must not fill the pool up to its ceiling.
func (p *Pool[C, K]) takeIdleLocked(want K, mayDial bool, now time.Duration) (*Pooled[C, K], Outcome) {
	if p.idle.len == 0 {
		return nil, 0
	}
	var clean K
	pc, how := p.idle.tops[want], Hit
	if pc == nil {
		pc, how = p.idle.tops[clean], HitClean
	}
	grow := mayDial && p.idle.len < evictedMax && now-p.idle.oldest.idleSince < restedAfter
	if pc == nil && (!grow || !p.evicted.take(want)) {
		pc, how = p.idle.oldest, HitOther
		p.evicted.add(pc.Key)
	}
	if pc != nil {
		p.idle.remove(pc)
		p.lendLocked(pc)
	}
	return pc, how
}
