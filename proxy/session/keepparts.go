package session

// runKeeping carries out a statement of the proxy's own that changes rows of a table, and has the table's indexes over all shards follow.
func (c *composed) runKeeping(text string) (result, error) {
	r, _, err := c.runInOrder(text, false)
	return r, err
}

// runInOrder carries out a change of rows, and has the table's indexes over all shards follow. inOrder has the rows of an INSERT inserted one by one; needed says whether they are to be from there on, as after an
// error by which the statement begins anew.
func (c *composed) runInOrder(text string, inOrder bool) (r result, needed bool, err error) {
	p, err := c.client.schema.Plans.build(text, false, c.client.state.DB(), c.client.mode())
	if err != nil {
		return r, false, planError(err)
	}
	if p == nil {
		return r, false, replanned()
	}
	indexes, err := c.leases.kept(p)
	if err != nil {
		return r, false, err
	}
	k := &keeping{composed: c, plan: p, text: text, indexes: indexes, inOrder: inOrder}
	if err = k.change(); err == nil {
		err = k.stillKept(p)
	}
	if err != nil {
		return r, k.inOrder, err
	}
	if len(indexes) > 0 {
		c.client.shared.Indexes.Counts.Changes.Add(1)
	}
	c.client.state.InsertID, c.client.state.Found = k.leaves.id, k.leaves.found
	return k.main, k.inOrder, nil
}
