package backend

import "kingshard/mysql"

// SkipRest reads and drops what is left of a response in the middle of its rows, further results included. It gives up when that
// is more than bytesMax bytes; done is false then. An error is one of the connection, or with done the server's own, which ended
// the response.
func (c *Conn) SkipRest(bytesMax int) (done bool, err error) {
	r := response{c: c}
	r.scanner.ToRows()
	return r.skip(bytesMax)
}

// SkipResponse is SkipRest for a response of which nothing has been read.
func (c *Conn) SkipResponse(bytesMax int) (done bool, err error) {
	r := response{c: c}
	return r.skip(bytesMax)
}

// skip reads what is left of the response.
func (r *response) skip(bytesMax int) (done bool, err error) {
	for bytesMax >= 0 {
		p, part, err := r.next()
		switch {
		case part == mysql.PartError:
			r.c.Status &^= mysql.ServerMoreResultsExists
			return true, err
		case err != nil:
			return false, err
		case part == mysql.PartFile:
			return false, broken(mysql.ErrMalformedPacket)
		case part == mysql.PartRow:
			bytesMax -= len(p)
		case (part == mysql.PartOK || part == mysql.PartEnd) && !r.c.Status.Has(mysql.ServerMoreResultsExists):
			return true, nil
		}
	}
	return false, nil
}
