package remote

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	driver "github.com/go-sql-driver/mysql"
	"golang.org/x/term"
)

// AdminAbout says what the command does.
const AdminAbout = `Sends admin SQL to a running proxy and prints what it answers; KS HELP lists the statements. Without -e statements are read from
standard input, each ended by a ';'. The first one that fails ends it. Address and user are those of the flags, else of
the configuration; the password is that of -password-file, of the environment's KS_PASSWORD, or it is asked for.
Exit status: 0 all were done, 1 one failed or there is no connection, 2 wrong arguments.`

// Admin adds the flags and gives what runs the command.
func Admin(set *flag.FlagSet) func(args []string) int {
	l := bindLogin(set)
	statements := set.String("e", "", "`statements` to send, with ';' between them")
	format := set.String("format", "", "table, tsv or json; when left out, table for a terminal, else tsv")
	return func(args []string) int {
		if *format == "" {
			*format = "tsv"
			if term.IsTerminal(int(os.Stdout.Fd())) {
				*format = "table"
			}
		}
		show := formats[*format]
		if len(args) > 0 || show == nil {
			fmt.Fprintf(os.Stderr, "kingshard admin: -e 'SQL' and -format of %s are wanted\n", strings.Join(slices.Sorted(maps.Keys(formats)), ", "))
			return 2
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if err := admin(ctx, l, *statements, os.Stdin, os.Stdout, show); err != nil {
			fmt.Fprintln(os.Stderr, errorText(err))
			return 1
		}
		return 0
	}
}

// errorText is an error as the mysql client shows that of a server, without what a terminal would obey.
func errorText(err error) string {
	if e, ok := errors.AsType[*driver.MySQLError](err); ok {
		return visible(fmt.Sprintf("ERROR %d (%s): %s", e.Number, string(e.SQLState[:]), e.Message))
	}
	return visible("kingshard: " + err.Error())
}

// admin runs statements one by one; those of in when text is empty.
func admin(ctx context.Context, l *login, text string, in io.Reader, out io.Writer, show func(io.Writer, *result) error) error {
	// Asked for first: a password is not typed in vain, and statements may come from standard input after it.
	db, err := l.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if text == "" {
		if text, err = readAll(in); err != nil {
			return err
		}
	}
	return run(ctx, db, text, out, show)
}

func run(ctx context.Context, db *sql.DB, text string, out io.Writer, show func(io.Writer, *result) error) error {
	for _, statement := range statements(text) {
		r, err := query(ctx, db, statement)
		if err != nil {
			return err
		}
		if len(r.columns) == 0 {
			continue
		}
		if err := show(out, r); err != nil {
			return err
		}
	}
	return nil
}
