package roles

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Contains reports whether have has all transactions of want, both sets of GTIDs as servers write them: MySQL's UUID:from-to:..., which a tag may
// stand in, or MariaDB's domain-server-sequence, the last of each domain. What cannot be read is in none. MySQL manual: "GTID Sets"; MariaDB
// Knowledge Base: "Global Transaction ID".
func Contains(have, want string) bool {
	if strings.Contains(want, ":") {
		return intervalsOf(have).contain(intervalsOf(want))
	}
	last := positionsOf(have)
	for domain, sequence := range positionsOf(want) {
		if got, ok := last[domain]; !ok || got < sequence {
			return false
		}
	}
	return true
}

// positionsOf reads the last sequence number of each domain of MariaDB's.
func positionsOf(set string) map[string]uint64 {
	last := make(map[string]uint64)
	for one := range strings.SplitSeq(set, ",") {
		parts := strings.Split(strings.TrimSpace(one), "-")
		if len(parts) != 3 {
			continue
		}
		if n, err := strconv.ParseUint(parts[2], 10, 64); err == nil {
			last[parts[0]] = max(last[parts[0]], n)
		}
	}
	return last
}

// interval is a run of transactions of one source, both ends included.
type interval struct{ from, to uint64 }

// intervals are MySQL's transactions by source and tag.
type intervals map[string][]interval

// intervalsOf reads a set of MySQL's.
func intervalsOf(set string) intervals {
	all := make(intervals)
	for one := range strings.SplitSeq(set, ",") {
		source, rest, _ := strings.Cut(strings.ToLower(strings.TrimSpace(one)), ":")
		tag := ""
		for part := range strings.SplitSeq(rest, ":") {
			first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
			from, err := strconv.ParseUint(first, 10, 64)
			if err != nil {
				tag = first
				continue
			}
			to := from
			if isRange {
				if to, err = strconv.ParseUint(last, 10, 64); err != nil {
					continue
				}
			}
			key := source + ":" + tag
			all[key] = append(all[key], interval{from, to})
		}
	}
	for key, list := range all {
		all[key] = joined(list)
	}
	return all
}

// joined sorts intervals and makes one of those that meet.
func joined(list []interval) []interval {
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	into := list[:1]
	for _, one := range list[1:] {
		if last := &into[len(into)-1]; one.from <= last.to+1 {
			last.to = max(last.to, one.to)
		} else {
			into = append(into, one)
		}
	}
	return into
}

// contain reports whether all of want is there.
func (have intervals) contain(want intervals) bool {
	for key, list := range want {
		for _, one := range list {
			if !slices.ContainsFunc(have[key], func(h interval) bool { return h.from <= one.from && one.to <= h.to }) {
				return false
			}
		}
	}
	return true
}
