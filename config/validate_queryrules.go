package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of query rules.
const (
	queryRulesMax  = 1000
	ruleNameMax    = 64
	ruleTextMax    = 16 << 10 // of a digest or a pattern, in bytes
	ruleMessageMax = 400      // of what block says, in bytes
)

// RuleClasses are the words that classes of a query rule may be.
var RuleClasses = []string{
	"read", "write", "ddl", "transaction", "select", "insert", "replace", "update", "delete", "truncate", "load", "set", "use", "show",
	"explain", "lock", "flush", "kill", "prepare", "execute", "call", "do", "handler", "account", "admin", "other", "doubtful",
}

var ruleName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func (c *Config) checkQueryRules(r *report) {
	if len(c.QueryRules) > queryRulesMax {
		r.fault("query_rules", "may have %d rules, not %d", queryRulesMax, len(c.QueryRules))
	}
	users := map[string]bool{}
	for _, u := range c.UserList {
		users[u.User] = true
	}
	first := map[string]int{}
	for k := range c.QueryRules {
		q, path := &c.QueryRules[k], fmt.Sprintf("query_rules[%d]", k)
		if !ruleName.MatchString(q.Name) || len(q.Name) > ruleNameMax {
			r.fault(path+".name", "is required: up to %d letters, digits, '_', '-' and '.'", ruleNameMax)
		} else if other, dup := first[q.Name]; dup {
			r.fault(path+".name", "rule %q is also query_rules[%d]", q.Name, other)
		} else {
			first[q.Name] = k
		}
		for _, user := range q.Users {
			if !users[user] {
				r.fault(path+".users", "%q is not in user_list", user)
			}
		}
		q.checkMatch(r, path)
		q.checkAction(r, path)
		if q.Node != "" && c.Node(q.Node) == nil {
			r.fault(path+".node", "%q is not in nodes", q.Node)
		}
		if q.Mirror != "" && c.Node(q.Mirror) == nil {
			r.fault(path+".mirror", "%q is not in nodes", q.Mirror)
		}
	}
}

func (q *QueryRule) checkMatch(r *report, path string) {
	if _, err := ParseNets(q.Sources); err != nil {
		r.fault(path+".sources", "%v", err)
	}
	if slices.Contains(q.Databases, "") {
		r.fault(path+".databases", "has an empty name")
	}
	for _, table := range q.Tables {
		db, name, dotted := strings.Cut(table, ".")
		if db == "" || dotted && (name == "" || strings.Contains(name, ".")) {
			r.fault(path+".tables", "%q is neither table nor database.table", table)
		}
	}
	for _, class := range q.Classes {
		r.oneOf(path+".classes", class, RuleClasses...)
	}
	if q.Digest != "" && strings.Trim(q.Digest, " \t\r\n;") == "" {
		r.fault(path+".digest", "has no statement in it")
	}
	if len(q.Digest) > ruleTextMax {
		r.fault(path+".digest", "may have %d bytes, not %d", ruleTextMax, len(q.Digest))
	}
	if len(q.Pattern) > ruleTextMax {
		r.fault(path+".pattern", "may have %d bytes, not %d", ruleTextMax, len(q.Pattern))
	} else if pattern, err := regexp.Compile(q.Pattern); err != nil {
		r.fault(path+".pattern", "is not a regular expression as RE2 knows them: %v", err)
	} else {
		q.checkRewrite(r, path, pattern)
	}
}

// checkRewrite looks for groups that the pattern does not have.
func (q *QueryRule) checkRewrite(r *report, path string, pattern *regexp.Regexp) {
	switch {
	case q.Rewrite == "":
	case q.Pattern == "":
		r.fault(path+".rewrite", "needs a pattern that says what is replaced")
	case len(q.Rewrite) > ruleTextMax:
		r.fault(path+".rewrite", "may have %d bytes, not %d", ruleTextMax, len(q.Rewrite))
	default:
		if _, err := RewriteTemplate(q.Rewrite, pattern); err != nil {
			r.fault(path+".rewrite", "%v", err)
		}
	}
}

// RewriteTemplate turns what a rule's rewrite says into a template of package regexp.
func RewriteTemplate(rewrite string, pattern *regexp.Regexp) (string, error) {
	var b strings.Builder
	for k := 0; k < len(rewrite); k++ {
		c := rewrite[k]
		switch {
		case c == '$':
			b.WriteString("$$")
		case c != '\\':
			b.WriteByte(c)
		case k+1 < len(rewrite) && rewrite[k+1] == '\\':
			k++
			b.WriteByte('\\')
		case k+1 < len(rewrite) && rewrite[k+1] >= '0' && int(rewrite[k+1]-'0') <= min(pattern.NumSubexp(), 9):
			k++
			b.WriteString("${" + rewrite[k:k+1] + "}")
		default:
			return "", fmt.Errorf("%q is no group of the pattern: it has \\0 to \\%d, and \\\\ is a backslash", rewrite[k:min(k+2, len(rewrite))], min(pattern.NumSubexp(), 9))
		}
	}
	return b.String(), nil
}

// checkAction looks for what contradicts itself: a rule does something, and what refuses a statement does nothing else with it.
func (q *QueryRule) checkAction(r *report, path string) {
	if len(q.Block) > ruleMessageMax {
		r.fault(path+".block", "may have %d bytes, not %d", ruleMessageMax, len(q.Block))
	}
	if q.Route != "" {
		r.oneOf(path+".route", q.Route, "primary", "replica")
	}
	if t := q.Timeout.Duration(); t != 0 && t < time.Millisecond {
		r.fault(path+".timeout", "must be 0 or at least 1ms, not %v", q.Timeout)
	}
	if q.CrossShard != "" {
		r.oneOf(path+".cross_shard", q.CrossShard, CrossShards...)
	}
	r.between(path+".max_concurrent", q.MaxConcurrent, 0, math.MaxInt32)
	r.between(path+".max_qps", q.MaxQPS, 0, 1_000_000)
	r.maxWait(path, q.MaxWait, q.MaxConcurrent, q.MaxQPS)
	if q.MirrorWrites && q.Mirror == "" {
		r.fault(path+".mirror_writes", "needs mirror, the node that they go to")
	}
	actions := q.actions()
	switch {
	case len(actions) == 0:
		r.fault(path, "does nothing: give it one of %s", strings.Join(ruleActions, ", "))
	case len(actions) > 1 && q.Block != "":
		r.fault(path+".block", "refuses the statement: remove it or %s", other(actions, "block"))
	case len(actions) > 1 && q.Allow:
		r.fault(path+".allow", "ends what rules do: remove it or %s", other(actions, "allow"))
	}
	if q.Next && (q.Block != "" || q.Allow) {
		r.fault(path+".next", "has no sense with %s, which ends the search", actions[0])
	}
}

// other gives the first of several actions that is not the one named.
func other(actions []string, than string) string {
	return actions[slices.IndexFunc(actions, func(a string) bool { return a != than })]
}

// ruleActions are the keys that do something.
var ruleActions = []string{"allow", "block", "rewrite", "route", "node", "timeout", "cross_shard", "max_concurrent", "max_qps", "mirror"}

// actions lists the keys of the rule that do something.
func (q *QueryRule) actions() (keys []string) {
	for _, a := range []struct {
		key string
		set bool
	}{
		{"allow", q.Allow}, {"block", q.Block != ""}, {"rewrite", q.Rewrite != ""}, {"route", q.Route != ""}, {"node", q.Node != ""}, {"timeout", q.Timeout != 0},
		{"cross_shard", q.CrossShard != ""}, {"max_concurrent", q.MaxConcurrent != 0}, {"max_qps", q.MaxQPS != 0}, {"mirror", q.Mirror != ""},
	} {
		if a.set {
			keys = append(keys, a.key)
		}
	}
	return keys
}
