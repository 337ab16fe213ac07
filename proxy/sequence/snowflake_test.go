package sequence

import (
	"database/sql"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// snowflakesOn makes the table shop.t, with two sub-tables on one server, whose ids are made of the time.
func snowflakesOn(t *testing.T, s *mysqltest.RealServer) *Table {
	table := tableOn(t, s, 1, mysqltest.User, mysqltest.Password)
	table.Snowflake = true
	return table
}

// Several processes draw at the same time: no id comes twice, those of a statement follow each other, and each process has a number of its own.
func TestSnowflakes(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		const processes, clients, each, rows = 3, 4, 200, 30
		var mu sync.Mutex
		seen, numbers := map[uint64]bool{}, map[uint64]bool{}
		var wg sync.WaitGroup
		var all [processes]Sequences
		began := time.Now()
		for k := range processes {
			table := snowflakesOn(t, s)
			for range clients {
				wg.Go(func() {
					last := uint64(0)
					for range each {
						first := draw(t, all[k].Of(table), table, rows, plain)
						if first <= last {
							t.Errorf("behind %d comes %d", last, first)
						}
						last = first + rows - 1
						mu.Lock()
						for id := first; id <= last; id++ {
							if seen[id] {
								t.Errorf("%d comes twice", id)
							}
							seen[id] = true
						}
						_, number := timeOf(first)
						numbers[number] = true
						mu.Unlock()
					}
				})
			}
		}
		wg.Wait()
		if len(numbers) != processes {
			t.Errorf("%d processes have %d numbers", processes, len(numbers))
		}
		for id := range seen {
			ms, _ := timeOf(id)
			if at := time.UnixMilli(int64(ms) + snowflakeEpoch); at.Before(began.Add(-5*time.Second)) || at.After(time.Now().Add(5*time.Second)) {
				t.Fatalf("%d is of %v, now it is %v", id, at, time.Now())
			}
		}
		for k := range all {
			if list := all[k].List(); len(list) != 1 || list[0].Drawn != clients*each*rows || list[0].Blocks != 1 || list[0].Kind != "snowflake" {
				t.Errorf("a process says %+v", list)
			}
		}
	})
}

// A statement has ids that follow each other, with the client's spacing, up to those of a millisecond.
func TestSnowflakesOfOneStatement(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		table := snowflakesOn(t, s)
		var all Sequences
		q := all.Of(table)
		for _, n := range []int{1, 4095, 4096, 4096} {
			first := draw(t, q, table, n, plain)
			ms, number := timeOf(first)
			if lastMS, lastNumber := timeOf(first + uint64(n) - 1); lastMS != ms || lastNumber != number {
				t.Errorf("%d ids from %d on are of two milliseconds", n, first)
			}
		}
		if first := draw(t, q, table, 300, Spacing{10, 3}); first%10 != 3 {
			t.Errorf("spaced by 10 from 3 on comes %d", first)
		}
		for n, s := range map[int]Spacing{4097: plain, 500: {10, 3}} {
			err := q.Fill(table, n, s, time.Now().Add(time.Second), nil)
			if refused, is := err.(*mysql.SQLError); !is || refused.Code != 9022 || !strings.Contains(refused.Message, "fewer rows") {
				t.Errorf("%d ids: %v", n, err)
			}
		}
		q.Saw(table, 1<<62, plain)
		q.Relearn(table)
		q.Doubt()
		if first := draw(t, q, table, 1, plain); first > 1<<61 {
			t.Errorf("behind one that a client brought comes %d", first)
		}
		if err := q.Set(table, 5, true, time.Now().Add(time.Second)); err != ErrSnowflake {
			t.Errorf("set: %v", err)
		}
		run(t, db, "ALTER TABLE shop.t_0 MODIFY id INT AUTO_INCREMENT", "ALTER TABLE shop.t_1 MODIFY id INT AUTO_INCREMENT")
		var late Sequences
		err := late.Of(table).Fill(table, 1, plain, time.Now().Add(10*time.Second), nil)
		if refused, is := err.(*mysql.SQLError); !is || refused.Code != 9022 || !strings.Contains(refused.Message, "must be BIGINT") {
			t.Errorf("an INT column: %v", err)
		}
	})
}

// leased returns the number of a process, the first millisecond that it may use, and the one that ends its lease.
func leased(w *worker) (number, from, until uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.number, w.from, w.until
}

// Numbers stay with who has them: through a clock that goes back, and through a server that takes another's place and lacks rows.
func TestWorkerNumbers(t *testing.T) {
	onServers(t, func(t *testing.T, s *mysqltest.RealServer, db *sql.DB) {
		table := snowflakesOn(t, s)
		var all Sequences
		q := all.Of(table)
		before := draw(t, q, table, 1, plain)
		number, _, until := leased(q.worker)
		// The server's clock was ten minutes ahead until now.
		q.worker.mu.Lock()
		q.worker.base += 600_000
		q.worker.mu.Unlock()
		ahead := draw(t, q, table, 1, plain)
		if ms, _ := timeOf(ahead); ahead <= before || ms < until {
			t.Errorf("behind %d comes %d", before, ahead)
		}
		if n, _, further := leased(q.worker); n != number || further < until+500_000 {
			t.Errorf("number %d until %d became %d until %d", number, until, n, further)
		}
		// Another process gets another number, by the clock as it is.
		var second Sequences
		other := second.Of(table)
		id := draw(t, other, table, 1, plain)
		if n, _, _ := leased(other.worker); n == number {
			t.Errorf("two processes have the number %d", n)
		}
		if id >= ahead {
			t.Errorf("%d is as far ahead as %d", id, ahead)
		}
		// A server takes the place, which lacks the second process's row.
		taken, _, end := leased(other.worker)
		run(t, db, "DELETE FROM ks_meta.sequence WHERE name = '"+workerRow(taken)+"'", "UPDATE ks_meta.sequence SET server = 77 WHERE name = 'workers'")
		var third Sequences
		late := third.Of(table)
		draw(t, late, table, 1, plain)
		if _, from, _ := leased(late.worker); from < end {
			t.Errorf("a process begins at %d, and another's lease ends at %d", from, end)
		}
		other.worker.mu.Lock()
		other.worker.at = "another"
		other.worker.mu.Unlock()
		other.mu.Lock()
		other.at = "another"
		other.mu.Unlock()
		if again := draw(t, other, table, 1, plain); again <= id {
			t.Errorf("behind %d comes %d", id, again)
		}
		var got []uint64
		for _, q := range []*Sequence{q, other, late} {
			n, _, _ := leased(q.worker)
			got = append(got, n)
		}
		if slices.Sort(got); len(slices.Compact(got)) != 3 {
			t.Errorf("three processes have the numbers %v", got)
		}
		run(t, db, "UPDATE ks_meta.sequence SET `next` = 1 << 41 WHERE name LIKE 'worker %'")
		var none Sequences
		run(t, db, "INSERT IGNORE INTO ks_meta.sequence (db, name, `next`) SELECT '', CONCAT('worker ', a.n + 32 * b.n), 1 << 41 FROM "+
			"(WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < 31) SELECT n FROM c) a, (WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < 31) SELECT n FROM c) b")
		err := none.Of(table).Fill(table, 1, plain, time.Now().Add(10*time.Second), nil)
		if refused, is := err.(*mysql.SQLError); !is || refused.Code != 9022 || !strings.Contains(refused.Message, "all 1024 worker numbers") {
			t.Errorf("without a free number: %v", err)
		}
	})
}
