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
	if len(f.o.Rename) > 0 || len(f.o.Definitions) == n {
		return f.renameDefinitions(n)
	}
	return f.copyPackets(n)
}

// replaced is the definition to send in place of the source's number k. How long a computed text may become the source
// knows better.
func (f *forward) replaced(k int, source ColumnDefinition41) ColumnDefinition41 {
	def := f.o.Definitions[k]
	if encoding(source.Type) == encoding(def.Type) && !(isCharacters(source.Type) && isCharacters(def.Type) && def.OrgName == "") {
		return def
	}
	def.Type, def.Charset, def.Length, def.Decimals = source.Type, source.Charset, source.Length, source.Decimals
	def.Flags = def.Flags&^UnsignedFlag | source.Flags&UnsignedFlag
	return def
}

func isCharacters(t ColumnType) bool {
	switch t {
	case TypeVarchar, TypeVarString, TypeString, TypeTinyBlob, TypeBlob, TypeMediumBlob, TypeLongBlob:
		return true
	}
	return false
}

// encoding names the types whose cells are written alike in rows of both protocols by one of them.
func encoding(t ColumnType) ColumnType {
	switch t {
	case TypeShort, TypeYear:
		return TypeShort
	case TypeLong, TypeInt24:
		return TypeLong
	case TypeDate, TypeNewDate, TypeDatetime, TypeTimestamp:
		return TypeDatetime
	case TypeDecimal, TypeNewDecimal, TypeVarchar, TypeVarString, TypeString, TypeTinyBlob, TypeBlob, TypeMediumBlob, TypeLongBlob,
		TypeEnum, TypeSet, TypeBit, TypeJSON, TypeGeometry, TypeVector:
		return TypeString
	}
	return t
}
