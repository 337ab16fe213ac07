package loadfile

import (
	"errors"
	"unicode/utf8"
)

// ErrEncoding says that a place of the file is not in the character set UTF-8, where servers differ in what they take for
// the end of the line.
var ErrEncoding = errors.New("bytes that are not UTF-8")

// Field is the content of a field. Text is valid until the next call of the Cutter.
type Field struct {
	Text []byte
	// Null is \N, and the word NULL without quotes where there are quotes. Missing: the line ended before it.
	Null, Missing bool
	// Begin and End are the place of the field in the line's Raw, with its quotes.
	Begin, End int
}

// Line is one line of the file.
type Line struct {
	// Raw is the line with all that belongs to it: lines that follow each other in another order or another file are read
	// as they were. Only the last one may be without its end.
	Raw []byte
	// Fields are those asked for, in that order.
	Fields []Field
	// Begin is where the first field begins in Raw.
	Begin int
	// Number counts the file's lines from 1, those that were skipped included.
	Number uint64
}

// state is what the next byte belongs to.
type state uint8

const (
	skipping  state = iota // a line that does not count
	lineBegin              // what may stand ahead of the line's prefix
	fieldBegin
	inField  //
	lineRest // fields beyond those that are read: their quotes have no meaning
)

// Cutter cuts a file that comes in pieces. It holds the bytes of one line at the most, beside the piece that came last.
type Cutter struct {
	f                   Format
	fields              int
	want                []int // by field: the place in line.Fields, -1 for one that nobody wants
	enclosed, escaped   int   // -1: none; so that no byte equals them
	fieldFirst, endsAs  int   // first bytes of the terminators
	ahead               int   // bytes that one step may look at
	fieldStop, restStop [256]bool

	buf        []byte
	start, pos int // of the line, and of the next byte
	ended      bool
	state      state
	skip       uint64
	number     uint64
	line       Line

	field          int  // number of the field
	fieldAt        int  // where it begins, from start on
	inside         bool // it began with a quote
	sawN           bool // it has \N
	text           []byte
	keep           bool
	texts          []byte // of the line's wanted fields
	textAt, textTo []int
}

// New makes a Cutter of lines of which so many fields are read and those numbered in want are given. The first skip lines
// are left out. The format must be one that Check lets pass; with skip it must have LinesTerminated.
func New(f Format, fields int, want []int, skip uint64) *Cutter {
	if f.FieldsTerminated == f.LinesTerminated {
		f.LinesTerminated = "" // the server's rule
	}
	c := &Cutter{f: f, fields: fields, want: make([]int, fields), skip: skip, state: lineBegin}
	if skip > 0 {
		c.state = skipping
	}
	c.enclosed, c.escaped, c.fieldFirst, c.endsAs = first(f.Enclosed), first(f.Escaped), first(f.FieldsTerminated), first(f.LinesTerminated)
	for k := range c.want {
		c.want[k] = -1
	}
	for k, field := range want {
		c.want[field] = k
	}
	c.line.Fields = make([]Field, len(want))
	c.textAt, c.textTo = make([]int, len(want)), make([]int, len(want))
	c.ahead = 2 + utf8.UTFMax + max(len(f.FieldsTerminated), len(f.LinesTerminated), len(f.LinesStarting))
	for _, b := range []int{c.enclosed, c.escaped, c.fieldFirst, c.endsAs} {
		if b >= 0 {
			c.fieldStop[b] = true
		}
	}
	for _, b := range []int{c.escaped, c.endsAs} {
		if b >= 0 {
			c.restStop[b] = true
		}
	}
	for b := utf8.RuneSelf; f.UTF8 && b < 256; b++ {
		c.restStop[b] = true
	}
	return c
}

func first(s string) int {
	if s == "" {
		return -1
	}
	return int(s[0])
}

// Feed adds the next bytes of the file, which are copied.
func (c *Cutter) Feed(b []byte) {
	n := copy(c.buf, c.buf[c.start:])
	c.buf = append(c.buf[:n], b...)
	c.pos -= c.start
	c.start = 0
}

// End says that no more bytes come.
func (c *Cutter) End() { c.ended = true }

// Held is the number of bytes that wait for the end of their line.
func (c *Cutter) Held() int { return len(c.buf) - c.start }

// Next gives the next line, valid until the next call; nil where more bytes are needed or, after End, there are none. After
// an error, which is ErrEncoding, there is no going on; Number tells the line.
func (c *Cutter) Next() (*Line, error) {
	for {
		if !c.ended && len(c.buf)-c.pos < c.ahead {
			return nil, nil
		}
		done, err := c.step()
		if done == nothing && err == nil {
			continue
		}
		if done != whole || err != nil {
			return nil, err
		}
		c.number++
		if c.state == skipping {
			c.start = c.pos
			if c.skip--; c.skip == 0 {
				c.state = lineBegin
			}
			continue
		}
		c.give()
		return &c.line, nil
	}
}

// Number is the number of the line that is being read.
func (c *Cutter) Number() uint64 { return c.number + 1 }

// give makes the line that ends here the current one.
func (c *Cutter) give() {
	c.line.Raw, c.line.Number = c.buf[c.start:c.pos:c.pos], c.number
	for field, k := range c.want {
		switch {
		case k < 0:
		case field >= c.field:
			c.line.Fields[k] = Field{Missing: true}
		default:
			c.line.Fields[k].Text = c.texts[c.textAt[k]:c.textTo[k]]
		}
	}
	c.start, c.state, c.field = c.pos, lineBegin, 0
	c.texts = c.texts[:0]
}

// outcome is what a step led to.
type outcome uint8

const (
	nothing outcome = iota
	whole           // the line ends at pos
	over            // the file ends, without another line
)

// step reads what one decision of the server is about.
func (c *Cutter) step() (outcome, error) {
	switch c.state {
	case skipping, lineRest:
		return c.rest()
	case lineBegin:
		return c.begin(), nil
	case fieldBegin:
		return c.beginField(), nil
	}
	return c.content()
}

// rest goes to the end of the line.
func (c *Cutter) rest() (outcome, error) {
	if c.state == lineRest && c.f.LinesTerminated == "" {
		return whole, nil
	}
	for c.pos < len(c.buf) && !c.restStop[c.buf[c.pos]] {
		c.pos++
	}
	if !c.ended && len(c.buf)-c.pos < c.ahead {
		return nothing, nil
	}
	if c.pos == len(c.buf) {
		if c.state == skipping {
			return over, nil
		}
		return whole, nil
	}
	switch b := c.buf[c.pos]; {
	case int(b) == c.escaped:
		c.pos = min(c.pos+2, len(c.buf))
	case c.at(c.pos, c.f.LinesTerminated):
		c.pos += len(c.f.LinesTerminated)
		return whole, nil
	case b >= utf8.RuneSelf && c.f.UTF8:
		r, n := utf8.DecodeRune(c.buf[c.pos:])
		if r == utf8.RuneError && n == 1 {
			return nothing, ErrEncoding
		}
		c.pos += n
	default:
		c.pos++
	}
	return nothing, nil
}

// at tells whether the text stands at a place; an empty one stands nowhere.
func (c *Cutter) at(pos int, text string) bool {
	return text != "" && len(c.buf)-pos >= len(text) && string(c.buf[pos:pos+len(text)]) == text
}

// begin looks for the line's prefix.
func (c *Cutter) begin() outcome {
	if c.f.LinesStarting == "" {
		c.state = fieldBegin
		return nothing
	}
	switch {
	case c.pos == len(c.buf):
		return over
	case c.at(c.pos, c.f.LinesStarting):
		c.pos += len(c.f.LinesStarting)
		c.state = fieldBegin
	default:
		c.pos++
	}
	return nothing
}

func (c *Cutter) beginField() outcome {
	if c.pos == len(c.buf) {
		if c.field == 0 {
			return over
		}
		return whole
	}
	if c.fieldAt = c.pos - c.start; c.field == 0 {
		c.line.Begin = c.fieldAt
	}
	c.keep = c.want[c.field] >= 0
	c.text, c.sawN, c.inside = c.text[:0], false, false
	c.state = inField
	if int(c.buf[c.pos]) == c.enclosed {
		c.inside = true
		c.take(c.enclosed) // stays if the file ends before the quotes close
		c.pos++
	}
	return nothing
}

func (c *Cutter) take(b int) {
	if c.keep {
		c.text = append(c.text, byte(b))
	}
}
