package exec

import (
	"errors"
	"fmt"
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// ErrMismatch says that shards answered the same statement with columns that cannot stand in one result: the tables
// behind a sharded one are not defined alike.
var ErrMismatch = errors.New("the shards' results differ")

// resolve fills in what the plan leaves to the number of columns that a star hides.
func (m *merge) resolve() {
	if m.plan.Visible != 0 {
		return
	}
	p := *m.plan
	p.Visible = len(m.defs) - p.Hidden
	at := func(n int) int {
		if k, hidden := plan.HiddenColumn(n); hidden {
			return p.Visible + k
		}
		return n
	}
	p.Order = slices.Clone(p.Order)
	for k := range p.Order {
		p.Order[k].Column = at(p.Order[k].Column)
	}
	p.Group = slices.Clone(p.Group)
	for k := range p.Group {
		p.Group[k] = at(p.Group[k])
	}
	p.Aggregates = slices.Clone(p.Aggregates)
	for k := range p.Aggregates {
		a := &p.Aggregates[k]
		a.Column, a.Sum, a.Count, a.By.Column = at(a.Column), at(a.Sum), at(a.Count), at(a.By.Column)
	}
	m.plan = &p
	m.layout.Visible = p.Visible
}

// open reads the definitions of all sources and makes the layout of their rows from the first one's.
func (m *merge) open(sources []*Source) error {
	for i, s := range sources {
		if err := m.flushBefore(s); err != nil {
			return err
		}
		defs, err := s.open(i == 0)
		if err != nil {
			return err
		}
		if i == 0 {
			m.defs = defs
			m.layout = value.Layout{Format: s.format, Visible: m.plan.Visible, Types: make([]value.Type, len(defs))}
			for k := range defs {
				m.layout.Types[k] = value.TypeOf(&defs[k])
			}
			continue
		}
		if err := m.check(defs, i); err != nil {
			return err
		}
	}
	return nil
}

// check compares the definitions of source i with the first one's.
func (m *merge) check(defs []mysql.ColumnDefinition41, i int) error {
	if len(defs) != len(m.defs) {
		return fmt.Errorf("%w: %d columns of the first, %d of number %d", ErrMismatch, len(m.defs), len(defs), i+1)
	}
	for k := range defs {
		if !value.TypeOf(&defs[k]).Mergeable(m.layout.Types[k], m.layout.Format) {
			return fmt.Errorf("%w: the type of column %s at number %d", ErrMismatch, m.defs[k].Name, i+1)
		}
	}
	return nil
}

// writeColumns queues column count and definitions of the visible columns.
func (m *merge) writeColumns() {
	dst := m.dst
	b := mysql.AppendLenenc(dst.StartPacket(), uint64(m.plan.Visible))
	if dst.Capabilities.Has(mysql.ClientOptionalResultsetMetadata) {
		b = append(b, 1)
	}
	dst.EndPacket(b)
	for i := range m.defs[:m.plan.Visible] {
		d := &m.defs[i]
		if len(m.o.Definitions) > i {
			d = &m.o.Definitions[i]
		}
		d.Rename(m.o.Names)
		dst.EndPacket(d.AppendTo(dst.StartPacket()))
	}
	if !dst.Capabilities.Has(mysql.ClientDeprecateEOF) {
		eof := mysql.EOFPacket{Status: m.o.Status &^ mysql.ServerMoreResultsExists}
		dst.EndPacket(eof.AppendTo(dst.StartPacket()))
	}
}
