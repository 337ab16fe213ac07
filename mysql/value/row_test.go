package value

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"kingshard/mysql"
)

// TestRowsRoundTrip takes rows apart that AppendVisible made and makes them anew, with all columns and with fewer.
func TestRowsRoundTrip(t *testing.T) {
	kinds := []mysql.ColumnType{mysql.TypeTiny, mysql.TypeYear, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeFloat, mysql.TypeNewDecimal, mysql.TypeDatetime, mysql.TypeVarString}
	rapid.Check(t, func(t *rapid.T) {
		l := Layout{Format: Format(rapid.IntRange(0, 1).Draw(t, "format"))}
		var cells []Cell
		for range rapid.IntRange(1, 20).Draw(t, "columns") {
			typ := column(rapid.SampledFrom(kinds).Draw(t, "type"), 0)
			l.Types = append(l.Types, typ)
			n := rapid.SampledFrom([]int{0, 1, 250, 251, 70000}).Draw(t, "length")
			if l.Format == BinaryRow && typ.width > 0 {
				n = int(typ.width)
			}
			cell := append(Cell{}, bytes.Repeat([]byte{byte(len(cells))}, n)...)
			if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
				cell = nil
			}
			cells = append(cells, cell)
		}
		l.Visible = len(cells)
		full := l.AppendVisible(nil, cells)
		l.Visible = rapid.IntRange(1, len(cells)).Draw(t, "visible")
		row := Row{Raw: full, Cells: make([]Cell, len(cells))}
		if err := l.Split(&row); err != nil {
			t.Fatal(err)
		}
		for i := range cells {
			if !bytes.Equal(cells[i], row.Cells[i]) || (cells[i] == nil) != (row.Cells[i] == nil) {
				t.Fatalf("column %d: %q, want %q", i, row.Cells[i], cells[i])
			}
		}
		shorter := l.AppendVisible(nil, row.Cells)
		if l.Format == TextRow && !bytes.Equal(shorter, full[:row.VisibleEnd]) {
			t.Fatal("the visible cells do not end at VisibleEnd")
		}
		l.Types = l.Types[:l.Visible]
		again := Row{Raw: shorter, Cells: make([]Cell, l.Visible)}
		if err := l.Split(&again); err != nil || again.VisibleEnd != len(shorter) {
			t.Fatalf("a row cut to %d columns: %v, end at %d of %d", l.Visible, err, again.VisibleEnd, len(shorter))
		}
	})
}

func TestMalformedRows(t *testing.T) {
	for name, test := range map[string]struct {
		format Format
		raw    string
	}{
		"empty":            {TextRow, ""},
		"second missing":   {TextRow, "\x011"},
		"cell too short":   {TextRow, "\x011\x05ab"},
		"more behind":      {TextRow, "\x011\x01ab"},
		"length cut":       {TextRow, "\x011\xfc\x01"},
		"length huge":      {TextRow, "\x011\xfe\xff\xff\xff\xff\xff\xff\xff\xff"},
		"error marker":     {TextRow, "\x011\xff"},
		"binary empty":     {BinaryRow, ""},
		"binary no bitmap": {BinaryRow, "\x00"},
		"binary header":    {BinaryRow, "\x01\x00\x01\x00\x00\x00\x00"},
		"binary cut":       {BinaryRow, "\x00\x00\x01\x00\x00"},
		"binary no second": {BinaryRow, "\x00\x00\x01\x00\x00\x00"},
		"binary behind":    {BinaryRow, "\x00\x0c1"},
	} {
		l := Layout{Format: test.format, Types: []Type{column(mysql.TypeLong, 0), column(mysql.TypeBlob, 0)}, Visible: 1}
		if err := l.Split(&Row{Raw: []byte(test.raw), Cells: make([]Cell, 2)}); err != mysql.ErrMalformedPacket {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("\x011\xfb\x02ab"), true)
	f.Add([]byte("\x00\x00\x01\x00\x00\x00\x02ab\x00"), false)
	f.Fuzz(func(t *testing.T, raw []byte, text bool) {
		l := Layout{Format: BinaryRow, Types: []Type{column(mysql.TypeLong, 0), column(mysql.TypeBlob, 0), column(mysql.TypeTime, 0)}, Visible: 2}
		if text {
			l.Format = TextRow
		}
		row := Row{Raw: raw, Cells: make([]Cell, 3)}
		if l.Split(&row) == nil && row.VisibleEnd > len(raw) {
			t.Errorf("visible cells end at %d of %d", row.VisibleEnd, len(raw))
		}
	})
}
