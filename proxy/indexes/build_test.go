package indexes_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/value"
	"kingshard/proxy/indexes"
	"kingshard/router"
	"kingshard/router/rule"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// rig is a server that stands for two nodes, so that a transaction may change a row and its entries.
type rig struct {
	t      *testing.T
	db     *sql.DB
	nodes  map[string]*backend.Node
	table  *router.Table
	states indexes.States
}

// rigKeys are the keys over shards of the table.
const rigKeys = "unique: [{columns: email, strings: utf8mb4_general_ci_v1}], lookup: [city]"

// configured is a configuration of the server as two nodes, whose table has the keys.
func configured(t *testing.T, addr, keys string) *config.Config {
	t.Helper()
	text := "addr: 127.0.0.1:9696\nuser_list:\n- {user: app, password: sesame}\nnodes:\n"
	for _, name := range []string{"n1", "n2"} {
		text += fmt.Sprintf("- {name: %s, user: root, password: root, master: %q}\n", name, addr)
	}
	c, faults := config.Parse([]byte(text+`schema_list:
- user: app
  nodes: [n1, n2]
  default: n1
  shard:
  - {db: indexed, table: users, key: id, nodes: [n1, n2], type: mod, locations: [1, 1], `+keys+`}
`), "", config.Options{})
	if c == nil {
		t.Fatal(faults)
	}
	return c
}

// ruled is the table as a configuration has it.
func ruled(t *testing.T, c *config.Config) *router.Table {
	t.Helper()
	routes, err := router.New(c.SchemaList[0], router.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return routes.Table("indexed", "users")
}

func newRig(t *testing.T, kind mysqltest.Kind) *rig {
	t.Helper()
	server := mysqltest.Shared(t, kind)
	db, err := server.DB("")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, db: db}
	c := configured(t, server.Addr, rigKeys)
	if r.nodes, err = backend.Open(c); err != nil {
		t.Fatal(err)
	}
	nodes := r.nodes
	t.Cleanup(func() {
		for _, n := range nodes {
			n.Close()
		}
		_ = db.Close()
	})
	r.table = ruled(t, c)
	r.exec("DROP DATABASE IF EXISTS ks_meta", "DROP DATABASE IF EXISTS indexed", "CREATE DATABASE indexed DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	for k := range 2 {
		r.exec(fmt.Sprintf("CREATE TABLE indexed.users_%04d (id BIGINT, part INT, email VARCHAR(40), city VARCHAR(20) COLLATE utf8mb4_bin, PRIMARY KEY (part, id), UNIQUE KEY mail (email), KEY (id))", k))
	}
	return r
}

func (r *rig) exec(texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if _, err := r.db.Exec(text); err != nil {
			r.t.Fatalf("%s: %v", text, err)
		}
	}
}

func (r *rig) count(text string) (n int) {
	r.t.Helper()
	if err := r.db.QueryRow(text).Scan(&n); err != nil {
		r.t.Fatalf("%s: %v", text, err)
	}
	return n
}

// entry is the table that has an entry.
func (r *rig) entry(x *router.Index, text string) string {
	class := map[bool]rule.Class{true: rule.CharCI, false: rule.CharBinary}[x.Unique]
	at, err := x.Lookup.Place([]value.Value{value.NewString(text)}, []rule.Column{{Class: class}})
	if err != nil {
		r.t.Error(err)
	}
	return "indexed." + x.Lookup.Shards[at].Table
}

// insert puts a row into the table, and its entries, where it is kept, in one transaction.
func (r *rig) insert(id int, email, city string) error {
	return r.change(fmt.Sprintf("INSERT INTO indexed.users_%04d VALUES (%d, %d, '%s', '%s')", id%2, id, id%7, email, city),
		fmt.Sprintf("INSERT INTO %s VALUES ('%s', %d)", r.entry(r.table.Indexes[0], email), email, id),
		fmt.Sprintf("INSERT INTO %s VALUES ('%s', %d, 1) ON DUPLICATE KEY UPDATE ks_rows = ks_rows + 1", r.entry(r.table.Indexes[1], city), city, id))
}

func (r *rig) remove(id int, email, city string) error {
	city2 := r.entry(r.table.Indexes[1], city)
	return r.change(fmt.Sprintf("DELETE FROM indexed.users_%04d WHERE id = %d", id%2, id),
		fmt.Sprintf("DELETE FROM %s WHERE email = '%s'", r.entry(r.table.Indexes[0], email), email),
		fmt.Sprintf("UPDATE %s SET ks_rows = ks_rows - 1 WHERE city = '%s' AND id = %d", city2, city, id), fmt.Sprintf("DELETE FROM %s WHERE city = '%s' AND id = %d AND ks_rows = 0", city2, city, id))
}

func (r *rig) change(row string, entries ...string) error {
	kept, known := r.states.Kept(r.table.Indexes[0])
	both, known2 := r.states.Kept(r.table.Indexes[1])
	if !known || !known2 {
		return errors.New("not known")
	}
	tx, err := r.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec(row); err != nil {
		return err
	}
	for k, text := range entries {
		if k == 0 && kept || k > 0 && both {
			if _, err := tx.Exec(text); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// TestBuild fills indexes while their table is changed.
func TestBuild(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			r := newRig(t, kind)
			for k := range 2 {
				r.exec(fmt.Sprintf("INSERT INTO indexed.users_%04d SELECT 2 * seq.n + %d, seq.n %% 7, IF(seq.n %% 10 = 0, NULL, CONCAT('Old', 2 * seq.n + %d, 'é@x')), CONCAT('city', seq.n %% 5) FROM "+
					"(SELECT a.n + 10 * b.n + 100 * c.n AS n FROM %[4]s a, %[4]s b, %[4]s c) seq", k, k, k, "(SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"))
				r.exec(fmt.Sprintf("UPDATE indexed.users_%04d SET email = 'twice' WHERE id = %d", k, 10+k))
			}
			stop := make(chan struct{})
			var running sync.WaitGroup
			running.Go(func() {
				r.states.Run(stop, func() ([]*router.Table, map[string]*backend.Node) { return []*router.Table{r.table}, r.nodes }, func() {})
			})
			defer running.Wait()
			defer close(stop)
			for r.states.Record(r.table.Indexes[0]).State == indexes.Unknown {
				time.Sleep(10 * time.Millisecond)
			}
			if got := r.states.Record(r.table.Indexes[1]).State; got != indexes.Missing {
				t.Fatalf("the index of a table that is there is %v", got)
			}
			var writing sync.WaitGroup
			over := make(chan struct{})
			var done atomic.Int64
			for w := range 4 {
				writing.Go(func() {
					for k := 0; ; k++ {
						select {
						case <-over:
							return
						default:
						}
						id := 200000 + 8*k + w
						email, city := fmt.Sprintf("new%d@x", id), fmt.Sprintf("city%d", k%3)
						if r.insert(id, email, city) == nil {
							done.Add(1)
							if rand.IntN(3) == 0 {
								_ = r.remove(id, email, city)
							}
						}
						if old := rand.IntN(2000); old%10 > 1 {
							_ = r.remove(old, fmt.Sprintf("Old%dé@x", old), fmt.Sprintf("city%d", old/2%5))
						}
						time.Sleep(time.Millisecond)
					}
				})
			}
			ctx := context.Background()
			o := indexes.Options{Nodes: r.nodes}
			var duplicate *indexes.Duplicate
			err := r.states.Build(ctx, r.table.Indexes[0], o)
			if !errors.As(err, &duplicate) || !strings.Contains(err.Error(), `email = "twice"`) || !strings.Contains(err.Error(), "id = 10") || !strings.Contains(err.Error(), "id = 11") {
				t.Errorf("a value that is there twice: %v", err)
			}
			if got := r.states.Record(r.table.Indexes[0]); got.State != indexes.Building || got.Total == 0 {
				t.Errorf("the record of a build that ended early is %+v", got)
			}
			r.exec("UPDATE indexed.users_0001 SET email = 'once' WHERE id = 11")
			building, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Millisecond, cancel)
			_ = r.states.Build(building, r.table.Indexes[0], o)
			for k, x := range r.table.Indexes {
				if err := r.states.Build(ctx, x, o); err != nil {
					t.Fatalf("%s: %v", x.Name, err)
				}
				if !r.states.Built(x) || k == 0 && r.count("SELECT COUNT(*) FROM ks_meta.indexes WHERE state = 'built'") != 1 {
					t.Errorf("%s is not built", x.Name)
				}
				found, err := r.states.Verify(ctx, x, o, false)
				if err != nil || found.Lacking+found.Stale+found.Twice > 0 || found.Rows == 0 || found.Entries == 0 {
					t.Errorf("%s while rows change: %+v, %v", x.Name, found, err)
				}
			}
			close(over)
			writing.Wait()
			r.compare()
			t.Logf("%d rows came meanwhile", done.Load())
			if rows := r.states.Counts.Rows.Load(); rows < 4000 || r.states.Counts.Builds.Load() != 0 {
				t.Errorf("%d rows were counted, %d builds run", rows, r.states.Counts.Builds.Load())
			}
			r.verify(o)
		})
	}
}

// compare compares rows and entries by the server.
func (r *rig) compare() {
	r.t.Helper()
	rows := "(SELECT * FROM indexed.users_0000 UNION ALL SELECT * FROM indexed.users_0001) r"
	mails, cities := "(SELECT * FROM indexed.ks_users_email_0000 UNION ALL SELECT * FROM indexed.ks_users_email_0001) m", "(SELECT * FROM indexed.ks_users_city_0000 UNION ALL SELECT * FROM indexed.ks_users_city_0001) c"
	for text, want := range map[string]int{
		"SELECT COUNT(*) FROM " + rows + " WHERE email IS NOT NULL":                                 r.count("SELECT COUNT(*) FROM " + mails),
		"SELECT COUNT(*) FROM " + rows + " JOIN " + mails + " ON m.email = r.email AND m.id = r.id": r.count("SELECT COUNT(*) FROM " + mails),
		"SELECT SUM(ks_rows) FROM " + cities:                                                        r.count("SELECT COUNT(*) FROM " + rows),
		"SELECT COUNT(*) FROM " + rows + " JOIN " + cities + " ON c.city = r.city AND c.id = r.id":  r.count("SELECT COUNT(*) FROM " + rows),
	} {
		if got := r.count(text); got != want {
			r.t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// verify finds and mends every kind of fault.
func (r *rig) verify(o indexes.Options) {
	r.t.Helper()
	email, city := r.table.Indexes[0], r.table.Indexes[1]
	one := "indexed." + email.Lookup.Shards[0].Table
	for _, c := range []struct {
		x      *router.Index
		faults []string
		want   string
	}{
		{email, []string{"DELETE FROM " + one + " ORDER BY email LIMIT 3"}, "3 0 0"},
		{email, []string{"INSERT INTO " + one + " VALUES ('nobody', 4), ('nobody else', -5)"}, "0 2 0"},
		{email, []string{"UPDATE " + one + " SET id = 999998 ORDER BY email LIMIT 1"}, "1 1 0"},
		{city, []string{"UPDATE indexed.ks_users_city_0000 SET ks_rows = ks_rows + 1 LIMIT 2"}, "2 0 0"},
		{city, []string{"DELETE FROM indexed.ks_users_city_0000 LIMIT 4", "INSERT INTO indexed.ks_users_city_0000 VALUES ('nowhere', 3, 1)"}, "4 1 0"},
		{email, []string{"INSERT INTO indexed." + email.Lookup.Shards[1].Table + " SELECT * FROM " + one + " LIMIT 1"}, "0 1 0"}, // where nobody looks for it
	} {
		r.exec(c.faults...)
		for _, repair := range []bool{false, true} {
			found, err := r.states.Verify(context.Background(), c.x, o, repair)
			want := c.want
			if repair && c.want == "1 1 0" {
				want = "1 0 0" // the entry is the row's now
			}
			if err != nil || fmt.Sprint(found.Lacking, found.Stale, found.Twice) != want {
				r.t.Errorf("%v, repair %v: %+v, %v", c.faults, repair, found, err)
				continue
			}
			left := found.Lacking + found.Stale
			if repair {
				left = 0
			}
			if got := r.states.Record(c.x); !got.Verified || got.Faults != left || r.states.Faults([]*router.Table{r.table, r.table}) != left {
				r.t.Errorf("%v, repair %v: the record is %+v, %d faults are counted", c.faults, repair, got, r.states.Faults([]*router.Table{r.table}))
			}
		}
		if found, err := r.states.Verify(context.Background(), c.x, o, false); err != nil || found.Lacking+found.Stale+found.Twice > 0 {
			r.t.Errorf("%v, repaired: %+v, %v", c.faults, found, err)
		}
	}
	r.compare()
}
