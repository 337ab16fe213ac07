package exec

import (
	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// group is the rows that become one: under DISTINCT, GROUP BY, or aggregates over all.
type group struct {
	open bool
	// first is a copy of the group's first row, and keys are its keys: the row itself is gone when its shard is read on.
	first value.Row
	keys  []value.Key

	aggregates []aggregate
}

// aggregate is one aggregate of the plan under way; of its parts, the one that the function needs is set.
type aggregate struct {
	plan    *plan.Aggregate
	count   *value.Count
	sum     *value.Sum
	extreme *value.Extreme
	average *value.Average
}

func (m *merge) makeAggregates() error {
	m.group.aggregates = make([]aggregate, len(m.plan.Aggregates))
	for i := range m.plan.Aggregates {
		p := &m.plan.Aggregates[i]
		a := &m.group.aggregates[i]
		if p.Column < 0 || p.Column >= m.plan.Visible {
			return planError("%s in column %d, which is not visible", p.Func, p.Column)
		}
		*a = aggregate{plan: p}
		if err := m.makeAggregate(a); err != nil {
			return planError("%s in column %d: %w", p.Func, p.Column, err)
		}
	}
	if m.grouping {
		m.group.first.Cells = make([]value.Cell, len(m.defs))
		m.group.keys = make([]value.Key, len(m.plan.Order))
	}
	return nil
}

func (m *merge) makeAggregate(a *aggregate) error {
	types, format := m.layout.Types, m.layout.Format
	var err error
	switch a.plan.Func {
	case plan.Count:
		a.count, err = value.NewCount(types[a.plan.Column], format)
	case plan.Sum:
		a.sum, err = value.NewSum(types[a.plan.Column], format)
	case plan.Min, plan.Max:
		var by value.Type
		if by, err = m.keyType(&a.plan.By); err == nil {
			a.extreme, err = value.NewExtreme(by, format, a.plan.Func == plan.Max)
		}
	case plan.Avg:
		if err = m.column(a.plan.Sum); err == nil {
			err = m.column(a.plan.Count)
		}
		if err == nil {
			of := value.AverageTypes{Result: types[a.plan.Column], Sum: types[a.plan.Sum], Count: types[a.plan.Count]}
			a.average, err = value.NewAverage(of, format)
		}
	default:
		err = value.ErrAggregate
	}
	return err
}

// reset starts the aggregate of a new group.
func (a *aggregate) reset() {
	switch a.plan.Func {
	case plan.Count:
		a.count.Reset()
	case plan.Sum:
		a.sum.Reset()
	case plan.Min, plan.Max:
		a.extreme.Reset()
	case plan.Avg:
		a.average.Reset()
	}
}

// add adds the parts that a row has.
func (a *aggregate) add(cells []value.Cell) error {
	switch a.plan.Func {
	case plan.Count:
		return a.count.Add(cells[a.plan.Column])
	case plan.Sum:
		return a.sum.Add(cells[a.plan.Column])
	case plan.Avg:
		return a.average.Add(cells[a.plan.Sum], cells[a.plan.Count])
	}
	return a.extreme.Add(cells[a.plan.Column], cells[a.plan.By.Column])
}

// cell gives the result.
func (a *aggregate) cell() (value.Cell, error) {
	switch a.plan.Func {
	case plan.Count:
		return a.count.Cell()
	case plan.Sum:
		return a.sum.Cell()
	case plan.Avg:
		return a.average.Cell()
	}
	return a.extreme.Cell()
}

// groupRows sends one row for each group. Without aggregates that is the group's first row, sent when it comes; with them
// the row is complete when the next group begins.
func (m *merge) groupRows() error {
	for m.left > 0 || m.o.CountAll {
		s, err := m.next()
		if err != nil {
			return err
		}
		if s == nil {
			return m.lastGroup()
		}
		if m.group.open && m.compare(m.group.keys[:m.groupLen], s.keys[:m.groupLen]) == 0 {
			if err := m.add(s.row.Cells); err != nil {
				return err
			}
			continue
		}
		if m.group.open && len(m.group.aggregates) > 0 {
			if err := m.writeGroup(); err != nil {
				return err
			}
			if m.left == 0 && !m.o.CountAll {
				return nil
			}
		}
		if err := m.openGroup(s); err != nil {
			return err
		}
	}
	return nil
}

// openGroup starts a group with its first row.
func (m *merge) openGroup(s *stream) error {
	g := &m.group
	g.open = true
	g.first.Raw = append(g.first.Raw[:0], s.row.Raw...)
	if err := m.decode(&g.first, g.keys); err != nil {
		return err
	}
	if len(g.aggregates) == 0 {
		if m.skipped() {
			return nil
		}
		return m.writeRow(&s.row)
	}
	for i := range g.aggregates {
		g.aggregates[i].reset()
	}
	return m.add(s.row.Cells)
}

func (m *merge) add(cells []value.Cell) error {
	for i := range m.group.aggregates {
		if err := m.group.aggregates[i].add(cells); err != nil {
			return aggregateError(err)
		}
	}
	return nil
}

// lastGroup ends the group that was open when the rows ended. Aggregates over all give a row also without any.
func (m *merge) lastGroup() error {
	if len(m.group.aggregates) > 0 && (m.group.open || m.groupLen == 0) {
		return m.writeGroup()
	}
	return nil
}

// writeGroup sends the row that the open group became.
func (m *merge) writeGroup() error {
	if m.skipped() {
		return nil
	}
	g := &m.group
	for i := range g.aggregates {
		c, err := g.aggregates[i].cell()
		if err != nil {
			return aggregateError(err)
		}
		g.first.Cells[g.aggregates[i].plan.Column] = c
	}
	m.out = m.layout.AppendVisible(m.out[:0], g.first.Cells)
	return m.write(m.out)
}

// erDataOutOfRange is ER_DATA_OUT_OF_RANGE.
const erDataOutOfRange = 1690

// aggregateError is what an aggregate's failure is for the client, or for the shard's connection.
func aggregateError(err error) error {
	if err == value.ErrRange {
		return &mysql.SQLError{Code: erDataOutOfRange, State: "22003", Message: "value is out of range in an aggregate function"}
	}
	return broken(err)
}
