package session

import (
	"strconv"

	"kingshard/mysql/loadfile"
)

// withID returns a line as its shard reads it: one that leaves its id to the table has the id that is drawn for it, which is 0 for any other.
func (l *loading) withID(line *loadfile.Line) (raw []byte, drawn uint64, err error) {
	switch {
	case l.shape.Leaves:
	case l.autoAt < 0:
		return line.Raw, 0, nil
	default:
		field := line.Fields[l.autoAt]
		id, draws, err := l.plan.LoadID(fieldValue(field), zeroStays(l.s.client))
		if err == nil && draws && (field.Missing || l.plan.Statement.Load.Replace) {
			err = newError(KSRefusedSharding, "the id is left to the table by a line that ends ahead of it, or of LOAD DATA REPLACE: give it")
		}
		if err != nil {
			return nil, 0, lineError(line.Number, err)
		}
		if !draws {
			l.largest = max(l.largest, id)
			return line.Raw, 0, nil
		}
	}
	if drawn, err = l.draw(); err != nil {
		return nil, 0, err
	}
	begin, end, behind := line.Begin, line.Begin, l.format.FieldsTerminated
	if l.autoAt >= 0 {
		begin, end, behind = line.Fields[l.autoAt].Begin, line.Fields[l.autoAt].End, ""
	}
	l.line = append(l.line[:0], line.Raw[:begin]...)
	l.line = append(strconv.AppendUint(l.line, drawn, 10), behind...)
	l.line = append(l.line, line.Raw[end:]...)
	return l.line, drawn, nil
}

// draw draws an id, above all that lines before have brought.
func (l *loading) draw() (uint64, error) {
	c := l.s.client
	t := l.s.routing.sequenceTable(l.plan.Target.Table)
	if l.largest > 0 {
		c.shared.Sequences.Of(t).Saw(t, l.largest, idSpacing(&c.state))
	}
	id, err := l.s.leases.draw(t, 1)
	if l.drawn == 0 {
		l.drawn = id
	}
	return id, err
}
