package twophase

import "slices"

// BatchMax is how many actions of an audit go into one statement at the most: it bounds the statement, and how long its locks are held.
const BatchMax = 200

// Batches divides what audits ask for into lists that one statement each carries out; see [Statement]. Those of a list are the same in Do, in Node and in the state of
// their rows. What cannot be carried out with others is alone. The order is that of the first of each list.
func Batches(todo []Action) [][]Action {
	var list [][]Action
	open := map[Action]int{} // the last batch of a kind
	for _, a := range todo {
		kind := Action{Do: a.Do, Node: a.Node, Row: Row{State: a.Row.State}}
		k, has := open[kind]
		if !has || !a.batched() || len(list[k]) == BatchMax {
			k = len(list)
			open[kind] = k
			list = append(list, nil)
		}
		list[k] = append(list[k], a)
	}
	return list
}

// batched reports whether the action can be carried out together with others.
func (a Action) batched() bool {
	return slices.Contains([]Do{DoRead, DoReadLocked, DoMark, DoDelete, DoFinish}, a.Do)
}

// Statement returns the SQL that carries out one of [Batches] that has more than one action. Of DoReadLocked it reads without a lock: rows that are there need none, and who
// misses one carries that action out by itself.
func Statement(batch []Action) string {
	keys := make([]string, len(batch))
	for k, a := range batch {
		keys[k] = a.Row.Key
	}
	a := batch[0]
	if a.Do == DoReadLocked {
		a.Do = DoRead
	}
	return a.onRows("gtrid IN (" + quote(keys...) + ")")
}
