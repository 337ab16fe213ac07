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
	if len(f.o.Rename) > 0 || len(f.o.Definitions) == n || f.o.Rows != nil {
		return f.renameDefinitions(n)
	}
	return f.copyPackets(n)
}

// replaced is the definition to send in place of the source's number k. A column of another type is described as servers
// describe those that went through a temporary table of theirs.
func (f *forward) replaced(k int, source ColumnDefinition41) ColumnDefinition41 {
	def := f.o.Definitions[k]
	if f.o.AsDefined || encoding(source.Type) == encoding(def.Type) {
		return def
	}
	def.Type, def.Charset, def.Decimals = source.Type, source.Charset, source.Decimals
	def.Flags = def.Flags&^(UnsignedFlag|binaryFlag) | source.Flags&UnsignedFlag
	if def.OrgName == "" {
		def.OrgName = def.Name
	}
	return def
}

// binaryFlag marks columns without a collation. MySQL manual: "Column Definition Flags".
const binaryFlag = 128

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
