package exec

import (
	"errors"
	"fmt"

	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// ErrPlan says that a plan does not fit the shards' columns, or itself. It is a fault of the planner; nothing was sent.
var ErrPlan = errors.New("merge plan")

func planError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrPlan}, args...)...)
}

// prepare checks the plan against the columns that the shards send.
func (m *merge) prepare() error {
	p := m.plan
	if p.Visible < 1 || p.Visible > len(m.defs) {
		return planError("%d visible columns of %d", p.Visible, len(m.defs))
	}
	m.keyTypes = make([]value.Type, len(p.Order))
	for i := range p.Order {
		var err error
		if m.keyTypes[i], err = m.keyType(&p.Order[i]); err != nil {
			return err
		}
	}
	if p.Distinct {
		if len(p.Order) == 0 || len(p.Group) > 0 || len(p.Aggregates) > 0 {
			return planError("DISTINCT without order, or with groups")
		}
		m.grouping, m.groupLen = true, len(p.Order)
	} else if len(p.Group) > 0 || len(p.Aggregates) > 0 {
		m.grouping, m.groupLen = true, len(p.Group)
	}
	if err := m.checkGroup(); err != nil {
		return err
	}
	return m.makeAggregates()
}

// column checks that a column is one of those that the shards send.
func (m *merge) column(i int) error {
	if i < 0 || i >= len(m.defs) {
		return planError("column %d of %d", i, len(m.defs))
	}
	return nil
}

// keyType is the type that a key's column is compared as.
func (m *merge) keyType(k *plan.OrderKey) (value.Type, error) {
	if err := m.column(k.Column); err != nil {
		return value.Type{}, err
	}
	t := m.layout.Types[k.Column]
	if !t.Ordered() {
		return value.Type{}, planError("column %d has no order of its own", k.Column)
	}
	if len(k.Space) == 0 {
		return t, nil
	}
	if !t.Bytes() {
		return value.Type{}, planError("column %d is padded and is no binary string", k.Column)
	}
	return t.PadSpace(k.Space), nil
}

// checkGroup checks that the order brings rows of one group together.
func (m *merge) checkGroup() error {
	p := m.plan
	if len(p.Group) > len(p.Order) {
		return planError("groups of %d columns in an order of %d", len(p.Group), len(p.Order))
	}
	for i := range p.Group {
		found := false
		for _, c := range p.Group {
			found = found || c == p.Order[i].Column
		}
		if !found {
			return planError("column %d is before the group's in the order", p.Order[i].Column)
		}
	}
	return nil
}
