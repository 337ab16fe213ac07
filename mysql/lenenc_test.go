package mysql

import (
	"bytes"
	"testing"
)

func TestLenencVectors(t *testing.T) {
	for _, test := range []struct {
		v    uint64
		wire string
	}{
		{0, "00"}, {0xfa, "fa"}, {0xfb, "fc fb00"}, {0xffff, "fc ffff"}, {0x10000, "fd 000001"}, {0xffffff, "fd ffffff"},
		{0x1000000, "fe 0000000100000000"}, {1<<64 - 1, "fe ffffffffffffffff"},
	} {
		want := unhex(t, test.wire)
		equalBytes(t, test.wire, AppendLenenc(nil, test.v), want)
		c := NewCursor(want)
		if got := c.Lenenc(); got != test.v || c.Err() != nil || c.Len() != 0 {
			t.Errorf("%s: %d, %v", test.wire, got, c.Err())
		}
		truncations(t, want, len(want), func(b []byte) error {
			c := NewCursor(b)
			c.Lenenc()
			return c.Err()
		})
	}
}

func TestLenencIsNotAMarker(t *testing.T) {
	for _, b := range []byte{0xfb, 0xff} {
		c := NewCursor([]byte{b, 0, 0, 0, 0, 0, 0, 0, 0})
		if c.Lenenc(); c.Err() == nil {
			t.Errorf("%#x read as an integer", b)
		}
	}
}

func TestCursorReads(t *testing.T) {
	c := NewCursor(unhex(t, "01 0203 040506 0708090a 61620063 0364 6566 7a7a"))
	if c.Uint8() != 1 || c.Uint16() != 0x0302 || c.Uint24() != 0x060504 || c.Uint32() != 0x0a090807 {
		t.Error("fixed integers")
	}
	if s := string(c.NulBytes()); s != "ab" {
		t.Errorf("string<NUL> %q", s)
	}
	if c.Uint8() != 'c' || string(c.LenencBytes()) != "def" || c.Pos() != 18 || string(c.Rest()) != "zz" || c.Err() != nil {
		t.Error("strings")
	}
	if c.Rest() == nil || c.Err() != nil {
		t.Error("nothing left is not an error")
	}
	if c.Uint32() != 0 || c.Err() == nil || c.Uint8() != 0 || c.NulBytes() != nil || c.LenencBytes() != nil || c.Rest() != nil {
		t.Error("an error sticks and gives zeros")
	}
}

func TestCursorRefusesLengthsBeyondThePayload(t *testing.T) {
	for _, wire := range []string{"05 61", "fe ffffffffffffffff 61", "fe 0000000000000080 61", "fd ffffff"} {
		c := NewCursor(unhex(t, wire))
		if b := c.LenencBytes(); b != nil || c.Err() != ErrMalformedPacket {
			t.Errorf("%s: %q, %v", wire, b, c.Err())
		}
	}
	c := NewCursor([]byte("no nul"))
	if c.NulBytes() != nil || c.Err() == nil {
		t.Error("string<NUL> without NUL accepted")
	}
	c = NewCursor([]byte("ab"))
	if c.Bytes(-1) != nil || c.Err() == nil {
		t.Error("negative length accepted")
	}
}

func FuzzCursor(f *testing.F) {
	f.Add([]byte{0xfc, 1, 0, 'a', 0, 3}, []byte{5, 4, 6})
	f.Fuzz(func(t *testing.T, payload, reads []byte) {
		c := NewCursor(payload)
		for _, r := range reads {
			before := c.Len()
			switch r % 8 {
			case 0:
				c.Uint8()
			case 1:
				c.Uint16()
			case 2:
				c.Uint24()
			case 3:
				c.Uint32()
			case 4:
				c.Lenenc()
			case 5:
				if s := c.LenencBytes(); c.Err() == nil {
					d := NewCursor(AppendLenencString(nil, s))
					if !bytes.Equal(d.LenencBytes(), s) || d.Len() != 0 {
						t.Fatal("string<lenenc> does not come back")
					}
				}
			case 6:
				if s := c.NulBytes(); c.Err() == nil && bytes.IndexByte(s, 0) >= 0 {
					t.Fatal("NUL inside string<NUL>")
				}
			case 7:
				c.Bytes(int(r >> 3))
			}
			if c.Len() > before || c.Len() < 0 || c.Pos()+c.Len() != len(payload) {
				t.Fatalf("position %d of %d", c.Pos(), len(payload))
			}
		}
	})
}
