package mysql

// RowChanger changes the rows of a result on their way.
type RowChanger interface {
	// Column is told of the definitions of the columns, in order, before the first row. They are valid during the call.
	Column(def *ColumnDefinition41)
	// Row appends to b what takes the place of a row, both as payloads. They are valid during the call. An error says that the row is none.
	Row(b, row []byte) ([]byte, error)
}

// changedRows forwards rows one by one, each as the RowChanger of the options makes it.
func (f *forward) changedRows() error {
	var b []byte
	for {
		if f.dst.Pending() > 0 && !holdsPacket(f.src.Unread()) {
			if err := f.dst.Flush(); err != nil {
				return err
			}
		}
		p, err := f.src.ReadPacket()
		if err != nil {
			return err
		}
		switch part, err := f.scanner.Scan(p, len(p), f.src.Capabilities); {
		case err != nil:
			return f.protocolError(err)
		case part == PartError:
			return f.err(p)
		case part == PartEnd:
			return f.end(p)
		}
		if over := f.o.Quota.Take(uint64(len(p))); over != nil {
			f.res.Cut, f.res.Err, f.res.Kind = true, over, ResponseErr
			f.dst.WriteError(over)
			return nil
		}
		if b, err = f.o.Rows.Row(b[:0], p); err != nil {
			return f.protocolError(err)
		}
		f.res.Rows++
		f.res.Bytes += uint64(headerLen + len(b))
		f.dst.WritePacket(b)
	}
}
