package plan

import (
	"errors"
	"slices"

	"kingshard/mysql/value"
	"kingshard/router/rule"
)

// InsertShards gives the position of each row's shard, by the values of the statement's parameters.
func (p *Plan) InsertShards(args []value.Value) ([]int, error) {
	e := &Execution{plan: p, values: values{bound: args}}
	err := e.placeRows(p.Operator.(*Insert))
	return e.positions, err
}

// placeRows finds the position of each row's shard.
func (e *Execution) placeRows(shape *Insert) error {
	t := e.plan.Target
	if err := e.countIDs(shape); err != nil {
		return err
	}
	rows := e.rows(len(shape.keys))
	e.positions = slices.Grow(e.positions[:0], rows)
	for row := range rows {
		key := shape.keys[min(row, len(shape.keys)-1)]
		e.tuple = e.tuple[:0]
		for i := range key {
			v, ok := key[i].of(&e.values, row)
			if !ok {
				return Refuse("the sharding key %s of %s has no value", t.Table.Keys[i], t.Parsed.Name)
			}
			e.tuple = append(e.tuple, v)
		}
		position, err := t.Table.Place(e.tuple, t.key)
		if err != nil {
			if errors.Is(err, rule.ErrNoShard) || errors.Is(err, rule.ErrConvert) {
				return Refuse("row %d of INSERT into %s: %v", row+1, t.Parsed.Name, err)
			}
			return err
		}
		e.positions = append(e.positions, position)
	}
	return nil
}

func (e *Execution) routeInsert(o *Insert) (Route, error) {
	if o.copies {
		if err := e.countIDs(o); err != nil {
			return Route{}, err
		}
		return e.writes(e.plan.Target.all)
	}
	if err := e.placeRows(o); err != nil {
		return Route{}, err
	}
	all := e.plan.Target.all
	if len(e.positions) == 0 {
		return Route{}, Refuse("INSERT into %s without rows", e.plan.Target.Parsed.Name)
	}
	if at := e.positions[0]; !e.Apart && !slices.ContainsFunc(e.positions, func(p int) bool { return p != at }) {
		return Route{One: e.wholeAgain(e.stand(at)), Operator: o, Positions: all[at : at+1]}, nil
	}
	if o.rows == nil { // the SET form
		q := *e.whole(e.stand(e.positions[0]))
		q.next = []int{-1}
		e.set, e.queries = append(e.set[:0], e.positions[0]), append(e.queries, q)
		return Route{Operator: o, Positions: e.set, Queries: e.queries}, nil
	}
	e.chain(len(all))
	e.set = e.set[:0]
	for at, row := range e.heads {
		if row >= 0 {
			e.set = append(e.set, at)
			e.queries = append(e.queries, e.insertQuery(o, at, row, e.next))
		}
	}
	if len(e.set) > 1 && e.plan.Statement.Reaches.Assigns {
		return Route{}, Refuse("%s", assigning)
	}
	return Route{Operator: o, Positions: e.set, Queries: e.queries}, nil
}

// InOrder writes an INSERT for several shards as statements that keep the order of its rows, each with as many as follow
// each other on one shard; max is how many statements there may be at most, else it gives none. The execution's Route was
// asked for before.
func (e *Execution) InOrder(max int) (queries []Query) {
	if e.plan.Operator.(*Insert).rows == nil {
		return nil
	}
	next := make([]int, len(e.positions))
	var heads []int
	for row, at := range e.positions {
		next[row] = -1
		if row > 0 && e.positions[row-1] == at {
			next[row-1] = row
		} else if heads = append(heads, row); len(heads) > max {
			return nil
		}
	}
	for _, row := range heads {
		queries = append(queries, e.insertQuery(e.plan.Operator.(*Insert), e.positions[row], row, next))
	}
	return queries
}

// chain strings the rows of each position together, in their order.
func (e *Execution) chain(shards int) {
	e.heads = slices.Grow(e.heads[:0], shards)[:shards]
	for k := range e.heads {
		e.heads[k] = -1
	}
	e.next = slices.Grow(e.next[:0], len(e.positions))[:len(e.positions)]
	for row := len(e.positions) - 1; row >= 0; row-- {
		at := e.positions[row]
		e.next[row], e.heads[at] = e.heads[at], row
	}
}

// insertQuery writes an INSERT of rows of one position: the first and those that next says follow.
func (e *Execution) insertQuery(o *Insert, at, first int, next []int) Query {
	q := Query{Node: e.stand(at), first: first, next: next, Shards: e.plan.Target.Table.Shards[at : at+1 : at+1]}
	w := e.writer()
	w.buf = e.buf
	begin := len(w.buf)
	spans := o.rows
	w.copy(0, spans[0].Pos)
	for row := first; row >= 0; row = next[row] {
		if row != first {
			w.buf = append(w.buf, ", "...)
		}
		if e.fold.rows > 0 {
			span := e.digest.Rows[e.fold.row+row]
			w.buf = append(w.buf, e.sql[span.Pos:span.End]...)
		} else {
			w.copy(spans[row].Pos, spans[row].End)
		}
	}
	w.copy(spans[len(spans)-1].End, len(e.plan.Statement.Text))
	e.buf = w.buf
	q.Text, q.Args = view(w.buf[begin:]), w.args
	return q
}
