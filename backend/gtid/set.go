// Package gtid has sets of transactions as servers write them. [Parse] reads one, [Set.In] tells whether another one has all of it.
package gtid

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Set is a set of transactions: of MySQL ranges of numbers by the server, and the tag, that gave them; of MariaDB a position, which stands for all
// up to it, in each domain. It is immutable, and never empty; nil is the empty set. MySQL manual: "GTID Format and Storage"; MariaDB Knowledge Base:
// "Global Transaction ID".
type Set struct {
	mariaDB bool
	sources []source // by name
}

// source are the transactions of one server or domain.
type source struct {
	name   string // a UUID with its tag, if there is one, behind a colon; of MariaDB the number of the domain
	server string // of MariaDB the id of the server that gave the last number, else ""
	ranges []span // ascending, with gaps between them
}

// span are the numbers from the first to the last.
type span struct{ first, last uint64 }

// errSyntax says that a text is no set.
var errSyntax = errors.New("not a set of GTIDs")

// Parse reads a set as MySQL, or MariaDB, writes it.
func Parse(text string, mariaDB bool) (*Set, error) {
	s := &Set{mariaDB: mariaDB}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		add := s.addMySQL
		if mariaDB {
			add = s.addMariaDB
		}
		if err := add(item); err != nil {
			return nil, err
		}
	}
	if len(s.sources) == 0 {
		return nil, nil
	}
	return s, nil
}

// addMariaDB adds a position such as 0-1-17 to a set that is being read.
func (s *Set) addMariaDB(item string) error {
	domain, rest, _ := strings.Cut(item, "-")
	server, number, _ := strings.Cut(rest, "-")
	at, err := strconv.ParseUint(number, 10, 64)
	_, domainErr := strconv.ParseUint(domain, 10, 32)
	_, serverErr := strconv.ParseUint(server, 10, 32)
	if err = cmp.Or(err, domainErr, serverErr); err != nil {
		return errSyntax
	}
	s.add(source{domain, server, []span{{1, at}}})
	return nil
}

// addMySQL adds a UUID with its ranges, such as 3e11fa47-71ca-11e1-9e33-c80aa9429562:1-3:5:tag:7, to a set that is being read.
func (s *Set) addMySQL(item string) error {
	uuid, rest, ok := strings.Cut(strings.ToLower(item), ":")
	if !ok || len(uuid) != 36 || strings.Trim(uuid, "0123456789abcdef-") != "" {
		return errSyntax
	}
	name := uuid
	for part := range strings.SplitSeq(rest, ":") {
		if part = strings.TrimSpace(part); part == "" {
			return errSyntax
		}
		if part[0] < '0' || part[0] > '9' {
			if len(part) > 32 || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz_0123456789") != "" {
				return errSyntax
			}
			name = uuid + ":" + part
			continue
		}
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 63)
		last, lastErr := strconv.ParseUint(to, 10, 63)
		if err != nil || lastErr != nil || first == 0 || last < first {
			return errSyntax
		}
		s.add(source{name, "", []span{{first, last}}})
	}
	return nil
}

// add adds transactions to a set that nobody else has yet.
func (s *Set) add(more source) {
	at, found := s.find(more.name)
	if !found {
		s.sources = slices.Insert(s.sources, at, more)
		return
	}
	one := &s.sources[at]
	if s.mariaDB && more.ranges[0].last > one.ranges[0].last {
		one.server = more.server
	}
	all := append(slices.Clone(one.ranges), more.ranges...)
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	joined := all[:1]
	for _, r := range all[1:] {
		if end := &joined[len(joined)-1]; r.first <= end.last+1 {
			end.last = max(end.last, r.last)
		} else {
			joined = append(joined, r)
		}
	}
	one.ranges = joined
}

// With returns what is in s or in t.
func (s *Set) With(t *Set) *Set {
	switch {
	case t.In(s):
		return s
	case s.In(t) || s.mariaDB != t.mariaDB:
		return t
	}
	both := &Set{mariaDB: s.mariaDB, sources: slices.Clone(s.sources)}
	for _, more := range t.sources {
		both.add(more)
	}
	return both
}

// gapMax is how many numbers may be between two transactions for Follow to take those between for others'.
const gapMax = 1 << 16

// Follow returns s with t, the transactions that were committed last, and with all that other clients committed in between, so that the set does not
// grow with the number of transactions. A number that is far from the last of s begins a range: what is between was perhaps never given.
func (s *Set) Follow(t *Set) *Set {
	next := s.With(t)
	if next == s || next == t || next.mariaDB {
		return next
	}
	for k := range next.sources {
		n := len(next.sources[k].ranges)
		if n < 2 {
			continue
		}
		before, last := next.sources[k].ranges[n-2], next.sources[k].ranges[n-1]
		if last.first-before.last <= gapMax && !s.begins(next.sources[k].name, last.first) {
			next.sources[k].ranges = append(slices.Clone(next.sources[k].ranges[:n-2]), span{before.first, last.last})
		}
	}
	return next
}

// begins reports whether a range of a source begins with a number.
func (s *Set) begins(name string, first uint64) bool {
	return slices.ContainsFunc(s.sources, func(one source) bool {
		return one.name == name && slices.ContainsFunc(one.ranges, func(r span) bool { return r.first == first })
	})
}

// In reports whether t has all of s.
func (s *Set) In(t *Set) bool {
	switch {
	case s == nil || s == t:
		return true
	case t == nil || s.mariaDB != t.mariaDB:
		return false
	}
	for k := range s.sources {
		if !s.sources[k].in(t) {
			return false
		}
	}
	return true
}

// in reports whether t has all transactions of one source.
func (one *source) in(t *Set) bool {
	at, found := t.find(one.name)
	if !found {
		return false
	}
	for _, r := range one.ranges {
		if !slices.ContainsFunc(t.sources[at].ranges, func(has span) bool { return has.first <= r.first && r.last <= has.last }) {
			return false
		}
	}
	return true
}

// Missing returns how many transactions of s are not in t.
func (s *Set) Missing(t *Set) (n uint64) {
	if s == nil {
		return 0
	}
	for _, one := range s.sources {
		var there []span
		if t != nil && s.mariaDB == t.mariaDB {
			if at, found := t.find(one.name); found {
				there = t.sources[at].ranges
			}
		}
		for _, r := range one.ranges {
			n += r.last - r.first + 1
			for _, has := range there {
				if first, last := max(r.first, has.first), min(r.last, has.last); first <= last {
					n -= last - first + 1
				}
			}
		}
	}
	return n
}

// find returns the place of a source.
func (s *Set) find(name string) (at int, found bool) {
	return slices.BinarySearchFunc(s.sources, name, func(one source, name string) int { return strings.Compare(one.name, name) })
}

// MariaDB reports whether the set is one of MariaDB's.
func (s *Set) MariaDB() bool { return s.mariaDB }

// String writes the set as a server reads it.
func (s *Set) String() string {
	if s == nil {
		return ""
	}
	var b []byte
	for k, one := range s.sources {
		if k > 0 {
			b = append(b, ',')
		}
		b = append(b, one.name...)
		if s.mariaDB {
			b = append(append(append(b, '-'), one.server...), '-')
			b = strconv.AppendUint(b, one.ranges[0].last, 10)
			continue
		}
		for _, r := range one.ranges {
			b = strconv.AppendUint(append(b, ':'), r.first, 10)
			if r.last > r.first {
				b = strconv.AppendUint(append(b, '-'), r.last, 10)
			}
		}
	}
	return string(b)
}
