package backend

import "kingshard/mysql"

// NamedRows runs a query of the proxy's own whose columns are not known beforehand, and gives each row as strings by column,
// NULL as "NULL"; an answer without columns has no rows. The map is used again for the next row.
func (c *Conn) NamedRows(sql string, row func(map[string]string)) error {
	c.Command(mysql.ComQuery, sql)
	if err := c.Flush(); err != nil {
		return err
	}
	r := response{c: c}
	_, part, err := r.next()
	if err != nil || part == mysql.PartOK {
		return err
	}
	if part != mysql.PartColumns {
		return broken(mysql.ErrMalformedPacket)
	}
	definitions, err := r.definitions()
	if err != nil {
		return err
	}
	named := make(map[string]string, len(definitions))
	return r.texts(len(definitions), func(values []string) {
		for k, v := range values {
			named[string(definitions[k].Name)] = v
		}
		row(named)
	})
}
