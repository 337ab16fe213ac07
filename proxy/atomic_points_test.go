package proxy_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// The statements of a change of several nodes, in the order in which they come. Those that begin it and change rows are the client's own.
var (
	atBegin      = point{what: "START TRANSACTION", node: 0, is: begins("START TRANSACTION")}
	atStart      = point{what: "XA START", node: 1, is: begins("XA START")}
	atAnchorRows = point{what: "the anchor's UPDATE", node: 0, is: has("UPDATE", "t_0000")}
	atBranchRows = point{what: "the branch's UPDATE", node: 1, is: has("UPDATE", "t_0001")}
	atClock      = point{what: "the question for the time", node: 0, is: begins("SELECT UTC_TIMESTAMP")}
	atRow        = point{what: "the branch's row", node: 1, is: begins("CALL ks_meta.ks_branch")} // on MySQL, as atEnd
	atEnd        = point{what: "XA END", node: 1, is: begins("XA END")}
	atPrepare    = point{what: "XA PREPARE", node: 1, is: isPrepare}
	atDecide     = point{what: "the decision", node: 0, is: isDecide}
	atCommit     = point{what: "XA COMMIT", node: 1, is: begins("XA COMMIT")}

	// Of a coordinator that has lost the answer to the decision, and of a resolver.
	atPeek     = point{what: "the look at the branch's row", node: 1, is: has("SELECT gtrid", "'ksb")}
	atFence    = point{what: "the fence", node: 0, is: begins("INSERT INTO ks_meta.dtx")}
	atRead     = point{what: "the look at the decision", node: 0, is: has("SELECT gtrid", "gtrid = 'ks1")}
	atRollback = point{what: "XA ROLLBACK", node: 1, is: begins("XA ROLLBACK")}
)

func begins(text string) func(string) bool {
	return func(s string) bool { return strings.HasPrefix(s, text) }
}

func has(first, then string) func(string) bool {
	return func(s string) bool {
		return strings.HasPrefix(s, first) && strings.Contains(s, then) && !strings.Contains(s, "LOCK IN SHARE MODE")
	}
}

func isDecide(text string) bool { return strings.HasPrefix(text, "CALL ks_meta.ks_decide") }

// isPrepare reports whether a statement prepares a branch: by itself or, on MariaDB, together with the branch's row and end.
func isPrepare(text string) bool {
	return strings.HasPrefix(text, "XA PREPARE") || strings.HasPrefix(text, "BEGIN NOT ATOMIC CALL ks_meta.ks_branch")
}

func (p point) in(phase phase) point {
	p.phase = phase
	return p
}

var (
	allPhases = []phase{unsent, unread, behind}
	allFaults = []fault{killProxy, killAnchor, killBranch, killBoth, killProxyAndBranch, standStill}
)

// pointCases returns all combinations of points, faults and how the change has come to the point.
func pointCases(kind mysqltest.Kind) (list []pointCase) {
	change := []point{atBegin, atStart, atAnchorRows, atBranchRows, atClock, atPrepare, atDecide, atCommit}
	if kind != mysqltest.MariaDB {
		change = append(change, atRow, atEnd)
	}
	for _, way := range []struct {
		to     []pointStep
		points []point
	}{
		{nil, change},
		// The coordinator asks for the decision: there is none, or there is one.
		{[]pointStep{{atDecide.in(unsent), cut}}, []point{atFence, atRollback}},
		{[]pointStep{{atDecide.in(unread), cut}}, []point{atFence, atRead, atCommit}},
		// A resolver finds the branch: there is no decision, or there is one.
		{[]pointStep{{atPrepare.in(unread), killProxy}}, []point{atPeek, atFence, atRollback}},
		{[]pointStep{{atDecide.in(unread), killProxy}}, []point{atPeek, atFence, atRead, atCommit}},
	} {
		for _, p := range way.points {
			for _, phase := range allPhases {
				for _, f := range allFaults {
					list = append(list, append(append(pointCase{}, way.to...), pointStep{p.in(phase), f}))
				}
			}
		}
	}
	return list
}

// fewPointCases are those of each run: the kills next to the decision, and a proxy that stands still there.
func fewPointCases() (list []pointCase) {
	for _, s := range []pointStep{
		{atPrepare.in(unread), killProxy}, {atPrepare.in(unread), killBranch}, {atPrepare.in(behind), killAnchor}, {atDecide.in(unsent), killBoth},
		{atDecide.in(unsent), standStill}, {atDecide.in(unread), killProxy}, {atDecide.in(unread), killAnchor}, {atDecide.in(unread), killProxyAndBranch},
		{atClock.in(unread), killAnchor}, {atCommit.in(unsent), killBranch}, {atCommit.in(unread), killBoth},
	} {
		list = append(list, pointCase{s})
	}
	return append(list, pointCase{{atDecide.in(unread), cut}, {atFence.in(unread), killProxy}}, pointCase{{atDecide.in(unread), killProxy}, {atRead.in(unread), killAnchor}})
}

// A change of several nodes is on all of them or on none, and as its client heard, wherever a proxy, a server or both are killed, or the proxy
// stands still; and no branch is in doubt for longer than ten seconds. In each run there are a few cases, and all with KS_ALL.
func TestEachPointOfACommit(t *testing.T) {
	for _, kind := range bothKinds {
		cases, rigs := fewPointCases(), 2
		if os.Getenv("KS_ALL") != "" {
			cases, rigs = pointCases(kind), 10
		}
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			for k := range rigs {
				t.Run(fmt.Sprintf("rig %d", k), func(t *testing.T) {
					t.Parallel()
					r := startPoints(t, kind)
					began, ran, failed := time.Now(), 0, 0
					for n := range cases {
						if (n+n/rigs)%rigs != k { // so that each rig has its share of the slow ones
							continue
						}
						if !t.Run(cases[n].String(), func(t *testing.T) {
							ran++
							r.run(t, cases[n])
						}) {
							failed++
						}
						if failed == 5 {
							break // the rest would wait in vain, too
						}
					}
					for _, d := range r.proxies {
						if strings.Contains(d.log(), "needs an operator") {
							t.Errorf("an incident: %s", d.log())
						}
					}
					t.Logf("%d cases in %.0f s: %d changes kept, %d times the client heard nothing, the longest doubt %.1f s", ran, time.Since(began).Seconds(), r.kept, r.unknown, r.doubtest.Seconds())
				})
			}
		})
	}
}
