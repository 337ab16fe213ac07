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

// takeIdleLocked lends the idle connection that suits want best, and tells how well it does. A connection with another
// setting is lent only if none can be opened, or if it was not used for a while: as clients come and go, each beginning with another
// setting than it goes on with, there would be no end of opening.
func (p *Pool[C, K]) takeIdleLocked(want K, mayDial bool, now time.Duration) (*Pooled[C, K], Outcome) {
	if p.idle.len == 0 {
		return nil, 0
	}
	var clean K
	pc, how := p.idle.tops[want], Hit
	if pc == nil {
		pc, how = p.idle.tops[clean], HitClean
	}
	if pc == nil && (!mayDial || now-p.idle.oldest.idleSince >= restedAfter) {
		pc, how = p.idle.oldest, HitOther
	}
	if pc != nil {
		p.idle.remove(pc)
		pc.state = lent
	}
	return pc, how
}
