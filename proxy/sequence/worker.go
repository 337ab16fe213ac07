package sequence

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/kserror"
)

// worker is a worker number that this process leases from a node. It is a row of the table of sequences, without a database: its next is the
// millisecond that ends what was leased, its owner the process.
type worker struct {
	owner string

	leasing sync.Mutex // one at a time
	had     bool       // the rows are there; of leasing

	mu     sync.Mutex
	number uint64
	// ids may have the milliseconds from from on, ahead of until; an until of 0: nothing is leased.
	from, until uint64
	// base is what the clock showed at read.
	base uint64
	read time.Time
	at   string // address of the server that has the row
}

const (
	// leaseFor is how many milliseconds a number is leased ahead: as long as nobody can reach the node, ids go on.
	leaseFor = 60_000
	// leaseRest is how long a number stays its last owner's when its lease is over: longer than a replica is late that takes the server's place.
	leaseRest = 3_600_000
)

// nowLocked is the server's clock as far as this process knows it: it never goes back.
func (w *worker) nowLocked() uint64 {
	if w.read.IsZero() {
		return 0
	}
	return w.base + uint64(time.Since(w.read).Milliseconds())
}

// runsOut reports whether it is time to lease ahead.
func (w *worker) runsOut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nowLocked()+leaseFor/2 > w.until
}

// lease leases ahead where it is time to, which leased tells.
func (w *worker) lease(node *backend.Node, deadline time.Time) (leased bool, err error) {
	w.leasing.Lock()
	defer w.leasing.Unlock()
	at := node.Primary.Addr
	if w.mu.Lock(); w.at == at && w.nowLocked()+leaseFor/2 <= w.until {
		w.mu.Unlock()
		return false, nil
	}
	w.mu.Unlock()
	err = onPrimary(node, deadline, func(c *backend.Conn) error { return w.on(c) })
	if refused := new(mysql.SQLError); errors.As(err, &refused) && refused.Code != erAutoincFailed && refused.Code != kserror.Sequence {
		return false, kserror.New(kserror.Sequence, fmt.Sprintf("worker numbers of snowflake ids are leased in %s.sequence on node %s, which refuses it: %s", sqltext.ProxySchema, node.Name, refused.Message))
	} else if err != nil {
		return false, err
	}
	w.mu.Lock()
	w.at = at
	w.mu.Unlock()
	return true, nil
}

// serverClock is the server's clock in milliseconds since the epoch, whatever the time zone.
var serverClock = fmt.Sprintf("(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 - %d)", uint64(snowflakeEpoch))

// on leases ahead on a connection to the node's primary: the number that the process has, or another one.
func (w *worker) on(c *backend.Conn) error {
	if err := makeTable(c); err != nil {
		return err
	}
	w.mu.Lock()
	number, now, until := w.number, w.nowLocked(), w.until
	w.mu.Unlock()
	if until > 0 && now < until+leaseRest {
		if kept, err := w.extend(c, number, now, 0); kept || err != nil {
			return err
		}
	}
	from, err := w.tookOver(c)
	if err != nil {
		return err
	}
	free, err := freeNumbers(c)
	if err != nil {
		return err
	}
	for _, k := range rand.Perm(len(free)) {
		_, err := change(c, fmt.Sprintf("INSERT IGNORE INTO %s.sequence (db, name, `next`) VALUES ('', '%s', 0)", sqltext.ProxySchema, workerRow(free[k])))
		if err == nil {
			_, err = change(c, fmt.Sprintf("UPDATE %s.sequence SET owner = '%s', `next` = %s WHERE db = '' AND name = '%s' AND `next` + %d < %s",
				sqltext.ProxySchema, w.owner, serverClock, workerRow(free[k]), leaseRest, serverClock))
		}
		if err != nil {
			return err
		}
		if got, err := w.extend(c, free[k], from, from); got || err != nil {
			return err
		}
	}
	return kserror.New(kserror.Sequence, fmt.Sprintf("all %d worker numbers of snowflake ids are leased: one is free an hour after its last use", workers))
}

// workerRow is the name of a number's row.
func workerRow(number uint64) string { return "worker " + strconv.FormatUint(number, 10) }

// extend leases a number ahead that is the process's, which kept tells: beyond the server's clock, and beyond the millisecond now. A number that it
// did not have gives ids from from on, and from the server's clock.
func (w *worker) extend(c *backend.Conn, number, now, from uint64) (kept bool, err error) {
	row := fmt.Sprintf(" WHERE db = '' AND name = '%s' AND owner = '%s'", workerRow(number), w.owner)
	if _, err := change(c, fmt.Sprintf("UPDATE %s.sequence SET `next` = GREATEST(`next`, %s + %d, %d)%s", sqltext.ProxySchema, serverClock, leaseFor, now+leaseFor, row)); err != nil {
		return false, err
	}
	until, clock := uint64(0), uint64(0)
	err = c.Rows("SELECT `next`, "+serverClock+" FROM "+sqltext.ProxySchema+".sequence"+row, 2, func(fields []string) {
		kept = true
		until, _ = strconv.ParseUint(fields[0], 10, 64)
		clock, _ = strconv.ParseUint(fields[1], 10, 64)
	})
	if err != nil || !kept {
		return false, err
	}
	if until>>timeBits > 0 {
		return false, errExhausted()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.number != number || w.until == 0 {
		w.from = max(clock, from)
	}
	w.base, w.read = max(clock, w.nowLocked()), time.Now()
	w.number, w.until = number, until
	w.had = true
	return true, nil
}

// tookOver returns the millisecond from which on another number may be used: where the server took another's place, behind all that may have been
// leased on that.
func (w *worker) tookOver(c *backend.Conn) (from uint64, err error) {
	const row = " WHERE db = '' AND name = 'workers'"
	began := "0"
	if w.had {
		began = serverClock // the server lacks what was there
	}
	for _, statement := range []string{
		fmt.Sprintf("INSERT IGNORE INTO %s.sequence (db, name, `next`, server) VALUES ('', 'workers', %s, @@server_id)", sqltext.ProxySchema, began),
		fmt.Sprintf("UPDATE %s.sequence SET `next` = IF(server = @@server_id, `next`, %s), server = @@server_id%s", sqltext.ProxySchema, serverClock, row),
	} {
		if _, err := change(c, statement); err != nil {
			return 0, err
		}
	}
	err = c.Rows("SELECT `next` FROM "+sqltext.ProxySchema+".sequence"+row, 1, func(fields []string) {
		if at, _ := strconv.ParseUint(fields[0], 10, 64); at > 0 {
			from = at + leaseFor
		}
	})
	return from, err
}

// freeNumbers lists those that nobody has leased for some time.
func freeNumbers(c *backend.Conn) (free []uint64, err error) {
	taken := map[string]bool{}
	err = c.Rows(fmt.Sprintf("SELECT name FROM %s.sequence WHERE db = '' AND name LIKE 'worker %%' AND `next` + %d >= %s", sqltext.ProxySchema, leaseRest, serverClock), 1, func(fields []string) {
		taken[fields[0]] = true
	})
	for number := range uint64(workers) {
		if !taken[workerRow(number)] {
			free = append(free, number)
		}
	}
	return free, err
}
