package backend

import "kingshard/mysql"

// SkipRest reads and drops what is left of a response in the middle of its rows, further results included. It gives up when that
// is more than bytesMax bytes; done is false then. An error is one of the connection, or with done the server's own, which ended
// the response.
func (c *Conn) SkipRest(bytesMax int) (done bool, err error) {
	for bytesMax >= 0 {
		p, err := c.ReadPacket()
		if err != nil {
			return false, err
		}
		bytesMax -= len(p)
		switch {
		case len(p) > 0 && p[0] == mysql.ErrHeader:
			return c.skippedError(p)
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

// SkipResponse is SkipRest for a response of which nothing has been read.
func (c *Conn) SkipResponse(bytesMax int) (done bool, err error) {
	c.Status |= mysql.ServerMoreResultsExists
	if done, err := c.skipToRows(); done || err != nil {
		return done, err
	}
	return c.SkipRest(bytesMax)
}

// skipToRows reads further results of a response up to the rows of one that has some; done says that there are none.
func (c *Conn) skipToRows() (done bool, err error) {
	for c.Status.Has(mysql.ServerMoreResultsExists) {
		p, err := c.ReadPacket()
		switch {
		case err != nil:
			return false, err
		case len(p) > 0 && p[0] == mysql.ErrHeader:
			return c.skippedError(p)
		case len(p) > 0 && p[0] == mysql.OKHeader:
			if err := c.readStatus(p); err != nil {
				return false, err
			}
			continue
		}
		_, err = c.definitions(p)
		return false, err
	}
	return true, nil
}

// skippedError ends a response with an error of the server.
func (c *Conn) skippedError(p []byte) (done bool, err error) {
	c.Status &^= mysql.ServerMoreResultsExists
	return true, decodeError(p)
}
