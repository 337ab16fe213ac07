package remote

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// UpgradeAbout says what the command does.
const UpgradeAbout = `Has a running proxy start the file of its binary, which may be a new one by now, and hand listeners and clients over to that
process, as KS UPGRADE does. Prints which one it is. If it does not start, the old one goes on and the reason is printed.
Exit status: 0 the new process serves, 1 it does not or there is no connection, 2 wrong arguments.`

// Upgrade adds the flags and gives what runs the command.
func Upgrade(set *flag.FlagSet) func(args []string) int {
	l := bindLogin(set)
	return func(args []string) int {
		if len(args) > 0 {
			fmt.Fprintln(os.Stderr, "kingshard upgrade: flags only")
			return 2
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err := admin(ctx, l, "KS UPGRADE", nil, os.Stdout, func(out io.Writer, r *result) error {
			for _, row := range r.rows {
				fmt.Fprintln(out, "handed over to "+visible(row[0].String))
			}
			return nil
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, errorText(err))
			return 1
		}
		return 0
	}
}
