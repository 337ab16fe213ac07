package backend

import (
	"slices"

	"kingshard/mysql"
)

// RequestFile sends a LOAD DATA LOCAL statement and gives the packet in which the server asks for the file; the caller sends
// the file in packets of the connection and then calls EndFile. A *mysql.SQLError says that the server wants none, and leaves
// the connection as it was. MySQL manual: "LOCAL INFILE Request".
func (c *Conn) RequestFile(sql string) ([]byte, error) {
	c.Command(mysql.ComQuery, sql)
	if err := c.Flush(); err != nil {
		return nil, err
	}
	p, err := c.ReadPacket()
	if err != nil {
		return nil, err
	}
	switch {
	case len(p) > 0 && p[0] == mysql.ErrHeader:
		return nil, decodeError(p)
	case len(p) > 0 && p[0] == mysql.LocalInfileHeader:
		return slices.Clone(p), nil
	}
	return nil, &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: mysql.ErrMalformedPacket}
}

// EndFile ends the file that RequestFile was asked for and reads what became of it.
func (c *Conn) EndFile() (mysql.OKPacket, error) {
	c.WritePacket(nil)
	if err := c.Flush(); err != nil {
		return mysql.OKPacket{}, err
	}
	return c.ReadChange()
}
