package sqlparse

// Each calls query for q and every query expression within it, at any depth, and expr for every expression of theirs that is not a part of another one. A nil q has none.
func (q *Query) Each(query func(*Query), expr func(*Expr)) {
	if q == nil {
		return
	}
	query(q)
	one := func(e *Expr) {
		if e == nil {
			return
		}
		expr(e)
		e.Walk(func(x *Expr) bool {
			x.Query.Each(query, expr)
			return true
		})
	}
	for _, w := range q.With {
		w.Each(query, expr)
	}
	for _, p := range q.Parts {
		p.Each(query, expr)
	}
	if s := q.Select; s != nil {
		s.From.each(query, expr, one)
		for _, f := range s.Fields {
			one(f.Expr)
		}
		for _, e := range s.Group {
			one(e)
		}
		one(s.Where)
		one(s.Having)
	}
	for _, o := range q.Order {
		one(o.Expr)
	}
}

// HasDerived reports whether a derived table is in a tree of tables.
func (f *From) HasDerived() bool {
	switch {
	case f == nil:
		return false
	case f.Join != nil:
		return f.Join.Left.HasDerived() || f.Join.Right.HasDerived()
	}
	return f.Derived != nil
}

// each visits the derived tables of a tree of tables, and calls one for its ON conditions.
func (f *From) each(query func(*Query), expr, one func(*Expr)) {
	switch {
	case f == nil:
	case f.Derived != nil:
		f.Derived.Each(query, expr)
	case f.Join != nil:
		f.Join.Left.each(query, expr, one)
		f.Join.Right.each(query, expr, one)
		one(f.Join.On)
	}
}
