package session

import (
	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// localInfile lets the client send the file that the server asked for. It does so only when the client's own statement
// was LOAD DATA LOCAL and the user may: a server that asks at any other time is not to be trusted, and its connection
// ends. MySQL manual: "LOCAL INFILE Request".
func (c *client) localInfile(p backend.Pooled, q *query, request []byte) error {
	if q.info.Class != sqltext.LoadDataLocal {
		return &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: errUnaskedInfile}
	}
	c.entry.Upload(true)
	defer c.entry.Upload(false)
	p.Conn.Patient(true)
	defer p.Conn.Patient(false)
	c.conn.WritePacket(request)
	if err := c.conn.Flush(); err != nil {
		return err
	}
	for {
		chunk, err := c.conn.ReadPacket()
		if err != nil {
			return err
		}
		p.Conn.WritePacket(chunk)
		if len(chunk) == 0 {
			return p.Conn.Flush()
		}
	}
}
