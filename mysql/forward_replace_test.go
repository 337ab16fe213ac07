package mysql

import "testing"

// TestForwardReplacesDefinitions: the client gets the definitions that the caller knows, but never a type in which the cells
// that follow would be read wrong.
func TestForwardReplacesDefinitions(t *testing.T) {
	source := []ColumnDefinition41{
		{Name: "ks_g0", Table: "scratch", OrgTable: "scratch", OrgName: "ks_g0", Type: TypeLong, Length: 11, Charset: 63},
		{Name: "SUM(ks_a0)", Type: TypeNewDecimal, Length: 56, Charset: 63, Decimals: 2},
		{Name: "max(ks_a1)", Type: TypeDouble, Length: 23, Charset: 63, Decimals: 31},
		{Name: "x", Type: TypeLongBlob, Length: 4096, Charset: 45, Flags: 0},
		{Name: "n", Type: TypeLongLong, Length: 20, Charset: 63, Flags: UnsignedFlag},
	}
	known := []ColumnDefinition41{
		{Name: "age", Table: "u_0000", OrgTable: "u_0000", OrgName: "age", Type: TypeInt24, Length: 9, Charset: 63, Flags: 1},
		{Name: "SUM(price)", Type: TypeNewDecimal, Length: 34, Charset: 63, Decimals: 2},
		{Name: "max(score)", Type: TypeFloat, Length: 12, Charset: 63, Decimals: 31, Flags: 128},
		{Name: "group_concat(name)", Type: TypeVarString, Length: 1024, Charset: 45, Flags: 1},
		{Name: "year(at)", Type: TypeYear, Length: 4, Charset: 63, Flags: 1},
	}
	want := []ColumnDefinition41{
		{Name: "age", Table: "u", OrgTable: "u", OrgName: "age", Type: TypeInt24, Length: 9, Charset: 63, Flags: 1},
		known[1],
		{Name: "max(score)", OrgName: "max(score)", Type: TypeDouble, Length: 12, Charset: 63, Decimals: 31},
		known[3],
		{Name: "year(at)", OrgName: "year(at)", Type: TypeLongLong, Length: 4, Charset: 63, Flags: 1 | UnsignedFlag},
	}
	packets := func(defs []ColumnDefinition41) [][]byte {
		list := [][]byte{{byte(len(defs))}}
		for k := range defs {
			list = append(list, defs[k].AppendTo(nil))
		}
		eof := []byte{0xfe, 0, 0, 2, 0}
		return append(list, eof, []byte{1, '1', 1, '2', 1, '3', 1, '4', 1, '5'}, eof)
	}
	o := ForwardOptions{Definitions: known, Rename: []TableName{{FromTable: "u_0000", Table: "u"}}}
	dst, src, out := forwardPair(frames(1, packets(source)...), 0, 0)
	if res, err := ForwardResult(dst, src, o); err != nil || res.Rows != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	equalBytes(t, "sent", out.out.Bytes(), frames(1, packets(want)...))
	// Of another number of columns they are somebody else's.
	dst, src, out = forwardPair(frames(1, packets(source[1:2])...), 0, 0)
	if _, err := ForwardResult(dst, src, o); err != nil {
		t.Fatal(err)
	}
	equalBytes(t, "one column", out.out.Bytes(), frames(1, packets(source[1:2])...))
}
