package remote

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"
)

// sample is what a proxy said of itself at one moment. Counters are since its start.
type sample struct {
	at       time.Time
	status   map[string]string
	nodes    []map[string]string // SHOW KS NODES
	pools    []map[string]string // SHOW KS POOLS, in the same order
	sessions []map[string]string
	digests  []digest
}

// digest is a row of SHOW KS DIGESTS: a statement without its values.
type digest struct {
	user, db, statement, plan string
	count, errors             float64
	total                     float64 // milliseconds, of all executions
	p95                       float64 // milliseconds, since the start
}

// key tells digests apart.
func (d digest) key() string { return d.user + "\x00" + d.db + "\x00" + d.statement }

// sessionsMax and digestsMax bound what is asked for: more than any terminal shows.
const (
	sessionsMax = 200
	digestsMax  = 500
)

// take asks the proxy.
func take(ctx context.Context, db *sql.DB) (*sample, error) {
	s := &sample{at: time.Now(), status: make(map[string]string)}
	var status, digests []map[string]string
	for _, one := range []struct {
		statement string
		rows      *[]map[string]string
	}{
		{"SHOW KS STATUS", &status},
		{"SHOW KS NODES", &s.nodes},
		{"SHOW KS POOLS", &s.pools},
		{fmt.Sprintf("SHOW KS SESSIONS ORDER BY in_transaction DESC, seconds DESC LIMIT %d", sessionsMax), &s.sessions},
		{fmt.Sprintf("SHOW KS DIGESTS ORDER BY total_sum DESC LIMIT %d", digestsMax), &digests},
	} {
		r, err := query(ctx, db, one.statement)
		if err != nil {
			return nil, err
		}
		*one.rows = r.maps()
	}
	for _, row := range status {
		s.status[row["Variable_name"]] = row["Value"]
	}
	for _, row := range digests {
		s.digests = append(s.digests, digest{
			user: row["user"], db: row["db"], statement: row["statement"], plan: row["plan"],
			count: number(row["count"]), errors: number(row["errors"]), total: number(row["total_sum"]), p95: number(row["total_p95"]),
		})
	}
	return s, nil
}

// number reads a figure; what is none counts as 0.
func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n
}

// queries are the commands that have a time: queries and executions.
func (s *sample) queries() float64 {
	return number(s.status["Commands_COM_QUERY"]) + number(s.status["Commands_COM_STMT_EXECUTE"])
}

// between is what happened from one sample to the next: rates, and the digests by the time that they took since.
type between struct {
	seconds           float64
	queries, commands float64 // per second
	mean              float64 // milliseconds of a query
	rows, bytes       float64 // per second
	errors            [3]float64
	digests           []digest // count, errors and total of the time between; none without executions
	nodes             []load   // in the order of the sample's nodes
}

// load is what an instance did, per second; mean is the milliseconds of a statement.
type load struct{ statements, errors, bytes, mean float64 }

// loads gives what the instances did since an earlier sample.
func (s *sample) loads(before *sample, seconds float64) []load {
	name := func(n map[string]string) string { return n["node"] + "\x00" + n["instance"] + "\x00" + n["role"] }
	earlier := make(map[string]map[string]string, len(before.nodes))
	for _, n := range before.nodes {
		earlier[name(n)] = n
	}
	all := make([]load, len(s.nodes))
	for k, n := range s.nodes {
		e := earlier[name(n)]
		if number(e["statements"]) > number(n["statements"]) {
			e = nil // a reload has changed the instance
		}
		grown := func(column string) float64 { return max(number(n[column])-number(e[column]), 0) }
		statements := grown("statements")
		all[k] = load{statements: statements / seconds, errors: grown("errors") / seconds, bytes: grown("bytes") / seconds, mean: grown("busy_ms") / max(statements, 1)}
	}
	return all
}

// errorOrigins are those of between.errors.
var errorOrigins = [3]string{"client", "proxy", "backend"}

// since gives what happened after an earlier sample; nil: since the proxy's start. After a restart in between it is the latter, too.
func (s *sample) since(before *sample) between {
	var b between
	if before != nil && before.status["Started"] == s.status["Started"] {
		b.seconds = s.at.Sub(before.at).Seconds()
	} else {
		before = &sample{status: map[string]string{}}
		b.seconds = number(s.status["Uptime"])
	}
	b.seconds = max(b.seconds, 0.001)
	rate := func(name string) float64 {
		return max(number(s.status[name])-number(before.status[name]), 0) / b.seconds
	}
	b.commands, b.rows, b.bytes = rate("Commands"), rate("Rows"), rate("Row_bytes")
	for k, origin := range errorOrigins {
		b.errors[k] = rate("Errors_" + origin)
	}
	// The mean that the proxy tells is since its start: the time between comes from the sums.
	spent := func(s *sample) float64 { return number(s.status["Command_microseconds_mean"]) * s.queries() / 1000 }
	if n := s.queries() - before.queries(); n > 0 {
		b.queries, b.mean = n/b.seconds, max(spent(s)-spent(before), 0)/n
	}
	b.nodes = s.loads(before, b.seconds)
	earlier := make(map[string]digest, len(before.digests))
	for _, d := range before.digests {
		earlier[d.key()] = d
	}
	for _, d := range s.digests {
		// A digest that counts less than before was evicted and came back, or all were reset.
		if e, ok := earlier[d.key()]; ok && e.count <= d.count {
			d.count, d.errors, d.total = d.count-e.count, max(d.errors-e.errors, 0), max(d.total-e.total, 0)
		}
		if d.count > 0 {
			b.digests = append(b.digests, d)
		}
	}
	return b
}
