package backend

import "kingshard/mysql"

// ReadDefinitions reads a result set of either protocol for the definitions of its columns; rows are dropped.
func (c *Conn) ReadDefinitions() ([]mysql.ColumnDefinition41, error) {
	r := response{c: c}
	definitions, err := r.open()
	if err != nil {
		return nil, err
	}
	return definitions, r.rows(func([]byte) error { return nil })
}

// Describe has the server prepare a statement, and forget it again, for the columns of its result: none where it gives no rows. Nothing is run.
func (c *Conn) Describe(sql string) (definitions []mysql.ColumnDefinition41, err error) {
	c.Command(mysql.ComStmtPrepare, sql)
	if err := c.Flush(); err != nil {
		return nil, err
	}
	p, err := c.ReadPacket()
	if err != nil {
		return nil, err
	}
	if len(p) > 0 && p[0] == mysql.ErrHeader {
		return nil, decodeError(p)
	}
	var ok mysql.StmtPrepareOK
	if err := ok.Decode(p, c.Capabilities); err != nil {
		return nil, broken(err)
	}
	if err := c.SkipDefinitions(int(ok.Params), 0, ok.MetadataFollows); err != nil {
		return nil, err
	}
	if ok.MetadataFollows {
		if definitions, err = c.columnDefinitions(int(ok.Columns), c.ReadPacket); err != nil {
			return nil, err
		}
	}
	c.QueueSilent(mysql.AppendUint32([]byte{byte(mysql.ComStmtClose)}, ok.StatementID))
	return definitions, nil
}

// columnDefinitions reads n definitions and what ends them, packet by packet.
func (c *Conn) columnDefinitions(n int, packet func() ([]byte, error)) ([]mysql.ColumnDefinition41, error) {
	if n == 0 {
		return nil, nil
	}
	definitions := make([]mysql.ColumnDefinition41, n)
	for k := range definitions {
		p, err := packet()
		if err != nil {
			return nil, err
		}
		if err := definitions[k].Decode(p); err != nil {
			return nil, broken(err)
		}
	}
	if !c.Capabilities.Has(mysql.ClientDeprecateEOF) {
		if _, err := packet(); err != nil {
			return nil, err
		}
	}
	return definitions, nil
}
