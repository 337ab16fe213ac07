package queryrule

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// lineMax bounds a line of the file, in bytes; linesMax the entries of a list.
const (
	lineMax  = 1 << 20
	linesMax = 100_000
)

// The errors of With and Without, in the predecessor's words.
var (
	ErrListed    = errors.New("black sql has exist")
	ErrNotListed = errors.New("black sql has not exist")
	ErrEmpty     = errors.New("the statement is empty")
	ErrFull      = errors.New("the black list is full")
)

// Blacklist is a set of forbidden statements, which literals, blanks and comments do not tell apart. It is immutable; nil
// is an empty one.
type Blacklist struct {
	byPrint map[string]string // the statements as they were given
	sorted  []string
}

// LoadBlacklist reads a file of one statement a line; blank lines do not count. An empty path gives nil.
func LoadBlacklist(path string) (*Blacklist, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBlacklist(f)
}

func readBlacklist(r io.Reader) (*Blacklist, error) {
	prints := map[string]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, lineMax)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		key := Fingerprint(line, sqltext.Mode{})
		if key == "" {
			continue
		}
		if prints[key] = line; len(prints) > linesMax {
			return nil, ErrFull
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return blacklist(prints), nil
}

func blacklist(prints map[string]string) *Blacklist {
	if len(prints) == 0 {
		return nil
	}
	b := &Blacklist{byPrint: prints}
	for _, line := range prints {
		b.sorted = append(b.sorted, line)
	}
	slices.Sort(b.sorted)
	return b
}

// Match tells whether a statement is forbidden.
func (b *Blacklist) Match(text string, m sqltext.Mode) bool {
	if b == nil {
		return false
	}
	_, listed := b.byPrint[Fingerprint(text, m)]
	return listed
}

// List gives the statements as they were added, sorted. The list is the Blacklist's own.
func (b *Blacklist) List() []string {
	if b == nil {
		return nil
	}
	return b.sorted
}

// Equal tells whether both forbid the same.
func (b *Blacklist) Equal(other *Blacklist) bool { return slices.Equal(b.List(), other.List()) }

// With gives the list with one more statement.
func (b *Blacklist) With(text string) (*Blacklist, error) {
	text = strings.Join(strings.Fields(text), " ")
	key := Fingerprint(text, sqltext.Mode{})
	prints := b.copied()
	switch {
	case key == "":
		return nil, ErrEmpty
	case prints[key] != "":
		return nil, ErrListed
	case len(prints) >= linesMax || len(text) > lineMax:
		return nil, ErrFull
	}
	prints[key] = text
	return blacklist(prints), nil
}

// Without gives the list without a statement.
func (b *Blacklist) Without(text string) (*Blacklist, error) {
	key := Fingerprint(text, sqltext.Mode{})
	prints := b.copied()
	if prints[key] == "" {
		return nil, ErrNotListed
	}
	delete(prints, key)
	return blacklist(prints), nil
}

func (b *Blacklist) copied() map[string]string {
	prints := map[string]string{}
	if b != nil {
		for k, v := range b.byPrint {
			prints[k] = v
		}
	}
	return prints
}

// Text is what the file of the list holds: a statement on each line.
func (b *Blacklist) Text() []byte {
	return []byte(strings.Join(append(slices.Clone(b.List()), ""), "\n"))
}
