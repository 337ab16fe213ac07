// Command bench measures kingshard beside a direct connection and HAProxy on this machine, with servers of its own.
//
//	go run ./bench -list                            the scenarios
//	go run ./bench -run 'point.*64' -rounds 5       some of them, contenders in turns
//	go run ./bench -done                            the table of what the proxy promises
//	go run ./bench -run '^slo$' -slo p99=60ms -goal 100000
//	                                                highest rate that holds, and machines that carry the goal
//	go run ./bench -docs docs                       all of them, and docs/performance.md from what they found
//	go run ./bench -render FILE.jsonl               docs/performance.md from a run's file
//	go run ./bench tpcc                             TPC-C transactions, on one server and through the proxy
//	go run ./bench tpch                             the 22 queries of TPC-H, on one server and over shards
//	go run ./bench chaos                            a load that goes on while something fails
//	go run ./bench soak -for 2h                     the same for long, and what the proxy has more afterwards
//
// Every run writes a file into bench/results. docs/benchmark.md says more.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:])) }

// run carries out the command line and returns the exit code: 0 done, 1 failed, 2 wrong arguments.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(args) > 0 {
		switch args[0] {
		case "tpcc":
			return runTPCC(ctx, args[1:])
		case "tpch":
			return runTPCH(ctx, args[1:])
		case "chaos", "soak":
			return runChaos(ctx, args[0], args[1:])
		}
	}
	o, ok := parseOptions(args)
	if !ok {
		return 2
	}
	var err error
	switch {
	case o.list:
		list(o)
	case o.render != "":
		err = render(o.render, o.docs)
	default:
		err = measure(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}
