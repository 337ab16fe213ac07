package backend

import "strings"

// HasVariable tells whether the server has a variable; known is false before it was asked for all of them.
func (i *Instance) HasVariable(name string) (has, known bool) {
	all := i.memory.variables.Load()
	if all == nil {
		return false, false
	}
	_, has = (*all)[name]
	return has, true
}

// Variables asks for the values that variables have in the session and for those that new sessions begin with, NULL as "NULL". Names that the
// server does not know are left out. It asks once where it knows all.
func (c *Conn) Variables(names []string, tell func(name, value, fresh string)) error {
	if len(names) == 0 {
		return nil
	}
	var b strings.Builder
	for k, name := range names {
		b.WriteString([...]string{"SELECT @@session.", ",@@session."}[min(k, 1)])
		name = c.Info.VariableName(name)
		b.WriteString(name + ",@@global." + name)
	}
	b.WriteString(" LIMIT 1") // whatever sql_select_limit is
	err := c.Rows(b.String(), 2*len(names), func(row []string) {
		for k, name := range names {
			tell(name, row[2*k], row[2*k+1])
		}
	})
	if !isUnknownVariable(err) {
		return err
	}
	if len(names) == 1 {
		return nil
	}
	half := len(names) / 2
	if err := c.Variables(names[:half], tell); err != nil {
		return err
	}
	return c.Variables(names[half:], tell)
}
