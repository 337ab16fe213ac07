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

// Found is what a primary has of what this package makes.
type Found struct {
	// Missing are the names of what is not there, such as ks_meta.dtx.
	Missing []string
	// Wrong says what is there, but not as this version of the proxy makes it, a sentence each.
	Wrong []string
	// Maker is the account that makes what is missing, and Caller that of clients' statements, as statements write them.
	Maker, Caller string
	// Uncallable says why Caller cannot call the procedures that are there; "" where it can.
	Uncallable string
	// NotGranted says that Uncallable is a right that Caller lacks.
	NotGranted bool
	// Open are the rights that Caller has on ks_meta beyond the procedures, such as "INSERT on ks_meta.dtx": a statement of a client that
	// came through would have them. OneAccount says that it has all that Maker has, as the node has no admin_user.
	Open       []string
	OneAccount bool
}

// Complete reports whether all is there, and can be called.
func (f *Found) Complete() bool {
	return len(f.Missing) == 0 && len(f.Wrong) == 0 && f.Uncallable == ""
}

// Grants are the statements that let the account of clients' statements call the procedures.
func (f *Found) Grants() []string { return grants(f.Caller) }

// Look tells what an instance has, within the deadline. It changes nothing.
func Look(i *backend.Instance, deadline time.Time) (*Found, error) {
	own, err := i.OwnUntil(deadline)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	own.Net.SetDeadline(deadline)
	return look(i, own, deadline)
}

// look is Look on a connection of the proxy's own account.
func look(i *backend.Instance, own *backend.Conn, deadline time.Time) (*Found, error) {
	f := &Found{OneAccount: !i.HasOwnAccount()}
	if err := f.objects(own); err != nil {
		return nil, err
	}
	var err error
	if f.Maker, err = Account(own); err != nil {
		return nil, err
	}
	c, err := i.Dial(0, deadline)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	return f, f.caller(c)
}

// objects looks for the objects.
func (f *Found) objects(c *backend.Conn) error {
	there := map[string]*described{}
	if err := describe(c, there); err != nil {
		return err
	}
	for _, o := range objects {
		if d := there[o.name]; d == nil {
			f.Missing = append(f.Missing, o.full())
		} else if differs := d.differs(o); differs != "" {
			f.Wrong = append(f.Wrong, o.full()+" has "+differs+", which is not what this version of kingshard makes")
		}
	}
	return nil
}

// described is what information_schema says of an object.
type described struct {
	comment, engine string // engine of a table
	parts           []string
	security, mode  string // of a procedure, as what follows
	body            string // "NULL" where it is not shown
}

// differs says in which way it is not the object; "" where it is.
func (d *described) differs(o *object) string {
	switch {
	case d.comment != version:
		return "the comment '" + d.comment + "' in place of '" + version + "'"
	case !slices.Equal(d.parts, o.parts):
		return "(" + strings.Join(d.parts, ", ") + ") in place of (" + strings.Join(o.parts, ", ") + ")"
	case !o.procedure && !strings.EqualFold(d.engine, "InnoDB"):
		return "the engine " + d.engine
	case o.procedure && d.security != "DEFINER":
		return "SQL SECURITY " + d.security
	case o.procedure && !strings.Contains(d.mode, "STRICT_ALL_TABLES"):
		return "the sql_mode '" + d.mode + "'"
	case o.procedure && d.body != "NULL" && d.body != o.body:
		return "another body"
	}
	return ""
}

// describe asks for all that is in the schema.
func describe(c *backend.Conn, there map[string]*described) error {
	const of = " = '" + schema + "'"
	err := c.Rows("SELECT TABLE_NAME, COALESCE(ENGINE, ''), TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA"+of, 3, func(row []string) {
		there[row[0]] = &described{engine: row[1], comment: row[2]}
	})
	part := func(row []string) {
		if d := there[row[0]]; d != nil {
			d.parts = append(d.parts, strings.Join(strings.Fields(strings.Join(row[1:], " ")), " "))
		}
	}
	if err == nil {
		err = c.Rows("SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COALESCE(COLLATION_NAME, ''), COLUMN_KEY FROM information_schema.COLUMNS WHERE TABLE_SCHEMA"+of+
			" ORDER BY TABLE_NAME, ORDINAL_POSITION", 6, part)
	}
	if err == nil {
		err = c.Rows("SELECT ROUTINE_NAME, ROUTINE_COMMENT, SECURITY_TYPE, SQL_MODE, ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'PROCEDURE' AND ROUTINE_SCHEMA"+of, 5,
			func(row []string) {
				there[row[0]] = &described{comment: row[1], security: row[2], mode: row[3], body: row[4]}
			})
	}
	if err == nil {
		err = c.Rows("SELECT SPECIFIC_NAME, PARAMETER_NAME, DTD_IDENTIFIER FROM information_schema.PARAMETERS WHERE ROUTINE_TYPE = 'PROCEDURE' AND SPECIFIC_SCHEMA"+of+
			" ORDER BY SPECIFIC_NAME, ORDINAL_POSITION", 3, part)
	}
	return err
}

// caller looks at the account of clients' statements, on a connection of its own: whether it can call the procedures, those that write by calls that end with
// an error ahead of their row, and what else it may do.
func (f *Found) caller(c *backend.Conn) error {
	var err error
	if f.Caller, err = Account(c); err != nil {
		return err
	}
	for _, o := range objects {
		if !o.procedure || slices.Contains(f.Missing, o.full()) {
			continue
		}
		call := "CALL " + o.full() + "(" + strings.TrimSuffix(strings.Repeat("NULL, ", len(o.parts)), ", ") + ")"
		if o.columns > 0 {
			err = c.Call(call, o.columns)
		} else {
			err = c.Exec(call)
		}
		var refused *mysql.SQLError
		switch {
		case err == nil && o.columns > 0:
		case err == nil:
			f.Wrong = append(f.Wrong, o.full()+" writes rows without a name")
		case !errors.As(err, &refused):
			return err
		case refused.Code == erProcAccessDenied:
			// The server's words tell whether it is the caller, or the one that made it, who lacks the right.
			f.Uncallable, f.NotGranted = fmt.Sprintf("%s may not call %s (%s)", f.Caller, o.full(), refused.Message), true
		case refused.Code != erBadNull:
			f.Uncallable = fmt.Sprintf("a call of %s fails: %s", o.full(), refused.Message)
		}
	}
	if f.OneAccount {
		return nil
	}
	f.Open, err = open(c)
	return err
}

// onSchema are the rights on a database that let an account write outcomes, or change what writes them.
var onSchema = []string{
	"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "REFERENCES", "INDEX", "TRIGGER", "CREATE VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "EVENT",
	"CREATE TEMPORARY TABLES", "LOCK TABLES", "GRANT OPTION",
}

// open lists what an account may do in the schema: by its rights on the database, and, as it may have others on tables, by statements that find no row.
func open(c *backend.Conn) ([]string, error) {
	g, err := c.Grants()
	if err != nil {
		return nil, err
	}
	if rights := g.HoldsOn(schema, onSchema...); len(rights) > 0 {
		return []string{strings.Join(rights, ", ") + " on " + schema}, nil
	}
	var list []string
	for _, o := range objects {
		if o.procedure {
			continue
		}
		first, _, _ := strings.Cut(o.parts[0], " ")
		for _, try := range []struct{ right, statement string }{
			{"SELECT", "SELECT " + first + " FROM %s LIMIT 0"},
			{"INSERT", "INSERT INTO %s (" + first + ") SELECT '' FROM DUAL WHERE FALSE"},
			{"UPDATE", "UPDATE %s SET " + first + " = '' WHERE FALSE"},
			{"DELETE", "DELETE FROM %s WHERE FALSE"},
		} {
			statement := strings.Replace(try.statement, "%s", o.full(), 1)
			if try.right == "SELECT" {
				err = c.Rows(statement, 1, func([]string) {})
			} else {
				err = c.Exec(statement)
			}
			var refused *mysql.SQLError
			if err != nil && !errors.As(err, &refused) {
				return nil, err
			}
			if err == nil || refused.Code != mysql.ERTableaccessDenied && refused.Code != erColumnAccess && refused.Code != erNoSuchTable && refused.Code != erBadDB {
				list = append(list, try.right+" on "+o.full())
			}
		}
	}
	return list, nil
}

// Warning says what is open to clients' statements, should one come through that names the schema; "" where nothing is.
func (f *Found) Warning() string {
	switch {
	case f.OneAccount && len(f.Missing) < len(objects):
		return "the node has no admin_user, so " + f.Caller + ", under which clients' statements run, can read and write " + schema + ".dtx and " + schema + ".secret: only that statements which name " + schema + " are refused keeps clients from it"
	case len(f.Open) > 0:
		return f.Caller + ", under which clients' statements run, has " + strings.Join(f.Open, ", ") + ": it needs EXECUTE on the procedures alone"
	}
	return ""
}

// There reports whether a node's primary has the table of decisions, and so may have branches of anybody's.
func There(n *backend.Node, deadline time.Time) (there bool, err error) {
	c, err := n.Primary.OwnUntil(deadline)
	if err != nil {
		return false, err
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	err = c.Rows("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = '"+schema+"' AND TABLE_NAME = 'dtx'", 1, func([]string) { there = true })
	return there, err
}
