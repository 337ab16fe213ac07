package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
)

func v2(command, family byte, body []byte) string {
	b := append([]byte(nil), proxyV2Signature...)
	b = append(b, command, family)
	b = binary.BigEndian.AppendUint16(b, uint16(len(body)))
	return string(append(b, body...))
}

func TestReadProxyHeader(t *testing.T) {
	v4 := []byte{192, 0, 2, 1, 10, 0, 0, 1, 0x30, 0x39, 0x25, 0xe0}
	v6 := append(append(netip.MustParseAddr("2001:db8::7").AsSlice(), make([]byte, 16)...), 0x30, 0x39, 0, 80)
	for _, c := range []struct {
		name, in, want string
		err            error
	}{
		{"v1 tcp4", "PROXY TCP4 192.0.2.1 10.0.0.1 12345 9696\r\n", "192.0.2.1:12345", nil},
		{"v1 tcp6", "PROXY TCP6 2001:db8::7 2001:db8::1 12345 9696\r\n", "[2001:db8::7]:12345", nil},
		{"v1 unknown", "PROXY UNKNOWN\r\n", "", nil},
		{"v1 family and address differ", "PROXY TCP4 2001:db8::7 10.0.0.1 1 2\r\n", "", errProxyHeader},
		{"v1 no port", "PROXY TCP4 192.0.2.1 10.0.0.1 x 2\r\n", "", errProxyHeader},
		{"v1 endless", "PROXY TCP4 " + strings.Repeat("1", 200), "", errProxyHeader},
		{"v2 tcp4", v2(0x21, 0x11, v4), "192.0.2.1:12345", nil},
		{"v2 tcp4 with more fields", v2(0x21, 0x11, append(v4, 3, 0, 4, 1, 2, 3, 4)), "192.0.2.1:12345", nil},
		{"v2 tcp6", v2(0x21, 0x21, v6), "[2001:db8::7]:12345", nil},
		{"v2 local", v2(0x20, 0x00, nil), "", nil},
		{"v2 unspecified", v2(0x21, 0x00, nil), "", nil},
		{"v2 wrong version", v2(0x31, 0x11, v4), "", errProxyHeader},
		{"v2 short address", v2(0x21, 0x11, v4[:8]), "", errProxyHeader},
		{"v2 cut off", v2(0x21, 0x11, v4)[:20], "", io.ErrUnexpectedEOF},
		{"no header", "SELECT 1 and more bytes", "", errProxyHeader},
		{"nothing", "", "", io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			const rest = "the first bytes of MySQL"
			in := strings.NewReader(c.in + rest)
			if c.err == io.EOF || c.err == io.ErrUnexpectedEOF {
				in = strings.NewReader(c.in)
			}
			got, err := readProxyHeader(in)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if c.err != nil {
				return
			}
			if text := got.String(); c.want != "" && text != c.want || c.want == "" && got.IsValid() {
				t.Errorf("address %s, want %q", text, c.want)
			}
			if left, _ := io.ReadAll(in); string(left) != rest {
				t.Errorf("left to read: %q", left)
			}
		})
	}
}

func FuzzReadProxyHeader(f *testing.F) {
	f.Add([]byte("PROXY TCP4 192.0.2.1 10.0.0.1 12345 9696\r\n"))
	f.Add([]byte(v2(0x21, 0x11, make([]byte, 12))))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.NewReader(data)
		addr, err := readProxyHeader(in)
		if err != nil && addr.IsValid() {
			t.Error("an address with an error")
		}
		if used := len(data) - in.Len(); used > proxyV2FixedLen+proxyV2BodyMax {
			t.Errorf("%d bytes read", used)
		}
	})
}
