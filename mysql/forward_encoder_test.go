package mysql

// The encoder of this file is the other opinion: it writes whole responses packet by packet, from the manual's pages,
// for any set of capabilities. It shares nothing with the code under test but the constants.

// reply is one response of a server, as the values it stands for.
type reply struct {
	columns  int // of a result set; 0 for OK, ERR and so on
	rows     [][]byte
	rowsOnly bool // COM_STMT_FETCH, COM_FIELD_LIST
	cursor   bool // a cursor was opened: no rows
	noMeta   bool // column definitions left out
	err      *SQLError
	infile   string
	eof      bool // COM_SET_OPTION: an EOF packet alone

	affected, insertID uint64
	status             uint16
	midStatus          uint16 // in the EOF between columns and rows; the one of src, or that of the options
	warnings           uint16
	info, state        string
}

func le(n int, v uint64) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
	return b
}

func lenenc(v uint64) []byte {
	switch {
	case v < 251:
		return []byte{byte(v)}
	case v < 1<<16:
		return append([]byte{0xfc}, le(2, v)...)
	case v < 1<<24:
		return append([]byte{0xfd}, le(3, v)...)
	}
	return append([]byte{0xfe}, le(8, v)...)
}

func text(s string) []byte { return append(lenenc(uint64(len(s))), s...) }

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// column is the definition of the i-th column; real ones differ in nothing that matters here.
func column(i int) []byte {
	return join(text("def"), text("db"), text("t"), text("t"), text(string(rune('a'+i%26))), text(""), []byte{12},
		le(2, 255), le(4, 40), []byte{253}, le(2, 1), []byte{0}, le(2, 0))
}

func (r *reply) ok(header byte, caps Capability) []byte {
	status := r.status &^ 0x4000
	if r.state != "" && caps&ClientSessionTrack != 0 {
		status |= 0x4000
	}
	b := join([]byte{header}, lenenc(r.affected), lenenc(r.insertID), le(2, uint64(status)), le(2, uint64(r.warnings)))
	switch {
	case status&0x4000 != 0:
		return join(b, text(r.info), text(r.state))
	case r.info != "":
		return join(b, text(r.info))
	}
	return b
}

// end is the packet that ends a result set. Only the OK form can carry more than warnings and status.
func (r *reply) end(caps Capability) []byte {
	if caps&ClientDeprecateEOF != 0 {
		return r.ok(0xfe, caps)
	}
	return join([]byte{0xfe}, le(2, uint64(r.warnings)), le(2, uint64(r.status&^0x4000)))
}

// packets gives the payloads that a server sends to a client that negotiated caps.
func (r *reply) packets(caps Capability) [][]byte {
	var out [][]byte
	add := func(p []byte) { out = append(out, p) }
	failed := func() []byte {
		return join([]byte{0xff}, le(2, uint64(r.err.Code)), []byte("#"+r.err.State+r.err.Message))
	}
	switch {
	case r.rowsOnly || r.columns > 0:
	case r.err != nil:
		return [][]byte{failed()}
	case r.infile != "":
		return [][]byte{append([]byte{0xfb}, r.infile...)}
	case r.eof:
		return [][]byte{r.end(caps)}
	default:
		return [][]byte{r.ok(0, caps)}
	}
	if !r.rowsOnly {
		count := lenenc(uint64(r.columns))
		if caps&ClientOptionalResultsetMetadata != 0 {
			flag := byte(1)
			if r.noMeta {
				flag = 0
			}
			count = append(count, flag)
		}
		add(count)
		for i := 0; i < r.columns && !r.noMeta; i++ {
			add(column(i))
		}
		if r.cursor {
			add(r.end(caps))
			return out
		}
		if caps&ClientDeprecateEOF == 0 {
			add(join([]byte{0xfe, 0, 0}, le(2, uint64(r.midStatus))))
		}
	}
	for _, row := range r.rows {
		add(row)
	}
	if r.err != nil {
		add(failed())
	} else {
		add(r.end(caps))
	}
	return out
}
