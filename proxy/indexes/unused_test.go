package indexes_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/indexes"
	"kingshard/router"
)

// process is what one proxy knows, whose configuration may change.
type process struct {
	indexes.States
	mu    sync.Mutex
	table *router.Table
}

// start starts a proxy whose configuration has the table with the keys, until the test ends.
func (r *rig) start(keys string) *process {
	p := &process{}
	p.reload(r, keys)
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		p.Run(stop, func() ([]*router.Table, map[string]*backend.Node) {
			p.mu.Lock()
			defer p.mu.Unlock()
			return []*router.Table{p.table}, r.nodes
		}, func() {})
	})
	r.t.Cleanup(func() {
		close(stop)
		running.Wait()
	})
	return p
}

// reload brings a configuration into force.
func (p *process) reload(r *rig, keys string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table = ruled(r.t, configured(r.t, r.nodes["n1"].Primary.Addr, keys))
	p.Configured([]*router.Table{p.table})
}

// state is what the server has of an index.
func (r *rig) state(name string) (state string) {
	r.t.Helper()
	if err := r.db.QueryRow("SELECT state FROM ks_meta.indexes WHERE key_name = '" + name + "'").Scan(&state); err != nil {
		r.t.Fatal(err)
	}
	return state
}

// becomes waits until a proxy knows an index to be in a state.
func (p *process) becomes(r *rig, k int, want indexes.State) {
	r.t.Helper()
	mysqltest.WaitFor(r.t, "the state "+want.String(), func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.Record(p.table.Indexes[k]).State == want
	})
}

const withoutCity = "unique: [{columns: email, strings: utf8mb4_general_ci_v1}]"

// An index that the configuration of a proxy lost, be it for a moment, is built no more for any proxy.
func TestUnused(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			r := newRig(t, kind)
			o := indexes.Options{Nodes: r.nodes}
			one := r.start(rigKeys)
			build := func() {
				t.Helper()
				for k := range one.table.Indexes {
					if err := one.Build(t.Context(), one.table.Indexes[k], o); err != nil {
						t.Fatal(err)
					}
				}
				if r.state("city") != "built" || r.state("email") != "built" {
					t.Fatal("the indexes are not built")
				}
			}
			build()
			// Another proxy, whose configuration has the table without one of them, or without any.
			other := r.start(withoutCity)
			one.becomes(r, 1, indexes.Missing)
			other.becomes(r, 0, indexes.Built)
			mysqltest.WaitFor(t, "the index to be unused", func() bool { return len(other.Unused()) == 1 })
			if got := other.Unused()[0]; got.DB != "indexed" || got.Table != "users" || got.Name != "city" || len(one.Unused()) != 0 {
				t.Errorf("unused are %+v and %+v", other.Unused(), one.Unused())
			}
			if err := one.Build(t.Context(), one.table.Indexes[1], o); err == nil || !strings.Contains(err.Error(), "a proxy runs whose configuration has the table without it") {
				t.Errorf("a build that one proxy does not keep: %v", err)
			}
			other.reload(r, rigKeys)
			build()
			mysqltest.WaitFor(t, "no index to be unused", func() bool { return len(other.Unused()) == 0 })
			other.becomes(r, 1, indexes.Built)
			last := r.start("lookup: []")
			one.becomes(r, 0, indexes.Missing)
			one.becomes(r, 1, indexes.Missing)
			mysqltest.WaitFor(t, "both to be unused", func() bool { return len(last.Unused()) == 2 })
			// One that was dropped, and has no tables any more, is nothing to tell of.
			if _, err := one.Drop(t.Context(), one.table.Indexes[0], o); err != nil {
				t.Fatal(err)
			}
			last.reload(r, "lookup: []")
			mysqltest.WaitFor(t, "one to be unused", func() bool { return len(last.Unused()) == 1 && last.Unused()[0].Name == "city" })
		})
	}
}

// A proxy that had an index, has it not and has it again has changed rows without it meanwhile, though no server heard of it.
func TestUnusedForAMoment(t *testing.T) {
	r := newRig(t, mysqltest.MySQL9)
	o := indexes.Options{Nodes: r.nodes}
	var s indexes.States
	build := func(keys string) *router.Table {
		t.Helper()
		table := ruled(t, configured(t, r.nodes["n1"].Primary.Addr, keys))
		s.Configured([]*router.Table{table})
		if err := s.Build(t.Context(), table.Indexes[1], o); err != nil || !s.Built(table.Indexes[1]) {
			t.Fatal(err)
		}
		return table
	}
	for _, keys := range []string{withoutCity, "lookup: [{columns: city, strings: ascii_ci}], " + withoutCity, "unique: [{columns: email, strings: utf8mb4_general_ci_v1}, city]"} {
		table := build(rigKeys)
		if err := s.Ask(t.Context(), table, r.nodes); err != nil || !s.Built(table.Indexes[1]) {
			t.Fatal(err)
		}
		for _, keys := range []string{keys, rigKeys} {
			table = ruled(t, configured(t, r.nodes["n1"].Primary.Addr, keys))
			s.Configured([]*router.Table{table})
		}
		if s.Built(table.Indexes[1]) {
			t.Errorf("%s: an index that was not kept for a moment is read", keys)
		}
		if err := s.Ask(t.Context(), table, r.nodes); err != nil || s.Built(table.Indexes[1]) || r.state("city") != "missing" {
			t.Errorf("%s: asked for, it is built, or %v", keys, err)
		}
	}
	// A process that begins with another form of it knows nothing of before.
	build(rigKeys)
	var begun indexes.States
	table := ruled(t, configured(t, r.nodes["n1"].Primary.Addr, "lookup: [{columns: city, strings: ascii_ci}], "+withoutCity))
	if err := begun.Ask(t.Context(), table, r.nodes); err != nil || begun.Record(table.Indexes[1]).State != indexes.Missing || r.state("city") != "missing" {
		t.Errorf("of another form it is %v, %v", begun.Record(table.Indexes[1]).State, err)
	}
}

// What is left of an index that the rule does not name is dropped with what is stored of it, and nothing of others.
func TestDropUnused(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			r := newRig(t, kind)
			o := indexes.Options{Nodes: r.nodes}
			for _, x := range r.table.Indexes {
				if err := r.states.Build(t.Context(), x, o); err != nil {
					t.Fatal(err)
				}
			}
			r.exec("CREATE TABLE indexed.ks_users_city_name_0000 (id INT)", "CREATE TABLE indexed.ks_users_city_000x (id INT)")
			table := ruled(t, configured(t, r.nodes["n1"].Primary.Addr, withoutCity))
			dropped, err := r.states.DropUnused(t.Context(), table, "City", o)
			if want := "[n1/indexed.ks_users_city_0000 n1/indexed.ks_users_city_0001]"; err != nil || fmt.Sprint(dropped) != want {
				t.Errorf("dropped %v, %v", dropped, err)
			}
			if n := r.count("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'indexed' AND TABLE_NAME LIKE 'ks%'"); n != 4 {
				t.Errorf("%d tables are left", n)
			}
			if n := r.count("SELECT COUNT(*) FROM ks_meta.indexes"); n != 1 || r.state("email") != "built" {
				t.Errorf("%d records are left", n)
			}
			if _, err := r.states.DropUnused(t.Context(), table, "city", o); !errors.Is(err, indexes.ErrNotThere) {
				t.Errorf("dropped twice: %v", err)
			}
		})
	}
}
