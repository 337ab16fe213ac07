package mysql

import (
	"bytes"
	"slices"
	"testing"
)

func TestResponseScanner(t *testing.T) {
	const (
		eof      = ClientProtocol41
		noEOF    = ClientProtocol41 | ClientDeprecateEOF
		optional = noEOF | ClientOptionalResultsetMetadata
	)
	ok := func(header byte, s Status) []byte { return (&OKPacket{Status: s}).AppendTo(nil, header, noEOF) }
	end := func(s Status) []byte { return (&EOFPacket{Status: s}).AppendTo(nil) }
	refused := []byte("\xff\x28\x04#42000no")
	definition := (&ColumnDefinition41{Name: "a"}).AppendTo(nil)
	// A row may begin as what ends rows does: with the length of a long cell. Only its first bytes are looked at.
	long := append([]byte{0xfe, 0, 0, 0, 1, 0, 0, 0, 0}, "x"...)
	type packet struct {
		payload []byte
		want    Part
	}
	for name, c := range map[string]struct {
		caps    Capability
		rows    bool // from the first packet on
		packets []packet
	}{
		"ok":                     {noEOF, false, []packet{{ok(OKHeader, 0), PartOK}, {ok(OKHeader, 0), PartOK}}},
		"error":                  {noEOF, false, []packet{{refused, PartError}, {ok(OKHeader, 0), PartOK}}},
		"file":                   {noEOF, false, []packet{{[]byte("\xfbname"), PartFile}}},
		"set option":             {eof, false, []packet{{end(0), PartEnd}, {ok(OKHeader, 0), PartOK}}},
		"rows":                   {noEOF, false, []packet{{[]byte{2}, PartColumns}, {definition, PartDefinition}, {definition, PartDefinition}, {[]byte("\x01a\x01b"), PartRow}, {[]byte("\xfb\xfb"), PartRow}, {ok(EOFHeader, 0), PartEnd}, {[]byte{1}, PartColumns}}},
		"rows with EOF":          {eof, false, []packet{{[]byte{1}, PartColumns}, {definition, PartDefinition}, {end(0), PartDefinitionsEnd}, {[]byte("\x01a"), PartRow}, {long, PartRow}, {end(0), PartEnd}, {refused, PartError}}},
		"no rows":                {eof, false, []packet{{[]byte{1}, PartColumns}, {definition, PartDefinition}, {end(0), PartDefinitionsEnd}, {end(0), PartEnd}}},
		"a cursor":               {noEOF, false, []packet{{[]byte{1}, PartColumns}, {definition, PartDefinition}, {ok(EOFHeader, ServerStatusCursorExists), PartEnd}, {ok(OKHeader, 0), PartOK}}},
		"a cursor with EOF":      {eof, false, []packet{{[]byte{1}, PartColumns}, {definition, PartDefinition}, {end(ServerStatusCursorExists), PartEnd}, {ok(OKHeader, 0), PartOK}}},
		"metadata":               {optional, false, []packet{{[]byte{1, 1}, PartColumns}, {definition, PartDefinition}, {[]byte("\x01a"), PartRow}, {ok(EOFHeader, 0), PartEnd}}},
		"without metadata":       {optional, false, []packet{{[]byte{1, 0}, PartColumns}, {[]byte("\x01a"), PartRow}, {ok(EOFHeader, 0), PartEnd}}},
		"fetched":                {noEOF, true, []packet{{[]byte("\x00\x00a"), PartRow}, {ok(EOFHeader, 0), PartEnd}}},
		"error behind rows":      {noEOF, false, []packet{{[]byte{1}, PartColumns}, {definition, PartDefinition}, {[]byte("\x01a"), PartRow}, {refused, PartError}, {ok(OKHeader, 0), PartOK}}},
		"error for a definition": {noEOF, false, []packet{{[]byte{1}, PartColumns}, {refused, PartError}, {ok(OKHeader, 0), PartOK}}},
	} {
		var s ResponseScanner
		if c.rows {
			s.ToRows()
		}
		for k, p := range c.packets {
			part, err := s.Scan(p.payload, len(p.payload), c.caps)
			if err != nil || part != p.want {
				t.Errorf("%s: packet %d is %d, %v; want %d", name, k, part, err, p.want)
			}
		}
	}
	for name, c := range map[string]struct {
		caps    Capability
		packets [][]byte
	}{
		"nothing":             {noEOF, [][]byte{nil}},
		"an empty row":        {noEOF, [][]byte{{1}, definition, {}}},
		"no columns":          {noEOF, [][]byte{{0xfc, 0, 0}}},
		"too many columns":    {noEOF, [][]byte{{0xfd, 0, 0, 1}}},
		"more than the count": {noEOF, [][]byte{{1, 1}}},
		"an odd flag":         {optional, [][]byte{{1, 2}}},
		"a row without EOF":   {eof, [][]byte{{1}, definition, []byte("\x01a")}},
		"a long first":        {noEOF, [][]byte{{0xfd}}},
	} {
		var s ResponseScanner
		for k, p := range c.packets {
			if _, err := s.Scan(p, len(p), c.caps); (err != nil) != (k == len(c.packets)-1) {
				t.Errorf("%s: packet %d: %v", name, k, err)
			}
		}
	}
	var s ResponseScanner
	_, _ = s.Scan([]byte{1}, 1, noEOF)
	if _, err := s.Scan(definition, payloadMax, noEOF); err == nil {
		t.Error("a definition of 16 MB is let through")
	}
	s.ToRows()
	if part, err := s.Scan(long[:1], payloadMax, noEOF); part != PartRow || err != nil {
		t.Errorf("a row that begins as an end does is %d, %v", part, err)
	}
}

// FuzzResponseScanner feeds a scanner and a [Walk] the same packets: whatever they are, the two agree on where a plain response ends.
func FuzzResponseScanner(f *testing.F) {
	f.Add([]byte("\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00"), true)
	f.Add([]byte("\x01\x00\x00\x01\x01\x03\x00\x00\x02def\x02\x00\x00\x03\x01a\x07\x00\x00\x04\xfe\x00\x00\x02\x00\x00\x00"), true)
	f.Fuzz(func(t *testing.T, b []byte, deprecate bool) {
		caps := ClientProtocol41
		if deprecate {
			caps |= ClientDeprecateEOF
		}
		var w Walk
		arrival := w.First(slices.Clone(b), caps)
		var s ResponseScanner
		for at := 0; at+headerLen <= len(b); {
			length := int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16
			if at += headerLen; length > len(b)-at {
				return
			}
			part, err := s.Scan(b[at:at+length], length, caps)
			if at += length; err != nil || part == PartError || part == PartFile {
				return
			}
			if part == PartOK || part == PartEnd {
				if arrival == ArrivedPlain && at != w.Len() {
					t.Errorf("%q ends at %d, the walk at %d", bytes.Clone(b), at, w.Len())
				}
				return
			}
		}
		if arrival == ArrivedPlain {
			t.Errorf("%q has no end, the walk finds one at %d", bytes.Clone(b), w.Len())
		}
	})
}
