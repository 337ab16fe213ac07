package backend

import "kingshard/mysql"

// NamedRows runs a query of the proxy's own whose columns are not known beforehand, and gives each row as strings by column,
// NULL as "NULL"; an answer without columns has no rows. The map is used again for the next row.
func (c *Conn) NamedRows(sql string, row func(map[string]string)) error {
	c.Command(mysql.ComQuery, sql)
	if err := c.Flush(); err != nil {
		return err
	}
	p, err := c.ReadPacket()
	if err != nil {
		return err
	}
	if len(p) > 0 && p[0] == mysql.OKHeader {
		return nil
	}
	definitions, err := c.definitions(p)
	if err != nil {
		return err
	}
	named := make(map[string]string, len(definitions))
	return c.readRows(len(definitions), func(values []string) {
		for k, v := range values {
			named[string(definitions[k].Name)] = v
		}
		row(named)
	})
}
