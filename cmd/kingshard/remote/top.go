package remote

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// TopAbout says what the command does.
const TopAbout = `Shows what a running proxy does, anew every two seconds: queries and errors per second, their mean time, and below one of three
lists. Keys: d the statements that took the most time (since the frame before; p95 is since the proxy's start), n the nodes
with their pools, s the sessions, q quit. The user needs the rights read. Exit status: 0 it was quit, 1 there is no connection.`

// Top adds the flags and gives what runs the command.
func Top(set *flag.FlagSet) func(args []string) int {
	l := bindLogin(set)
	interval := set.Duration("interval", 2*time.Second, "`time` between two frames, at least 100ms")
	once := set.Bool("once", false, "print one frame as text, of the time since the proxy's start, and exit")
	list := set.String("list", "d", "list to begin with: d, n or s")
	return func(args []string) int {
		v, ok := map[string]view{"d": viewDigests, "n": viewNodes, "s": viewSessions}[*list]
		if len(args) > 0 || !ok || *interval < 100*time.Millisecond {
			fmt.Fprintln(os.Stderr, "kingshard top: no arguments, -list d, n or s, and an -interval of at least 100ms are wanted")
			return 2
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		if err := top(ctx, l, *interval, *once, v); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, errorText(err))
			return 1
		}
		return 0
	}
}

func top(ctx context.Context, l *login, interval time.Duration, once bool, v view) error {
	terminal := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	if !once && !terminal {
		return fmt.Errorf("standard input and output are no terminal: give -once")
	}
	db, err := l.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if once {
		return printOnce(ctx, db, v, os.Stdout)
	}
	return live(ctx, db, interval, v, screen{os.Stdin, os.Stdout})
}

// onceWidth and onceHeight are the size of the frame that is printed as text.
const (
	onceWidth  = 200
	onceHeight = 40
)

// printOnce prints one frame without its empty lines and keys.
func printOnce(ctx context.Context, db *sql.DB, v view, w io.Writer) error {
	s, err := take(ctx, db)
	if err != nil {
		return err
	}
	lines := frame(s, s.since(nil), v, onceWidth, onceHeight)
	text := strings.TrimRight(strings.Join(lines[:len(lines)-1], "\n"), "\n")
	_, err = fmt.Fprintln(w, text)
	return err
}

// What a terminal is told. The alternate screen leaves what was there before as it was.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	cursorHome  = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// screen is the terminal.
type screen struct{ in, out *os.File }

// live shows frames until q, Ctrl-C or the end of ctx, and leaves the terminal as it was.
func live(ctx context.Context, db *sql.DB, interval time.Duration, v view, s screen) error {
	in := int(s.in.Fd())
	state, err := term.MakeRaw(in)
	if err != nil {
		return err
	}
	defer term.Restore(in, state)
	fmt.Fprint(s.out, enterScreen)
	defer fmt.Fprint(s.out, leaveScreen)
	keys := make(chan byte, 16)
	go readKeys(s.in, keys) // a read of a terminal cannot be ended: it ends with the process
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var before, now *sample
	for refresh := true; ; {
		if refresh {
			next, err := take(ctx, db)
			if err != nil {
				return err
			}
			before, now = now, next
		}
		s.draw(now, before, v)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			refresh = true
		case key, open := <-keys:
			refresh = false
			switch {
			case !open, key == 'q', key == 'Q', key == ctrlC:
				return nil
			case key == byte(viewDigests), key == byte(viewNodes), key == byte(viewSessions):
				v = view(key)
			}
		}
	}
}

// ctrlC is what the key sends in raw mode, where it is no signal.
const ctrlC = 3

// draw writes a frame over the one before, as large as the terminal is now, in one write so that nothing flickers.
func (s screen) draw(now, before *sample, v view) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil {
		width, height = 80, 24
	}
	lines := frame(now, now.since(before), v, width, height)
	fmt.Fprint(s.out, cursorHome+strings.Join(lines, clearLine+"\r\n")+clearLine+clearBelow)
}

// readKeys sends what is typed until its end.
func readKeys(r io.Reader, keys chan<- byte) {
	defer close(keys)
	b := make([]byte, 1)
	for {
		if _, err := r.Read(b); err != nil {
			return
		}
		keys <- b[0]
	}
}
