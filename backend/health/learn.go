package health

import (
	"strconv"

	"kingshard/backend"
)

// learn asks a server what sessions need to know of it: its collations and how it compares table names.
func learn(c *backend.Conn) error {
	info := *c.Info
	info.Collations = make(map[uint16]backend.Collation)
	err := c.Rows("SELECT id, collation_name, character_set_name FROM information_schema.collations WHERE id IS NOT NULL", 3, func(row []string) {
		if id, err := strconv.ParseUint(row[0], 10, 16); err == nil {
			info.Collations[uint16(id)] = backend.Collation{Name: row[1], Charset: row[2]}
		}
	})
	if err != nil {
		return err
	}
	err = c.Rows("SELECT @@lower_case_table_names, @@global.sql_mode", 2, func(row []string) {
		info.LowerCaseTables, info.SQLMode = row[0] != "0", row[1]
	})
	if err != nil {
		return err
	}
	c.Info = &info
	return nil
}

// learnMode asks for the sql_mode that new sessions begin with, and reports whether it is another than before.
func learnMode(c *backend.Conn) (changed bool, err error) {
	info := *c.Info
	err = c.Rows("SELECT @@global.sql_mode", 1, func(row []string) { info.SQLMode = row[0] })
	if err != nil || info.SQLMode == c.Info.SQLMode {
		return false, err
	}
	c.Info = &info
	return true, nil
}
