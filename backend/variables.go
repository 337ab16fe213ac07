package backend

import (
	"errors"
	"slices"
	"strings"

	"kingshard/mysql"
)

// HasVariable tells whether sessions of the server have a variable, as far as is known; known is false before it was asked for all of them.
func (i *Instance) HasVariable(name string) (has, known bool) {
	if _, lacks := i.memory.lacking.Load(name); lacks {
		return false, true
	}
	all := i.memory.variables.Load()
	if all == nil {
		return false, false
	}
	_, has = (*all)[name]
	return has, true
}

// LacksVariables notes that sessions of the server have no such variables.
func (i *Instance) LacksVariables(names []string) {
	for _, name := range names {
		i.memory.lacking.Store(name, true)
	}
}

// erNoSessionVariable is the code of a variable that has no value for a session. MySQL manual: "Server Error Message Reference".
const erNoSessionVariable = 1238

// Variables asks for the values that variables have in the session and for those that new sessions begin with, NULL as "NULL". Those
// that sessions of the server have not are lacking. It asks once where there are none.
func (c *Conn) Variables(names []string, tell func(name, value, fresh string)) (lacking []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	var b strings.Builder
	for k, name := range names {
		b.WriteString([...]string{"SELECT @@session.", ",@@session."}[min(k, 1)])
		name = c.Info.VariableName(name)
		b.WriteString(name + ",@@global." + name)
	}
	b.WriteString(" LIMIT 1") // whatever sql_select_limit is
	err = c.Rows(b.String(), 2*len(names), func(row []string) {
		for k, name := range names {
			tell(name, row[2*k], row[2*k+1])
		}
	})
	var refused *mysql.SQLError
	if !errors.As(err, &refused) || refused.Code != erUnknownVariable && refused.Code != erNoSessionVariable {
		return nil, err
	}
	if len(names) == 1 {
		return names, nil
	}
	half := len(names) / 2
	if lacking, err = c.Variables(names[:half], tell); err != nil {
		return lacking, err
	}
	more, err := c.Variables(names[half:], tell)
	return append(slices.Clone(lacking), more...), err
}
