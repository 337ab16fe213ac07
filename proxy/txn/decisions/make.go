package decisions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
)

// Make makes what an instance lacks, and lets the account of clients' statements call the procedures, within the deadline: by the node's admin_user, or by
// its user where it has no other. Several may do so at the same time. It returns what the instance has then, and the names of what was made. Where it
// cannot, as the server is read-only, a right is missing or something else is there under a name, the error says so, and what to do.
func Make(i *backend.Instance, deadline time.Time) (f *Found, made []string, err error) {
	c, err := i.OwnUntil(deadline)
	if err != nil {
		return nil, nil, place(i, err)
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	if f, err = look(i, c, deadline); err != nil {
		return nil, nil, place(i, err)
	}
	if len(f.Wrong) > 0 {
		return f, nil, place(i, f.wrong())
	}
	if len(f.Missing) > 0 {
		if made, err = f.makeMissing(c); err != nil {
			return f, made, place(i, err)
		}
		// Others may have made some, in another version; and the account is to be asked anew.
		if f, err = look(i, c, deadline); err != nil {
			return nil, made, place(i, err)
		}
	}
	if f.NotGranted && !f.OneAccount && len(f.Missing) == 0 {
		if err := f.grant(c); err != nil {
			return f, made, place(i, err)
		}
		if f, err = look(i, c, deadline); err != nil {
			return nil, made, place(i, err)
		}
	}
	switch {
	case len(f.Wrong) > 0:
		err = f.wrong()
	case len(f.Missing) > 0: // made, and not seen: somebody takes them away
		err = fmt.Errorf("%s: not there", strings.Join(f.Missing, ", "))
	case f.Uncallable != "":
		err = errors.New(f.Uncallable)
	}
	if err != nil {
		err = place(i, err)
	}
	return f, made, err
}

// wrong says what is there under the names, and what to do.
func (f *Found) wrong() error {
	return fmt.Errorf("%s; make a proxy of another version end its transactions, DROP these, and run kingshard init", strings.Join(f.Wrong, "; "))
}

// makeMissing makes what is missing. What others have made meanwhile is no error.
func (f *Found) makeMissing(c *backend.Conn) (made []string, err error) {
	for _, sql := range beforehand {
		if err := c.Exec(sql); err != nil {
			return nil, err
		}
	}
	has := false
	err = c.Rows("SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '"+schema+"'", 1, func(row []string) { has = row[0] != "0" })
	if err != nil {
		return nil, err
	}
	if !has { // else it is not asked for, as it may wait for a transaction that is prepared
		err = f.makeOne(c, schema, makeSchema)
	}
	for _, o := range objects {
		if err != nil {
			return made, err
		}
		if slices.Contains(f.Missing, o.full()) {
			if err = f.makeOne(c, o.full(), o.statement()); err == nil {
				made = append(made, o.full())
			}
		}
	}
	return made, err
}

// makeOne runs one statement, which may find that it was run.
func (f *Found) makeOne(c *backend.Conn, name, sql string) error {
	err := c.Exec(sql)
	var refused *mysql.SQLError
	switch {
	case !errors.As(err, &refused): // or nil
		return err
	case refused.Code == erDBCreateExists, refused.Code == erTableExists, refused.Code == erSpAlreadyExists:
		return nil
	case isReadOnly(refused):
		return fmt.Errorf("%s is missing and cannot be made, as the server is read-only: %s", name, refused.Message)
	}
	return fmt.Errorf("%s is missing and %s could not make it: %s; kingshard init -print has the statements for an account that may", name, f.Maker, refused.Message)
}

// grant lets the account of clients' statements call the procedures.
func (f *Found) grant(c *backend.Conn) error {
	for _, sql := range f.Grants() {
		err := c.Exec(sql)
		var refused *mysql.SQLError
		switch {
		case !errors.As(err, &refused): // or nil
			if err != nil {
				return err
			}
		case isReadOnly(refused):
			return fmt.Errorf("%s, and the server is read-only: %s", f.Uncallable, refused.Message)
		default:
			return fmt.Errorf("%s, and %s could not grant it: %s; run %s", f.Uncallable, f.Maker, refused.Message, strings.Join(f.Grants(), "; "))
		}
	}
	return nil
}

// isReadOnly reports whether a server refuses to write anything.
func isReadOnly(refused *mysql.SQLError) bool {
	return refused.Code == erReadOnly || refused.Code == erReadOnlyMode || refused.Code == erReadOnlyTrx
}

// place adds where an error is.
func place(i *backend.Instance, err error) error {
	return fmt.Errorf("node %s (%s): %w", i.Node, i.Addr, err)
}
