package mysql

// ForwardDefinitions copies runs of definitions from src to dst, each run ended by an EOF packet where a side has that:
// the parameters and the columns behind a COM_STMT_PREPARE_OK. status goes into EOF packets that only dst has; names are
// as in ForwardOptions.Rename.
func ForwardDefinitions(dst, src *Conn, runs []int, status Status, names []TableName) error {
	f := forward{dst: dst, src: src, o: ForwardOptions{Rename: names}}
	for _, n := range runs {
		if n == 0 {
			continue
		}
		if done, err := f.definitions(n); err != nil {
			return err
		} else if done {
			return f.res.Err
		}
		if !src.Capabilities.Has(ClientDeprecateEOF) {
			p, err := f.packet()
			if err != nil {
				return err
			}
			if err := f.decodeEnd(p); err != nil {
				return err
			}
			status = f.res.OK.Status
		}
		if !dst.Capabilities.Has(ClientDeprecateEOF) {
			f.midEOF(status)
		}
	}
	return nil
}

// definitions forwards n definitions.
func (f *forward) definitions(n int) (done bool, err error) {
	if len(f.o.Rename) > 0 {
		return f.renameDefinitions(n)
	}
	return f.copyPackets(n)
}
