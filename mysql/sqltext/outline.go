package sqltext

import "slices"

// Outline is what the digests of a template's texts have in common: all of their Key, and all of their Literals, Lists and Rows but for
// the places in the text. It does not change, and may be used by any goroutine.
type Outline struct {
	template *Template
	literals []Literal // without their places
	places   []span    // of literals
	lists    []List
	rows     []span
}

// span is a piece of the text, by the places of values.
type span struct{ pos, end anchor }

// anchor is a place in the text: so many values end there or ahead of it, and so many bytes behind the last of them it is.
type anchor struct{ values, distance int }

// valueEnds are the places where the values of a text end, behind a 0 for the text's begin.
type valueEnds [1 + templateValuesMax]int

// Outline gives what the digests of the template's texts have in common, of which text is one and d its digest. It is nil where they
// differ: where a value is part of their Key.
func (t *Template) Outline(text string, d *Digest) *Outline {
	o := &Outline{template: t, literals: slices.Clone(d.Literals), lists: slices.Clone(d.Lists), places: make([]span, 0, len(d.Literals))}
	ends, taken := t.ends(text), 0
	for k := range o.literals {
		l := &o.literals[k]
		if taken < len(t.fixed) && l.End == ends[1+taken] {
			taken++
		}
		o.places = append(o.places, t.span(l.Pos, l.End, &ends))
		l.Pos, l.End = 0, 0
	}
	for _, r := range d.Rows {
		o.rows = append(o.rows, t.span(r.Pos, r.End, &ends))
	}
	if taken < len(t.fixed) {
		return nil
	}
	return o
}

// ends finds the ends of the values in a text that matches.
func (t *Template) ends(text string) (ends valueEnds) {
	at := 0
	for k := range t.fixed {
		part := &t.fixed[k]
		if at += len(part.text); part.quoted {
			at += quotedLen(text[at:])
		} else {
			for at < len(text) && isDigit(text[at]) {
				at++
			}
		}
		ends[1+k] = at
	}
	return ends
}

func (t *Template) span(pos, end int, ends *valueEnds) span {
	return span{t.anchor(pos, ends), t.anchor(end, ends)}
}

func (t *Template) anchor(pos int, ends *valueEnds) anchor {
	n := len(t.fixed)
	for ends[n] > pos {
		n--
	}
	return anchor{n, pos - ends[n]}
}

func (a *anchor) in(ends *valueEnds) int { return ends[a.values] + a.distance }

// Digest makes d the digest of a text that matches the template, but for Key and Hash, which are empty.
func (o *Outline) Digest(d *Digest, text string) {
	ends := o.template.ends(text)
	d.Key, d.Hash = d.Key[:0], 0
	d.Literals = append(d.Literals[:0], o.literals...)
	d.Lists, d.Rows = append(d.Lists[:0], o.lists...), d.Rows[:0]
	for k := range d.Literals {
		at := &o.places[k]
		d.Literals[k].Pos, d.Literals[k].End = at.pos.in(&ends), at.end.in(&ends)
	}
	for k := range o.rows {
		at := &o.rows[k]
		d.Rows = append(d.Rows, Row{at.pos.in(&ends), at.end.in(&ends)})
	}
}
