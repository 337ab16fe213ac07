package indexes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/router"
)

// Options are how an index is built or verified.
type Options struct {
	Nodes map[string]*backend.Node
	// Rate is how many rows a second are read at most; 0: half of the time is left to others.
	Rate int
}

// job is an index that is built or verified.
type job struct {
	s     *States
	x     *router.Index
	o     Options
	links *links
	meta  *backend.Conn
	// counted are the combinations of an index that is not unique which have been looked at.
	counted map[string]bool
}

// batchRows is how many rows are read, and locked, at a time.
const batchRows = 200

// countedMax is how many combinations are remembered, so that their rows are not counted again.
const countedMax = 100_000

// ErrRuns says that another job is at the index.
var ErrRuns = errors.New("another KS INDEX is at it")

// begin begins a job, of which there is one at a time for an index.
func (s *States) begin(ctx context.Context, x *router.Index, o Options) (*job, error) {
	if err := s.Ask(ctx, x.Table, o.Nodes); err != nil {
		return nil, err
	}
	j := &job{s: s, x: x, o: o, links: &links{ctx: ctx, nodes: o.Nodes, conns: map[string]*link{}}, counted: map[string]bool{}}
	var err error
	if j.meta, err = dial(ctx, o.Nodes[x.Table.Nodes[0]]); err != nil {
		return nil, err
	}
	_ = j.meta.Net.SetDeadline(time.Now().Add(askTimeout))
	got := ""
	err = j.meta.Rows("SELECT GET_LOCK('"+j.lock()+"', 1)", 1, func(row []string) { got = row[0] })
	if err == nil && got != "1" {
		err = fmt.Errorf("the index %s of %s.%s: %w", x.Name, x.Table.DB, x.Table.Name, ErrRuns)
	}
	if err != nil {
		j.end()
		return nil, err
	}
	return j, nil
}

// lock is the name of the lock that one job at a time has.
func (j *job) lock() string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(j.x.Table.DB + "\x00" + j.x.Table.Name + "\x00" + j.x.Name)) // which never fails
	return fmt.Sprintf("ks_index_%016x", h.Sum64())
}

func (j *job) end() {
	j.links.close()
	_ = j.meta.Net.SetDeadline(time.Now().Add(askTimeout))
	_ = j.meta.Exec("DO RELEASE_LOCK('" + j.lock() + "')") // a server may take a while to see that the connection is closed
	_ = j.meta.Close()
}

// position is where a build stands in a sub-table.
func (r Record) position() (after []string) {
	_ = json.Unmarshal([]byte(r.After), &after) // what is none is the beginning
	return after
}

// Build makes the tables that keep an index, unless they are there, and gives each row that is there its entry, while clients change rows. It goes on where
// another build has ended. A value that is there twice ends it with a *[Duplicate].
func (s *States) Build(ctx context.Context, x *router.Index, o Options) error {
	j, err := s.begin(ctx, x, o)
	if err != nil {
		return err
	}
	defer j.end()
	r := s.Record(x)
	if r.State == Built {
		return nil
	}
	s.Counts.Builds.Add(1)
	defer s.Counts.Builds.Add(-1)
	if err := j.prepare(&r); err != nil {
		return err
	}
	if r.Shards == 0 && r.After == "" {
		if err := settle(ctx); err != nil {
			return err
		}
		if err := j.outlive(); err != nil {
			return err
		}
		if err := j.empty(); err != nil {
			return err
		}
	}
	for k := r.Shards; k < len(x.Table.Shards); k++ {
		if err := j.fill(k, &r); err != nil {
			return err
		}
	}
	return j.save(&r, Record{State: Built, Done: r.Done, Total: r.Total})
}

// prepare makes the tables and has changes of rows keep the index from now on.
func (j *job) prepare(r *Record) error {
	shard, d, err := j.describe()
	if err != nil {
		return err
	}
	if c, err := j.links.to(shard.Node); err != nil {
		return err
	} else if err := unreferring(c.Conn, shard, j.x); err != nil {
		return err
	}
	of, err := d.Definition(j.x)
	if err != nil {
		return err
	}
	for _, s := range j.x.Lookup.Shards {
		c, err := j.links.to(s.Node)
		if err != nil {
			return err
		}
		texts := []string{of.Create(s)}
		if r.State != Building {
			texts = append([]string{"DROP TABLE IF EXISTS " + quoted(s)}, texts...) // nobody has kept it
		}
		if err := c.run(texts...); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	if r.State == Building {
		return nil
	}
	*r = Record{State: Building}
	for _, node := range j.x.Table.Nodes {
		c, err := j.links.to(node)
		if err != nil {
			return err
		}
		err = c.Rows("SELECT CAST(IFNULL(SUM(TABLE_ROWS), 0) AS UNSIGNED) FROM information_schema.TABLES WHERE "+among(j.x.Table, node), 1, func(row []string) { r.Total += uint64(atoi(row[0])) })
		if err != nil {
			return err
		}
	}
	return j.s.Set(j.links.ctx, j.x, j.o.Nodes, *r)
}

// describe describes a sub-table that is there.
func (j *job) describe() (router.Shard, *Described, error) {
	for _, s := range j.x.Table.Shards {
		c, err := j.links.to(s.Node)
		if err != nil {
			return s, nil, err
		}
		d, err := Describe(c.Conn, s)
		if err != nil || len(d.Columns) > 0 {
			return s, d, err
		}
	}
	return router.Shard{}, nil, fmt.Errorf("the table %s.%s is not there: CREATE TABLE makes its indexes, too", j.x.Table.DB, j.x.Table.Name)
}

// outlive waits for the transactions that may have changed rows, or may be about to by a statement that was sent before proxies knew that the index is kept.
func (j *job) outlive() error {
	for _, node := range j.x.Table.Nodes {
		c, err := dial(j.links.ctx, j.o.Nodes[node])
		if err != nil {
			return err
		}
		err = outliveOn(j.links.ctx, c)
		_ = c.Close()
		if err != nil {
			return fmt.Errorf("node %s: whether transactions of before have ended is not known, for which the proxy's account needs PROCESS: %w", node, err)
		}
	}
	return nil
}

// empty deletes the entries that were made while not all proxies kept the index: who did not may have deleted or changed their rows. From here on every
// change of a row keeps its entry, and what was deleted is given to the rows anew.
func (j *job) empty() error {
	return j.links.atomically("", func() error {
		for _, s := range j.x.Lookup.Shards {
			c, err := j.links.begun(s.Node)
			if err == nil {
				err = c.run("DELETE FROM " + quoted(s))
			}
			if err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
}

func outliveOn(ctx context.Context, c *backend.Conn) error {
	now := ""
	if err := c.Exec("SET time_zone = 'SYSTEM'"); err != nil {
		return err
	}
	if err := c.Rows("SELECT NOW()", 1, func(row []string) { now = row[0] }); err != nil {
		return err
	}
	for {
		_ = c.Net.SetDeadline(time.Now().Add(askTimeout))
		open := false
		err := c.Rows("SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_started < '"+now+"' AND (trx_rows_modified > 0 OR trx_query IS NOT NULL) AND trx_mysql_thread_id <> CONNECTION_ID() LIMIT 1", 1,
			func([]string) { open = true })
		if err != nil || !open {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// fill gives the rows of a sub-table their entries.
func (j *job) fill(position int, r *Record) error {
	s := j.x.Table.Shards[position]
	c, f, err := j.open(s)
	if err != nil || f == nil {
		return err
	}
	after, saved := r.position(), time.Now()
	for {
		began, n := time.Now(), 0
		last := after
		var byPlace map[router.Shard][]*wanted
		err := j.links.atomically(s.Node, func() error {
			if c, err = j.links.begun(s.Node); err != nil {
				return err
			}
			lines, err := f.read(c, s, after, batchRows)
			if err != nil {
				return err
			}
			if n = len(lines); n > 0 {
				last = lines[n-1].order
			}
			if byPlace, err = j.entries(c, f, s, lines); err != nil {
				return err
			}
			_, twice, err := j.compare(f, byPlace, true)
			if err == nil && twice != nil {
				return twice
			}
			return err
		})
		if err != nil {
			return err
		}
		j.remember(byPlace)
		r.Done += uint64(n)
		j.s.Counts.Rows.Add(uint64(n))
		if after = last; n < batchRows {
			break
		}
		if time.Since(saved) > time.Second {
			text, _ := json.Marshal(after) // of texts, which cannot fail
			if err := j.save(r, Record{State: Building, Shards: position, After: string(text), Done: r.Done, Total: r.Total}); err != nil {
				return err
			}
			saved = time.Now()
		}
		if err := j.rest(began, n); err != nil {
			return err
		}
	}
	return j.save(r, Record{State: Building, Shards: position + 1, Done: r.Done, Total: r.Total})
}

// open returns the connection and the shape for a sub-table; none where it is not there.
func (j *job) open(s router.Shard) (*link, *shape, error) {
	c, err := j.links.to(s.Node)
	if err != nil {
		return nil, nil, err
	}
	d, err := Describe(c.Conn, s)
	if err != nil || len(d.Columns) == 0 {
		return nil, nil, err
	}
	f, err := shapeOf(c, j.x, s, d)
	return c, f, err
}

// compare finds the entries that are lacking, or wrong, and writes them, if it is to: an error is of a try that may be made again.
func (j *job) compare(f *shape, byPlace map[router.Shard][]*wanted, repair bool) (lacking []*wanted, twice *Duplicate, err error) {
	for table, all := range byPlace {
		to := j.links.to
		if repair {
			to = j.links.begun
		}
		c, err := to(table.Node)
		if err != nil {
			return nil, nil, err
		}
		conditions := make([]string, len(all))
		for k, one := range all {
			conditions[k] = one.condition(f)
		}
		numbers, err := c.lacking(quoted(table), conditions)
		if err != nil {
			return nil, nil, err
		}
		var here []*wanted
		for _, k := range numbers {
			here = append(here, all[k])
		}
		lacking = append(lacking, here...)
		if repair && len(here) > 0 {
			if twice, err = j.mend(c, f, table, here); twice != nil || err != nil {
				return lacking, twice, err
			}
		}
	}
	return lacking, nil, nil
}

// remember notes that the combinations of entries have been counted while changes of rows keep them.
func (j *job) remember(byPlace map[router.Shard][]*wanted) {
	if j.x.Unique {
		return
	}
	for _, all := range byPlace {
		for _, one := range all {
			if len(j.counted) < countedMax {
				j.counted[one.combination()] = true
			}
		}
	}
}

// save stores how far the build is, unless the index is not built any more.
func (j *job) save(r *Record, next Record) error {
	_ = j.meta.Net.SetDeadline(time.Now().Add(askTimeout))
	n := j.o.Nodes[j.x.Table.Nodes[0]]
	j.meta.Command(mysql.ComQuery, fmt.Sprintf("UPDATE %s SET state = '%s', shards = %d, after = %s, done = %d, total = %d%s AND state = 'building'", table, next.State, next.Shards, literal(next.After), next.Done, next.Total, row(j.x, folds(n))))
	err := j.meta.Flush()
	if err != nil {
		return err
	}
	ok, err := j.meta.ReadChange()
	if err != nil {
		return err
	}
	if ok.AffectedRows == 0 && next != *r {
		return fmt.Errorf("the index %s of %s.%s is not kept any more: it was dropped while it was built, or a proxy runs whose configuration has the table without it", j.x.Name, j.x.Table.DB, j.x.Table.Name)
	}
	*r = next
	j.s.note(map[*router.Index]Record{j.x: next}, time.Now())
	return nil
}

// rest leaves the servers to others for a while, behind n rows.
func (j *job) rest(began time.Time, n int) error {
	took := time.Since(began)
	pause := took
	if j.o.Rate > 0 {
		pause = time.Duration(n)*time.Second/time.Duration(j.o.Rate) - took
	}
	select {
	case <-j.links.ctx.Done():
		return j.links.ctx.Err()
	case <-time.After(max(pause, 0)):
		return nil
	}
}

// Drop has nobody read by an index, then nobody keep it any more, and drops the tables that keep it once all proxies know that. It returns the tables.
func (s *States) Drop(ctx context.Context, x *router.Index, o Options) (dropped []router.Shard, err error) {
	if err := s.Ask(ctx, x.Table, o.Nodes); err != nil {
		return nil, err
	}
	if s.Record(x).State == Built {
		// Who reads by it until he hears of that must find the rows of all others.
		if err := s.Set(ctx, x, o.Nodes, Record{State: Building}); err != nil {
			return nil, err
		}
		if err := settle(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.Set(ctx, x, o.Nodes, Record{State: Missing}); err != nil {
		return nil, err
	}
	if err := settle(ctx); err != nil {
		return nil, err
	}
	if err := gone(ctx, x, o.Nodes); err != nil {
		return nil, err
	}
	return x.Lookup.Shards, nil
}

// gone drops the tables that keep an index.
func gone(ctx context.Context, x *router.Index, nodes map[string]*backend.Node) error {
	l := &links{ctx: ctx, nodes: nodes, conns: map[string]*link{}}
	defer l.close()
	for _, shard := range x.Lookup.Shards {
		c, err := l.to(shard.Node)
		if err == nil {
			err = c.run("DROP TABLE IF EXISTS " + quoted(shard))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", shard, err)
		}
	}
	return nil
}
