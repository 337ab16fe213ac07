package session

import (
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// ask runs a query that reads user variables and no table, on a connection that has those of the session: the held one, or any. It begins no
// transaction.
func (ls *leases) ask(sql string, row func([]mysql.ColumnDefinition41, []value.Cell)) error {
	return askTogether(ls, func(p backend.Pooled) error { return p.Conn.RawRows(sql, row) })
}

// askTogether has questions asked, by do, that have to follow each other on one connection.
func askTogether(ls *leases, do func(backend.Pooled) error) error {
	if err := ls.startOfStatement(); err != nil {
		return err
	}
	p := ls.client.txn.Held()
	if p.Pooled == nil {
		return ls.aside(ls.client.schema.Default, do)
	}
	if err := ls.prepareOther(p); err != nil {
		return err
	}
	if !ls.client.setRunning(p) {
		return interrupted()
	}
	if err := ls.client.state.Found.Settle(p.Conn, false); err != nil {
		return ls.lost(p, err)
	}
	ls.client.txn.LastOnHeld = false
	ls.client.state.Found.Overwritten()
	if err := do(p); err != nil {
		return ls.afterFailure(p, err)
	}
	ls.release(p)
	return nil
}

// aside has something done on a connection to a node's primary that is in the session's state, and has no part in its transaction.
func (ls *leases) aside(n *backend.Node, do func(backend.Pooled) error) error {
	for attempt := 0; ; attempt++ {
		p, err := ls.freshConn(n, nil)
		if err != nil {
			return ls.notBorrowed(nil, err)
		}
		ls.client.observed.Exchange(p.Instance, ls.client.entry.Since())
		if !ls.client.entry.SetRunningUnsent(p) {
			p.Put()
			return interrupted()
		}
		err = do(p)
		if ls.client.entry.TakeRunning() {
			p.Taint() // the KILL may still be on its way
			return interrupted()
		}
		switch {
		case err == nil, isSQLError(err):
			p.Put()
			return err
		case !ls.replaces(p, attempt, err):
			p.Taint()
			return backendError(err)
		}
	}
}

// variableName spells a user variable, whose name is a plain text, as the session's state names it; the server does not tell cases apart.
func variableName(name string) string { return "@`" + strings.ToLower(name) + "`" }

// admitVariables refuses user variables whose names not every character set reads alike, where the proxy is to give them their values.
func admitVariables(names []string) error {
	for _, name := range names {
		if !state.PlainText(name) {
			return newError(KSRefusedSharding, "a user variable named "+name+" as the target of a statement on a sharded table: use ASCII letters and digits")
		}
	}
	return nil
}

// userVariable is a new value of a user variable, in SQL.
type userVariable struct{ name, value string }

// keepVariables gives user variables new values, which the session brings to whatever connection it uses next. loans are
// those of the statement, on which the variables may have any value by now.
func (sh *shards) keepVariables(loans []txn.Lease, variables []userVariable) error {
	if len(variables) == 0 {
		return nil
	}
	for _, l := range loans {
		var list []string
		for _, v := range variables {
			value := v.value
			if !sh.client.txn.Holds(l.Pooled) {
				// It goes back as what it is known to carry.
				if value = sh.client.state.Value(variableName(v.name)); value == "" {
					value = "NULL"
				}
			}
			list = append(list, variableName(v.name)+"="+value)
		}
		if err := sh.client.observed.Run(l.Pooled, sh.client.state.DB(), "SET "+strings.Join(list, ",")); err != nil {
			return err
		}
	}
	if sh.client.txn.Pins.Has(txn.PinUserVariable) {
		return nil // the held connection has them all
	}
	for _, v := range variables {
		if v.value == "NULL" || v.value == nullString {
			sh.client.state.Unset(variableName(v.name))
		} else {
			sh.client.state.Set(variableName(v.name), v.value)
		}
	}
	return nil
}

// textLiteral writes a string of a character set, which may be binary, as a literal that any connection reads alike.
func textLiteral(text []byte, charset string) string {
	var b []byte
	if charset != "binary" && charset != "" {
		b = append(append(append(b, '_'), charset...), ' ')
	}
	if len(text) == 0 {
		return string(append(b, "''"...))
	}
	return string(appendHex(b, text))
}
