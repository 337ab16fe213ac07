package scenario

import (
	"context"
	"fmt"
	"time"

	"kingshard/bench/load"
	"kingshard/bench/rig"
)

// Names of the scenarios of transactions.
const (
	commitBoth = "commit/two-nodes"
	commitOne  = "commit/one-node"
)

// The contenders of commit, which differ in the transaction_mode. Nodes are servers of their own.
var (
	atomic     = inMode("atomic")
	bestEffort = inMode("best_effort")
	single     = inMode("single")
)

// inMode returns the proxy over two servers with a transaction_mode.
func inMode(mode string) rig.Spec {
	s := scattered(2)
	s.Name, s.Servers = "kingshard "+mode, 2
	s.Config = fmt.Sprintf("transaction_mode: %s\nxa_on_unsafe_server: true", mode)
	return s
}

// transactionKeys are the rows of each shard that transactions change.
const transactionKeys = 1000

// commit are the COMMIT of transactions that change a row on each of two nodes, and whole transactions that change one row.
func commit() []Scenario {
	update := func(id string) string { return "UPDATE events SET amount = amount + 1 WHERE id = " + id }
	return []Scenario{
		{
			Family: commitBoth, Against: []rig.Spec{bestEffort, atomic},
			Work: transactions{clients: 1, last: true, statements: []string{"BEGIN", update("1%d0"), update("1%d1"), "COMMIT"}},
		},
		{
			Family: commitOne, Against: []rig.Spec{single, atomic},
			Work: transactions{clients: 16, statements: []string{"BEGIN", update("1%d0"), "COMMIT"}},
		},
	}
}

// transactions are a closed loop of transactions.
type transactions struct {
	clients    int
	statements []string
	last       bool // what is measured is the last statement
}

func (l transactions) run(ctx context.Context, c *rig.Contender, t timing, w load.Window) (outcome, error) {
	result, err := load.Transactions{
		Login: c.Login(rig.DB), Clients: l.clients, Statements: l.statements, Keys: transactionKeys, Last: l.last,
		Warmup: t.warmup, Duration: t.measured, Window: w,
	}.Run(ctx)
	return outcome{Result: result}, err
}

func (transactions) takes(t timing) time.Duration { return t.warmup + t.measured }
