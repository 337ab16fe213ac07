package backend

import "kingshard/mysql"

// SkipRest reads and drops what is left of a response in the middle of its rows, further results included. It gives up when that
// is more than bytesMax bytes; done is false then. An error is one of the connection: the server's own ends the response.
func (c *Conn) SkipRest(bytesMax int) (done bool, err error) {
	for bytesMax >= 0 {
		p, err := c.ReadPacket()
		if err != nil {
			return false, err
		}
		bytesMax -= len(p)
		switch {
		case len(p) > 0 && p[0] == mysql.ErrHeader:
			c.Status &^= mysql.ServerMoreResultsExists
			return true, nil
		case len(p) == 0 || p[0] != mysql.EOFHeader || len(p) >= 1<<24-1:
			continue
		}
		if err := c.readStatus(p); err != nil {
			return false, err
		}
		if done, err := c.skipToRows(); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// skipToRows reads further results of a response up to the rows of one that has some; done says that there are none.
func (c *Conn) skipToRows() (done bool, err error) {
	for c.Status.Has(mysql.ServerMoreResultsExists) {
		p, err := c.ReadPacket()
		switch {
		case err != nil:
			return false, err
		case len(p) > 0 && p[0] == mysql.ErrHeader:
			c.Status &^= mysql.ServerMoreResultsExists
			return true, nil
		case len(p) > 0 && p[0] == mysql.OKHeader:
			if err := c.readStatus(p); err != nil {
				return false, err
			}
			continue
		}
		_, err = c.definitionsOf(p)
		return false, err
	}
	return true, nil
}
