package loadfile

import "unicode/utf8"

// content reads on in a field. The order of the decisions is the server's.
func (c *Cutter) content() (outcome, error) {
	from := c.pos
	for c.pos < len(c.buf) && !c.fieldStop[c.buf[c.pos]] {
		c.pos++
	}
	if c.keep {
		c.text = append(c.text, c.buf[from:c.pos]...)
	}
	if !c.ended && len(c.buf)-c.pos < c.ahead {
		return nothing, nil
	}
	if c.pos == len(c.buf) {
		return c.endField(c.pos, false, whole), nil
	}
	b := int(c.buf[c.pos])
	if b == c.escaped {
		if done, out, err := c.escape(); done {
			return out, err
		}
	}
	if !c.inside && c.at(c.pos, c.f.LinesTerminated) {
		end := c.pos
		c.pos += len(c.f.LinesTerminated)
		return c.endField(end, false, whole), nil
	}
	if c.inside && b == c.enclosed {
		return c.quote(), nil
	}
	if !c.inside && c.at(c.pos, c.f.FieldsTerminated) {
		end := c.pos
		c.pos += len(c.f.FieldsTerminated)
		return c.endField(end, false, nothing), nil
	}
	c.take(b)
	c.pos++
	return nothing, nil
}

// escape reads an escape and the character behind it; done is false where the byte is no escape after all.
func (c *Cutter) escape() (done bool, out outcome, err error) {
	if c.pos+1 == len(c.buf) {
		c.take(c.escaped)
		c.pos++
		return true, c.endField(c.pos, false, whole), nil
	}
	next := c.buf[c.pos+1]
	if c.escaped == c.enclosed && int(next) != c.escaped {
		return false, nothing, nil // where one character does both, it only escapes itself
	}
	if next >= utf8.RuneSelf && c.f.UTF8 {
		if r, n := utf8.DecodeRune(c.buf[c.pos+1:]); r == utf8.RuneError && n == 1 {
			return true, nothing, ErrEncoding
		}
	}
	c.pos += 2
	c.take(c.unescape(next))
	return true, nothing, nil
}

func (c *Cutter) unescape(b byte) int {
	switch b {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case '0':
		return 0
	case 'Z':
		return 0x1a
	case 'N':
		c.sawN = true
	}
	return int(b)
}

// quote reads a quote in a field that began with one: it ends the field if a terminator follows, and else stands for itself.
func (c *Cutter) quote() outcome {
	behind := c.pos + 1
	switch {
	case behind == len(c.buf):
		c.pos = behind
		return c.endField(behind, true, whole)
	case int(c.buf[behind]) == c.enclosed:
		c.take(c.enclosed)
		c.pos += 2
		return nothing
	case c.at(behind, c.f.LinesTerminated):
		c.pos = behind + len(c.f.LinesTerminated)
		return c.endField(behind, true, whole)
	case c.at(behind, c.f.FieldsTerminated):
		c.pos = behind + len(c.f.FieldsTerminated)
		return c.endField(behind, true, nothing)
	}
	c.take(c.enclosed)
	c.pos = behind
	return nothing
}

// endField ends a field at a place; out says whether the line ends with it. enclosed tells that it had both its quotes.
func (c *Cutter) endField(end int, enclosed bool, out outcome) outcome {
	if k := c.want[c.field]; k >= 0 {
		text := c.text
		if enclosed {
			text = text[1:]
		}
		null := !enclosed && c.enclosed >= 0 && string(text) == "NULL" || len(text) == 1 && c.sawN
		c.textAt[k] = len(c.texts)
		c.texts = append(c.texts, text...)
		c.textTo[k] = len(c.texts)
		c.line.Fields[k] = Field{Null: null, Begin: c.fieldAt, End: end - c.start}
	}
	c.field++
	switch {
	case out == whole:
	case c.field < c.fields:
		c.state = fieldBegin
	default:
		c.state = lineRest
	}
	return out
}
