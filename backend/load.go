package backend

import (
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sockopt"
)

// RequestFile sends a LOAD DATA LOCAL statement and gives the packet in which the server asks for the file; the caller sends
// the file in packets of the connection and then calls EndFile. A *mysql.SQLError says that the server wants none, and leaves
// the connection as it was. MySQL manual: "LOCAL INFILE Request".
func (c *Conn) RequestFile(sql string) ([]byte, error) {
	c.Command(mysql.ComQuery, sql)
	if err := c.Flush(); err != nil {
		return nil, err
	}
	r := response{c: c}
	p, part, err := r.next()
	switch {
	case err != nil:
		return nil, err
	case part == mysql.PartFile:
		c.Patient(true)
		return slices.Clone(p), nil
	}
	return nil, broken(mysql.ErrMalformedPacket)
}

// Patient says that the server may leave unread what is sent to it for as long as it likes, as it does with a file while the rows before
// wait for locks.
func (c *Conn) Patient(yes bool) {
	if raw := c.watched.Load(); raw != nil {
		d := userTimeout
		if yes {
			d = 0
		}
		sockopt.UserTimeout(*raw, d)
	}
}

// EndFile ends the file that RequestFile was asked for and reads what became of it.
func (c *Conn) EndFile() (mysql.OKPacket, error) {
	c.WritePacket(nil)
	if err := c.Flush(); err != nil {
		return mysql.OKPacket{}, err
	}
	defer c.Patient(false)
	return c.ReadChange()
}
