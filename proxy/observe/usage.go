package observe

import (
	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/querylog"
)

// Usage is how many commands of one kind a user's sessions ended.
type Usage struct {
	User string
	// Command is the manual's name of one that carries a statement, else "other".
	Command string
	Plan    string // as querylog.Plan names it; local where no server was asked
	// Outcome is "ok" or "error"; Origin is of an error, as Origin names it, else empty.
	Outcome, Origin string
	N               uint64
}

// usageCommands are the commands that are told apart, those that run statements first.
var usageCommands = [...]mysql.Command{mysql.ComQuery, mysql.ComStmtExecute, mysql.ComStmtPrepare}

const (
	usageKinds    = len(usageCommands) + 1 // and the others
	usageOutcomes = 1 + int(origins)       // success, then errors by their origin
)

// A user's Tally has a place for each usage, by kind, plan and outcome.
var _ = [1]struct{}{}[usageKinds*querylog.Plans*usageOutcomes-account.TallyPlaces]

// usagePlace returns the place of a command's usage; outcome is 0 for success, else 1 and the error's Origin.
func usagePlace(cmd mysql.Command, p querylog.Plan, outcome int) int {
	kind := 0
	for kind < len(usageCommands) && usageCommands[kind] != cmd {
		kind++
	}
	return (kind*querylog.Plans+int(p))*usageOutcomes + outcome
}

// Usages calls f for each kind of commands that a user of the configuration has ended since the start, or since the user came, and
// for statements on one server where there are none yet: a rate needs a beginning.
func Usages(accounts *account.Store, f func(Usage)) {
	accounts.Tallies(func(user string, sums *[account.TallyPlaces]uint64) {
		for place, n := range sums {
			kind, p, outcome := place/usageOutcomes/querylog.Plans, place/usageOutcomes%querylog.Plans, place%usageOutcomes
			if n == 0 && (kind >= statementCommands || p != int(querylog.PlanForward)) {
				continue
			}
			u := Usage{User: user, Command: "other", Plan: querylog.Plan(p).String(), Outcome: "ok", N: n}
			if kind < len(usageCommands) {
				u.Command = usageCommands[kind].String()
			}
			if outcome > 0 {
				u.Outcome, u.Origin = "error", Origin(outcome-1).String()
			}
			f(u)
		}
	})
}
