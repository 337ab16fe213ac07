package mysqltest

import (
	"errors"

	"kingshard/mysql"
)

// Command sends a command and gives the payloads of its whole response, those of all results where there are several,
// in whatever form was negotiated. Commands that have no response give none. A request for a local file ends the
// response: SendFile goes on.
func (c *RawClient) Command(cmd mysql.Command, body string) ([][]byte, error) {
	if err := c.Send(cmd, body); err != nil {
		return nil, err
	}
	switch cmd {
	case mysql.ComQuit, mysql.ComStmtClose, mysql.ComStmtSendLongData:
		return nil, nil
	case mysql.ComStatistics:
		p, err := c.Read()
		return [][]byte{p}, err
	case mysql.ComStmtPrepare:
		return c.readPrepared(nil)
	case mysql.ComFieldList, mysql.ComStmtFetch:
		out, _, err := c.readRows(nil)
		return out, err
	}
	return c.readResults(nil)
}

// readResults appends results until one says that it is the last.
func (c *RawClient) readResults(out [][]byte) ([][]byte, error) {
	for {
		var status mysql.Status
		var err error
		if out, status, err = c.readResult(out); err != nil || !status.Has(mysql.ServerMoreResultsExists) {
			return out, err
		}
	}
}

// readResult appends one result and gives the status of its last packet; that of an error is 0.
func (c *RawClient) readResult(out [][]byte) ([][]byte, mysql.Status, error) {
	p, err := c.Read()
	if err != nil {
		return out, 0, err
	}
	out = append(out, p)
	switch p[0] {
	case mysql.OKHeader:
		var ok mysql.OKPacket
		err := ok.Decode(p, c.Conn.Capabilities)
		return out, ok.Status, err
	case mysql.ErrHeader, mysql.LocalInfileHeader:
		return out, 0, nil
	case mysql.EOFHeader:
		ok, err := c.decodeEnd(p)
		return out, ok.Status, err
	}
	n, metadata, err := c.columnCount(p)
	if err != nil {
		return out, 0, err
	}
	if !metadata {
		n = 0
	}
	if out, err = c.readPackets(out, n); err != nil {
		return out, 0, err
	}
	if !c.Conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
		if p, err = c.Read(); err != nil {
			return out, 0, err
		}
		out = append(out, p)
		if p[0] == mysql.ErrHeader {
			return out, 0, nil
		}
		if eof, err := c.decodeEnd(p); err != nil || eof.Status.Has(mysql.ServerStatusCursorExists) {
			return out, eof.Status, err
		}
	}
	return c.readRows(out)
}

// columnCount reads the first packet of a result set.
func (c *RawClient) columnCount(p []byte) (n int, metadata bool, err error) {
	cursor := mysql.NewCursor(p)
	n, metadata = int(cursor.Lenenc()), true
	if c.Conn.Capabilities.Has(mysql.ClientOptionalResultsetMetadata) {
		metadata = cursor.Uint8() != 0
	}
	if n > 1<<16-1 {
		return 0, false, errors.New("more columns than a statement can have")
	}
	return n, metadata, cursor.Err()
}

func (c *RawClient) readPackets(out [][]byte, n int) ([][]byte, error) {
	for ; n > 0; n-- {
		p, err := c.Read()
		if err != nil {
			return out, err
		}
		out = append(out, p)
	}
	return out, nil
}

// readRows appends rows and the packet that ends them.
func (c *RawClient) readRows(out [][]byte) ([][]byte, mysql.Status, error) {
	for {
		p, err := c.Read()
		if err != nil {
			return out, 0, err
		}
		out = append(out, p)
		if p[0] == mysql.ErrHeader {
			return out, 0, nil
		}
		if c.isEnd(p) {
			end, err := c.decodeEnd(p)
			return out, end.Status, err
		}
	}
}

func (c *RawClient) isEnd(p []byte) bool {
	if c.Conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
		return p[0] == mysql.EOFHeader && len(p) < 1<<24-1
	}
	return p[0] == mysql.EOFHeader && len(p) < 9
}

// decodeEnd reads an EOF packet, or an OK packet in its place.
func (c *RawClient) decodeEnd(p []byte) (ok mysql.OKPacket, err error) {
	if c.Conn.Capabilities.Has(mysql.ClientDeprecateEOF) && len(p) >= 7 {
		err = ok.Decode(p, c.Conn.Capabilities)
		return ok, err
	}
	var eof mysql.EOFPacket
	err = eof.Decode(p)
	return mysql.OKPacket{Status: eof.Status, Warnings: eof.Warnings}, err
}

// readPrepared appends the answer to COM_STMT_PREPARE.
func (c *RawClient) readPrepared(out [][]byte) ([][]byte, error) {
	p, err := c.Read()
	if err != nil {
		return out, err
	}
	out = append(out, p)
	if p[0] == mysql.ErrHeader {
		return out, nil
	}
	var ok mysql.StmtPrepareOK
	if err := ok.Decode(p, c.Conn.Capabilities); err != nil {
		return out, err
	}
	for _, n := range []int{int(ok.Params), int(ok.Columns)} {
		if n == 0 || !ok.MetadataFollows {
			continue
		}
		if !c.Conn.Capabilities.Has(mysql.ClientDeprecateEOF) {
			n++
		}
		if out, err = c.readPackets(out, n); err != nil {
			return out, err
		}
	}
	return out, nil
}
