package queryrule

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"kingshard/config"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/throttle"
)

// Rule is a query rule of the configuration, ready to be compared with statements.
type Rule struct {
	Name string
	// Block is what the client of a refused statement hears; "" if the rule refuses none.
	Block string
	// Primary and Replica choose the instance, Node the node; "" for none.
	Primary, Replica bool
	Node             string
	Timeout          time.Duration // 0: none
	CrossShard       string        // as the configuration names it; "": the rule says nothing of it
	// Mirror is a node that statements are sent to, too, changes as well with MirrorWrites; "" for none.
	Mirror       string
	MirrorWrites bool
	Mirrored     *MirrorCounts
	// Rewrite is what comes in place of what the pattern matches; "" for nothing.
	Rewrite string
	Next    bool
	DryRun  bool

	bounds throttle.Bounds
	// What is handed on to the rule of the same name at a reload.
	hits *atomic.Uint64
	flow *flow

	users    []string
	sources  []netip.Prefix
	classes  classBits
	doubtful bool
	// Names in lower case. Of tables the database may be "".
	databases []string
	tables    []tableName
	digest    []byte // canonical; nil for any
	cut       bool   // what follows the digest does not count
	pattern   *regexp.Regexp
	template  []byte // of Rewrite
}

// MirrorCounts are what became of statements that a rule mirrors, since the proxy started.
type MirrorCounts struct {
	Sent, Failed atomic.Uint64
	Dropped      atomic.Uint64 // because too much waited, or they cannot be sent to one node
}

type tableName struct{ db, table string }

// newRule makes a rule of a valid configuration.
func newRule(q *config.QueryRule) (*Rule, error) {
	r := &Rule{Name: q.Name, Block: q.Block, Next: q.Next, DryRun: q.DryRun, users: q.Users, hits: new(atomic.Uint64), flow: new(flow), Mirrored: new(MirrorCounts)}
	r.Mirror, r.MirrorWrites, r.CrossShard = q.Mirror, q.MirrorWrites, q.CrossShard
	r.Rewrite, r.bounds = q.Rewrite, throttle.Of(q.MaxConcurrent, q.MaxQPS, q.MaxWait.Duration())
	r.Primary, r.Replica, r.Node, r.Timeout = q.Route == "primary", q.Route == "replica", q.Node, q.Timeout.Duration()
	var err error
	if r.sources, err = config.ParseNets(q.Sources); err != nil {
		return nil, fmt.Errorf("sources: %w", err)
	}
	for _, word := range q.Classes {
		r.classes |= classWords[word]
		r.doubtful = r.doubtful || word == doubtful
	}
	for _, db := range q.Databases {
		r.databases = append(r.databases, lower(db))
	}
	for _, name := range q.Tables {
		db, table, dotted := strings.Cut(lower(name), ".")
		if !dotted {
			db, table = "", db
		}
		r.tables = append(r.tables, tableName{db, table})
	}
	if q.Digest != "" {
		if r.digest, r.cut = canonOf(q.Digest); len(r.digest) == 0 && !r.cut {
			return nil, errors.New("digest: there is no statement in it")
		}
	}
	if q.Pattern != "" {
		if r.pattern, err = regexp.Compile(q.Pattern); err != nil {
			return nil, fmt.Errorf("pattern: %w", err)
		}
		template, err := config.RewriteTemplate(q.Rewrite, r.pattern)
		if err != nil {
			return nil, fmt.Errorf("rewrite: %w", err)
		}
		r.template = []byte(template)
	}
	return r, nil
}

func lower(name string) string { return string(appendLower(nil, name)) }

// Hits is how many statements the rule was found to match since the proxy started.
func (r *Rule) Hits() uint64 { return r.hits.Load() }

// Action says in words what the rule does.
func (r *Rule) Action() string {
	var does []string
	if r.Block != "" {
		does = append(does, "block: "+r.Block)
	}
	if r.Rewrite != "" {
		does = append(does, "rewrite: "+r.Rewrite)
	}
	if r.Primary {
		does = append(does, "route: primary")
	}
	if r.Replica {
		does = append(does, "route: replica")
	}
	if r.Node != "" {
		does = append(does, "node: "+r.Node)
	}
	if r.Timeout > 0 {
		does = append(does, "timeout: "+config.Duration(r.Timeout).String())
	}
	if r.CrossShard != "" {
		does = append(does, "cross_shard: "+r.CrossShard)
	}
	if r.Mirror != "" {
		does = append(does, "mirror: "+r.Mirror)
	}
	if r.MirrorWrites {
		does = append(does, "mirror_writes: true")
	}
	if q := r.bounds; q.Set() {
		if q.Concurrent > 0 {
			does = append(does, fmt.Sprintf("max_concurrent: %d", q.Concurrent))
		}
		if q.Interval > 0 {
			does = append(does, fmt.Sprintf("max_qps: %d", time.Second/q.Interval))
		}
		does = append(does, "max_wait: "+config.Duration(q.Wait).String())
	}
	if len(does) == 0 {
		return "allow"
	}
	return strings.Join(does, ", ")
}

// sends tells whether a user from addr may send statements that match.
func (r *Rule) sends(user string, addr netip.Addr) bool {
	if len(r.users) > 0 && !slices.Contains(r.users, user) {
		return false
	}
	if len(r.sources) == 0 {
		return true
	}
	return addr.IsValid() && slices.ContainsFunc(r.sources, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// classed tells whether the rule is about statements of that kind.
func (r *Rule) classed(i *sqltext.Info, classes classBits) bool {
	return r.classes == 0 && !r.doubtful || r.classes&classes != 0 || r.doubtful && i.Has(sqltext.Doubt)
}

// digested tells whether a canonical text is the rule's digest.
func (r *Rule) digested(canon []byte) bool {
	if r.cut {
		return bytes.HasPrefix(canon, r.digest)
	}
	return bytes.Equal(canon, r.digest)
}

// named tells whether the rule looks at names in the text.
func (r *Rule) named() bool { return len(r.tables) > 0 || len(r.databases) > 0 }
