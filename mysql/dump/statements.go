package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// statementMax bounds a statement that is kept, in bytes; what is longer is skipped if it holds rows, and an error else.
const statementMax = 4 << 20

// bufferBytes is how much of a file is read at a time.
const bufferBytes = 256 << 10

// statement is an SQL statement of a dump, without the delimiter that ends it. Comments are in it, but for those ahead of it.
type statement struct {
	text string
	line int
	// skipped says that it holds rows, which are left out.
	skipped bool
}

// statements cuts a file as the mysql command line does: by ';', or by what DELIMITER says, outside of quotes and comments.
type statements struct {
	in        *bufio.Reader
	line      int // of what comes next
	delimiter string
	// comment is told the comments that begin with two dashes and stand between statements.
	comment func(text string)
}

func newStatements(r io.Reader, comment func(string)) *statements {
	return &statements{in: bufio.NewReaderSize(r, bufferBytes), line: 1, delimiter: ";", comment: comment}
}

// errUnended tells of a file that ends within a statement.
var errUnended = errors.New("the file ends within a statement: is the dump whole?")

// next gives the next statement; io.EOF behind the last one.
func (s *statements) next() (st statement, err error) {
	for {
		c, err := s.skipBlanks()
		if err != nil {
			return st, err
		}
		switch begin, _ := s.in.Peek(len("delimiter ")); {
		case c == '#', bytes.HasPrefix(begin, []byte("--")) && (len(begin) == 2 || begin[2] <= ' '):
			text, err := s.restOfLine()
			if err != nil {
				return st, err
			}
			s.comment(text)
			continue
		case bytes.HasPrefix(begin, []byte("/*")) && !bytes.HasPrefix(begin, []byte("/*!")) && !bytes.HasPrefix(begin, []byte("/*M!")),
			bytes.HasPrefix(begin, []byte("/*!999999")), bytes.HasPrefix(begin, []byte("/*M!999999")): // \- turns on the sandbox of MariaDB's command line
			if err := s.skipComment(); err != nil {
				return st, err
			}
			continue
		case strings.EqualFold(string(begin), "delimiter "):
			text, err := s.restOfLine()
			if err != nil {
				return st, err
			}
			if s.delimiter = strings.TrimSpace(text[len("delimiter "):]); s.delimiter == "" || strings.Contains(s.delimiter, `\`) {
				return st, fmt.Errorf("line %d: DELIMITER without one", s.line-1)
			}
			continue
		}
		st, err = s.read()
		if err == nil && strings.TrimSpace(st.text) == "" && !st.skipped {
			continue
		}
		return st, err
	}
}

// skipBlanks gives the first byte that is no blank, without taking it.
func (s *statements) skipBlanks() (byte, error) {
	for {
		c, err := s.in.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case c == '\n':
			s.line++
		case c > ' ' || c == 0:
			return c, s.in.UnreadByte()
		}
	}
}

// restOfLine takes a line, of which it gives the beginning.
func (s *statements) restOfLine() (string, error) {
	var kept []byte
	for {
		part, err := s.in.ReadSlice('\n')
		if len(kept) < 1024 {
			kept = append(kept, part[:min(len(part), 1024)]...)
		}
		switch {
		case err == nil:
			s.line++
			return string(bytes.TrimRight(kept, "\r\n")), nil
		case err == io.EOF:
			return string(kept), nil
		case err != bufio.ErrBufferFull:
			return "", err
		}
	}
}

// skipComment takes a comment that begins here.
func (s *statements) skipComment() error {
	begin := s.line
	_, _ = s.in.Discard(2)
	for before := byte(0); ; {
		c, err := s.in.ReadByte()
		switch {
		case err == io.EOF:
			return fmt.Errorf("line %d: a comment without end", begin)
		case err != nil:
			return err
		case c == '\n':
			s.line++
		case c == '/' && before == '*':
			return nil
		}
		before = c
	}
}

// rows tells whether a statement that begins so holds rows, or what is of no use here at any length.
func rows(begin []byte) bool {
	word := begin
	if k := bytes.IndexFunc(begin, func(r rune) bool { return r <= ' ' || r == '`' || r == '(' }); k >= 0 {
		word = begin[:k]
	}
	return bytes.EqualFold(word, []byte("insert")) || bytes.EqualFold(word, []byte("replace"))
}

// read takes a statement. State is where in the text it is: in quotes, in a comment, or in neither.
func (s *statements) read() (st statement, err error) {
	begin, _ := s.in.Peek(16)
	st = statement{line: s.line, skipped: rows(begin)}
	var (
		kept    []byte
		state   byte // the quote; '-' in a comment to the end of the line; '*' in another one; 0
		escaped bool
		before  byte // the byte before, where two belong together
		end     = s.delimiter[0]
	)
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			if err == io.EOF && state == 0 && !st.skipped {
				st.text = string(kept) // the last one may lack its end
				return st, nil
			}
			if err == io.EOF {
				err = fmt.Errorf("line %d: %w", st.line, errUnended)
			}
			return st, err
		}
		if c == '\n' {
			s.line++
		}
		if state == 0 && c == end && s.ended() {
			st.text = string(kept)
			return st, nil
		}
		if !st.skipped {
			if kept = append(kept, c); len(kept) > statementMax {
				return st, fmt.Errorf("line %d: a statement longer than %d MB that inserts no rows: this is no dump of definitions", st.line, statementMax>>20)
			}
		}
		switch state {
		case '\'', '"', '`':
			switch {
			case escaped:
				escaped = false
			case c == '\\' && state != '`':
				escaped = true
			case c == state:
				state = 0
			}
			before = 0
			if st.skipped && state != 0 && !escaped {
				s.skipPlain(state)
			}
			continue
		case '-':
			if c == '\n' {
				state = 0
			}
			continue
		case '*':
			if c == '/' && before == '*' {
				state, c = 0, 0
			}
			before = c
			continue
		}
		switch {
		case c == '\'' || c == '"' || c == '`':
			state = c
		case c == '#', before == '-' && c == '-' && s.blankNext():
			state = '-'
		case before == '/' && c == '*' && !s.versioned():
			state, c = '*', 0
		}
		before = c
	}
}

// skipPlain takes what is in quotes up to where the quote, an escape or a new line may be, as far as it is in memory.
func (s *statements) skipPlain(quote byte) {
	ahead, _ := s.in.Peek(s.in.Buffered())
	n := 0
	for n < len(ahead) && ahead[n] != quote && ahead[n] != '\\' && ahead[n] != '\n' {
		n++
	}
	_, _ = s.in.Discard(n)
}

// ended tells whether the rest of the delimiter comes next, and takes it.
func (s *statements) ended() bool {
	rest := s.delimiter[1:]
	if rest == "" {
		return true
	}
	ahead, _ := s.in.Peek(len(rest))
	if string(ahead) != rest {
		return false
	}
	_, _ = s.in.Discard(len(rest))
	return true
}

func (s *statements) blankNext() bool {
	ahead, _ := s.in.Peek(1)
	return len(ahead) == 0 || ahead[0] <= ' '
}

// versioned tells whether a comment that has begun is one that servers carry out, which is text like any other.
func (s *statements) versioned() bool {
	ahead, _ := s.in.Peek(2)
	return len(ahead) > 0 && ahead[0] == '!' || string(ahead) == "M!"
}
