package differential

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
)

// Round is one comparison: in each database a random schema with random rows and random statements. All servers have the
// account of mysqltest. The databases on the oracle and the nodes are made anew and left there.
type Round struct {
	Seed       uint64
	Statements int    // to run in each database, at least
	Oracle     string // address of the server that is right
	Subject    string // address of the proxy, or of another server
	Databases  []Database
	// Refusals are the error codes of 9000 to 9999 by which the subject may refuse a statement; every other one is a failure.
	Refusals []uint16

	alter func(sql string) string // for the subject; tests of the tester only
}

// Database is a database to compare. Databases with the same seed have the same schema, rows and statements, whatever
// their layouts are.
type Database struct {
	Name string
	// Subject is its name behind the subject, "" for the same. Another one is for a subject that is the oracle itself.
	Subject string
	Layout  Layout
	Seed    uint64 // added to the seed of the round
}

// Spread makes databases d0, d1 and so on, for each of n seeds one over 2, one over 3 and one over 4 shards on two nodes.
func Spread(n int, nodes [2]string) []Database {
	var list []Database
	for seed := range n {
		for _, locations := range [][]int{{1, 1}, {2, 1}, {2, 2}} {
			list = append(list, Database{
				Name: fmt.Sprintf("d%d", len(list)), Layout: Layout{Nodes: nodes[:], Locations: locations}, Seed: uint64(seed),
			})
		}
	}
	return list
}

// Rules are the entries of shard under a schema of ks.yaml, one a line, for nodes by the names n1 and n2; "" without
// sharding.
func Rules(list []Database) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(d.Layout.rules(d.Name))
	}
	return b.String()
}

// Run compares, in all databases at the same time. The error is one of the oracle or the nodes, not of the subject. At the
// end of ctx it stops before the next statement.
func (r Round) Run(ctx context.Context) (*Report, error) {
	if err := r.makeZones(); err != nil {
		return nil, err
	}
	if err := r.forgetIDs(); err != nil {
		return nil, err
	}
	reports := make([]*Report, len(r.Databases))
	errs := make([]error, len(r.Databases))
	var workers sync.WaitGroup
	for k, d := range r.Databases {
		workers.Go(func() { reports[k], errs[k] = r.runDatabase(ctx, d) })
	}
	workers.Wait()
	total := newReport()
	for k := range reports {
		if errs[k] != nil {
			return nil, fmt.Errorf("database %s, seed %d: %w", r.Databases[k].Name, r.Seed, errs[k])
		}
		total.add(reports[k])
	}
	return total, nil
}

func (r Round) runDatabase(ctx context.Context, d Database) (*Report, error) {
	w, err := r.open(d)
	if err != nil {
		return nil, err
	}
	err = w.run(ctx)
	return w.report, errors.Join(err, w.close())
}

// open makes the worker of a database, with its schema; the caller closes it.
func (r Round) open(d Database) (*worker, error) {
	subject := d.Subject
	if subject == "" {
		subject = d.Name
	}
	w := &worker{
		round: r, database: d, report: newReport(), dirty: map[string]bool{}, moved: map[string]bool{}, uncounted: map[string]bool{},
		oracle:  side{addr: r.Oracle, db: d.Name},
		subject: side{addr: r.Subject, db: subject, alter: r.alter},
		store:   store{layout: d.Layout, db: d.Name, subject: subject, routed: r.Subject != ""},
	}
	if err := w.store.open(r.Oracle); err != nil {
		return nil, err
	}
	w.oracle.mode = sqlModes[(r.Seed+d.Seed)%uint64(len(sqlModes))]
	w.oracle.zone = timeZones[(r.Seed+d.Seed)%uint64(len(timeZones))]
	w.subject.mode, w.subject.zone = w.oracle.mode, w.oracle.zone
	random := rand.New(rand.NewPCG(r.Seed+d.Seed, 0))
	kind := dialect{mariaDB: strings.Contains(w.store.oracle.Greeting.ServerVersion, "MariaDB")}
	w.store.schema = newSchema(random, kind)
	w.grammar = newGrammar(random, w.store.schema, kind, w.oracle.mode)
	return w, nil
}

func (w *worker) close() error {
	w.oracle.closeAll()
	w.subject.closeAll()
	if w.control != nil {
		_ = w.control.Close()
	}
	return w.store.close()
}
