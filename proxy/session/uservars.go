package session

import (
	"strings"

	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

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
