package session

import (
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
)

// assignedBy lists the user variables of a statement that gives such values, as SELECT @n := @n + 1 does, and refuses those whose names the proxy does not write.
func assignedBy(c *client, q *query) ([]string, error) {
	if !q.info.Has(sqltext.UserVarWrite) {
		return nil, nil
	}
	names, ok := sqltext.UserVariables(q.text, c.mode())
	if !ok {
		return nil, newError(KSRefusedSharding, "a statement on several shards that gives user variables values, whose text is read in several ways")
	}
	return names, admitVariables(names)
}

// keepAssigned has the session keep the values that the statement has given user variables where it ended.
func (f *finishing) keepAssigned() error {
	c := f.s.client
	literals, err := valuesOf(f.assigned, int(c.snap.Config.MaxAllowedPacket)/3, f.last.Conn.RawRows)
	if err != nil {
		return err
	}
	if len(literals) != len(f.assigned) {
		return errNotTaken
	}
	var list []userVariable
	for k, name := range f.assigned {
		list = append(list, userVariable{name, literals[k]})
	}
	loans := []txn.Lease{*f.last}
	if held := c.txn.Held(); c.txn.Pins.Has(txn.PinUserVariable) && held.Pooled != f.last.Pooled.Pooled {
		loans = append(loans, txn.Lease{Pooled: held, Kept: true})
	}
	err = f.s.shards.keepVariables(loans, list)
	if err != nil {
		f.loans = append(f.loans, loans[1:]...) // they are lost together
	}
	return err
}
