package ddl

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// Bounds of the unfinished records of one user: their number, and the bytes of their texts together.
const (
	recordsMax = 100
	bytesMax   = 16 << 20
)

// The errors of Resume and Forget.
var (
	ErrNone    = errors.New("no unfinished DDL of yours has this id")
	ErrNothing = errors.New("you have no unfinished DDL")
	ErrRunning = errors.New("the DDL runs")
	ErrSeveral = errors.New("you have several unfinished DDL statements: name one by its id")
)

// Journal is the record of DDL that runs or is unfinished. Zero is ready; any goroutine may use it.
type Journal struct {
	mu   sync.Mutex
	last uint64
	runs []*Run // by id
}

// Begin records a statement that starts to run. The journal owns its steps from here on; the texts must not alias buffers.
func (j *Journal) Begin(st Statement) *Run {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	r := &Run{journal: j, id: j.last, started: time.Now(), statement: st, running: true}
	j.runs = append(j.runs, r)
	return r
}

// List gives the records of a user by id, with all those of every user.
func (j *Journal) List(user string, all bool) (entries []Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.runs {
		if all || r.statement.User == user {
			entries = append(entries, r.entry())
		}
	}
	return entries
}

// Unfinished is the number of records whose statement does not run.
func (j *Journal) Unfinished() (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.runs {
		if !r.running {
			n++
		}
	}
	return n
}

// Resume takes a record to run it again: of a user, with all of any; id 0 is the user's only one. The caller ends with End.
func (j *Journal) Resume(id uint64, user string, all bool) (*Run, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if id == 0 {
		for _, r := range j.runs {
			switch {
			case r.running || r.statement.User != user:
			case id != 0:
				return nil, ErrSeveral
			default:
				id = r.id
			}
		}
		if id == 0 {
			return nil, ErrNothing
		}
	}
	r, err := j.findLocked(id, user, all)
	if err != nil {
		return nil, err
	}
	r.running = true
	return r, nil
}

// Forget drops a record: of a user, with all of any.
func (j *Journal) Forget(id uint64, user string, all bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.findLocked(id, user, all); err != nil {
		return err
	}
	j.removeLocked(id)
	return nil
}

// findLocked finds a record that does not run.
func (j *Journal) findLocked(id uint64, user string, all bool) (*Run, error) {
	for _, r := range j.runs {
		if r.id != id || !all && r.statement.User != user {
			continue
		}
		if r.running {
			return nil, ErrRunning
		}
		return r, nil
	}
	return nil, ErrNone
}

func (j *Journal) removeLocked(id uint64) {
	j.runs = slices.DeleteFunc(j.runs, func(r *Run) bool { return r.id == id })
}

// makeRoomLocked drops the oldest unfinished records of a user until the rest is within the bounds.
func (j *Journal) makeRoomLocked(user string) (dropped []uint64) {
	count, bytes := 0, 0
	for _, r := range slices.Backward(slices.Clone(j.runs)) {
		if r.running || r.statement.User != user {
			continue
		}
		count++
		bytes += r.statement.size()
		if count > recordsMax || bytes > bytesMax {
			j.removeLocked(r.id)
			dropped = append(dropped, r.id)
		}
	}
	return dropped
}
