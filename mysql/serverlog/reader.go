package serverlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"kingshard/mysql/sqltext"
)

// Kind is what an entry of a log is.
type Kind uint8

// The kinds.
const (
	Statement Kind = iota // was carried out
	Prepared              // was prepared; its executions are entries of their own
	Command               // a command of the protocol that has no statement, as Ping
	Routine               // was carried out within a stored routine, whose call is an entry of its own
)

// Entry is what a log says of one statement.
type Entry struct {
	Kind Kind
	// DB is the current database, as far as the log tells; "" otherwise.
	DB   string
	Text string
	// TooLong says that Text is the beginning of a statement that is longer than the reader keeps.
	TooLong bool
	// At is when it came, of a general log, or was done, of a slow log: in UTC or in ServerTime, and zero where the log does not tell.
	At time.Time
	// Time is how long it took, of a slow log.
	Time time.Duration
	Line int // where it begins
}

// ServerTime is the zone of times of which a log does not tell the zone.
var ServerTime = time.FixedZone("server time", 0)

// Reader reads a log.
type Reader struct {
	in      *bufio.Reader
	textMax int
	line    int // of the last one that was read
	begun   bool
	held    *held // a line that was read and belongs to the next entry
	lines   [2]held

	slow, general bool
	server        sqltext.Mode
	at            time.Time         // as a line said last
	db            string            // of a slow log, as USE said last
	sessions      map[string]string // of a general log: current databases by connection
}

// held is a line of which the beginning is kept.
type held struct {
	text []byte
	cut  bool // there is more of it
	line int
}

// lineBytes is how much of a line is looked at to tell what it is.
const lineBytes = 64 << 10

// sessionsMax bounds the connections whose databases are known at a time; beyond it all are forgotten.
const sessionsMax = 100_000

// searchLines is within how many lines the first of a log must be.
const searchLines = 100_000

// NewReader makes a reader of a log that keeps so many bytes of a statement.
func NewReader(r io.Reader, textMax int) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 2*lineBytes), textMax: textMax, sessions: map[string]string{}}
}

// Slow reports whether it is a slow log, and so has times, once an entry was read.
func (r *Reader) Slow() bool { return r.slow }

// Server is the server that wrote what was read last, as far as the log tells; else zero.
func (r *Reader) Server() sqltext.Mode { return r.server }

// Next gives the next entry; io.EOF behind the last one.
func (r *Reader) Next() (Entry, error) {
	if !r.begun {
		r.begun = true
		if err := r.recognize(); err != nil {
			return Entry{}, err
		}
	}
	if r.slow {
		return r.nextSlow()
	}
	return r.nextGeneral()
}

// recognize goes to the first line of a log of either kind: a file that was cut off may begin within a statement.
func (r *Reader) recognize() error {
	begin, err := r.in.Peek(4096)
	switch {
	case len(begin) == 0 && err == io.EOF:
		return errors.New("it is empty")
	case len(begin) == 0 && err != nil:
		return err
	case bytes.HasPrefix(begin, []byte{0x1f, 0x8b}), bytes.HasPrefix(begin, []byte{0x28, 0xb5, 0x2f, 0xfd}), bytes.HasPrefix(begin, []byte("BZh")), bytes.HasPrefix(begin, []byte("\xfd7zXZ")):
		return errors.New("it is compressed: unpack it first, as by zcat FILE | kingshard explain -log -")
	case bytes.HasPrefix(begin, []byte("\xfebin")):
		return errors.New("it is a binary log: the slow log or the general log is wanted")
	case bytes.IndexByte(begin, 0) >= 0:
		return errors.New("it is no text")
	}
	first := ""
	for r.line < searchLines {
		l, err := r.next()
		if err == io.EOF {
			if r.server.ServerVersion > 0 {
				return io.EOF // a log in which nothing was written
			}
			break
		}
		if err != nil {
			return err
		}
		if first == "" {
			first = strings.TrimSpace(string(l.text[:min(len(l.text), 80)]))
		}
		if r.started(l) {
			continue
		}
		if beginsSlow(l.text) {
			r.slow, r.held = true, l
			return nil
		}
		if _, ok := generalLine(l.text); ok {
			r.general, r.held = true, l
			return nil
		}
	}
	return fmt.Errorf("it is neither a slow log nor a general log of MySQL or MariaDB: it begins with %q", strings.ToValidUTF8(first, "?"))
}

// next gives the next line, without its end; it lives until the next call but one.
func (r *Reader) next() (*held, error) {
	if l := r.held; l != nil {
		r.held = nil
		return l, nil
	}
	l := &r.lines[r.line%2]
	l.text, l.cut = l.text[:0], false
	for {
		part, err := r.in.ReadSlice('\n')
		if room := r.textMax + lineBytes - len(l.text); room > 0 {
			l.text = append(l.text, part[:min(len(part), room)]...)
			l.cut = len(part) > room
		} else if len(part) > 0 {
			l.cut = true
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(l.text) == 0:
			return nil, io.EOF
		case err != nil && err != io.EOF:
			return nil, err
		}
		r.line++
		l.line = r.line
		l.text = bytes.TrimSuffix(bytes.TrimSuffix(l.text, []byte("\n")), []byte("\r"))
		return l, nil
	}
}

// started takes the three lines that a server writes when it starts, or opens the file again; false for any other line.
func (r *Reader) started(l *held) bool {
	before, version, ok := bytes.Cut(l.text, []byte(", Version: "))
	if !ok || !bytes.Contains(version, []byte("started with:")) || bytes.ContainsAny(before, "'\"`(") {
		return bytes.HasPrefix(l.text, []byte("Tcp port: ")) || bytes.HasPrefix(l.text, []byte("TCP Port: ")) ||
			bytes.HasPrefix(l.text, []byte("Time")) && bytes.Contains(l.text, []byte(" Id Command"))
	}
	r.server = sqltext.ModeOf(string(version))
	r.db = ""
	clear(r.sessions)
	return true
}

// time takes the time that a line has: "231127  4:05:06" or "2023-11-27T04:05:06.789012Z". Any other text leaves it as it was.
func (r *Reader) time(text string) {
	if date, clock, ok := strings.Cut(text, " "); ok {
		if t, err := time.ParseInLocation("060102 15:04:05", date+" "+strings.TrimLeft(clock, " "), ServerTime); err == nil {
			r.at = t
		}
	} else if t, err := time.Parse(time.RFC3339Nano, date); err == nil {
		r.at = t.UTC()
	}
}

// statement collects the lines of one.
type statement struct {
	text    []byte
	tooLong bool
	max     int
}

func (s *statement) add(l []byte, cut bool) {
	if len(s.text) > 0 || s.tooLong {
		s.text = append(s.text, '\n')
	}
	if room := s.max - len(s.text); len(l) > room {
		l, s.tooLong = l[:max(room, 0)], true
	}
	s.text = append(s.text, l...)
	s.tooLong = s.tooLong || cut
}
