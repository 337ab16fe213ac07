package mysql

import (
	"bytes"
	"testing"
)

// fixedPoint checks that what a decoder accepts is written in a form that it accepts again and writes the same way.
func fixedPoint(t *testing.T, payload []byte, decode func([]byte) error, encode func() []byte) {
	t.Helper()
	if decode(payload) != nil {
		return
	}
	first := bytes.Clone(encode())
	if err := decode(first); err != nil {
		t.Fatalf("own bytes refused: %v\n% x", err, first)
	}
	if second := encode(); !bytes.Equal(first, second) {
		t.Fatalf("not a fixed point:\n% x\n% x", first, second)
	}
}

func FuzzHandshakeV10(f *testing.F) {
	f.Add((&HandshakeV10{ServerVersion: "8.4.0", Salt: make([]byte, 20), Capabilities: ClientPluginAuth | ClientSecureConnection, AuthPlugin: "x"}).AppendTo(nil))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var p HandshakeV10
		if p.Decode(payload) != nil || len(p.Salt) != 20 || !p.Capabilities.Has(ClientPluginAuth) {
			return // AppendTo writes current greetings only
		}
		fixedPoint(t, payload, p.Decode, func() []byte { return p.AppendTo(nil) })
	})
}

func FuzzHandshakeResponse41(f *testing.F) {
	for _, caps := range []Capability{ClientProtocol41, 0xffffffff, ClientProtocol41 | ClientSecureConnection | ClientConnectWithDB} {
		f.Add((&HandshakeResponse41{Capabilities: caps, User: "u", AuthResponse: []byte("abc"), Database: "d", AuthPlugin: "p", ConnectAttrs: []byte("\x01a\x01b")}).AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var p HandshakeResponse41
		IsSSLRequest(payload)
		fixedPoint(t, payload, p.Decode, func() []byte { return p.AppendTo(nil) })
	})
}

func FuzzAuthSwitchRequest(f *testing.F) {
	f.Add((&AuthSwitchRequest{Plugin: "p", Data: make([]byte, 20)}).AppendTo(nil))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var p AuthSwitchRequest
		fixedPoint(t, payload, p.Decode, func() []byte { return p.AppendTo(nil) })
	})
}

func FuzzOKPacket(f *testing.F) {
	f.Add([]byte{0, 1, 2, 2, 0x40, 0, 0, 1, 'i', 2, 'a', 'b'}, uint32(ClientSessionTrack))
	f.Add([]byte{0xfe, 0, 0, 2, 0, 0, 0}, uint32(ClientDeprecateEOF))
	f.Fuzz(func(t *testing.T, payload []byte, caps uint32) {
		var p OKPacket
		c := Capability(caps)
		fixedPoint(t, payload, func(b []byte) error { return p.Decode(b, c) }, func() []byte { return p.AppendTo(nil, OKHeader, c) })
	})
}

func FuzzEOFPacket(f *testing.F) {
	f.Add([]byte{0xfe, 0, 0, 2, 0})
	f.Fuzz(func(t *testing.T, payload []byte) {
		var p EOFPacket
		fixedPoint(t, payload, p.Decode, func() []byte { return p.AppendTo(nil) })
	})
}

func FuzzSQLError(f *testing.F) {
	f.Add([]byte("\xff\x15\x04#28000Access denied"))
	f.Add([]byte("\xff\x10\x04Too many connections"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var p SQLError
		fixedPoint(t, payload, p.Decode, func() []byte { return p.AppendTo(nil) })
	})
}

func FuzzColumnDefinition41(f *testing.F) {
	f.Add((&ColumnDefinition41{Catalog: "def", Name: "a", Type: TypeLong}).AppendTo(nil))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var p ColumnDefinition41
		fixedPoint(t, payload, p.Decode, func() []byte { return p.AppendTo(nil) })
	})
}

func FuzzStmtPrepareOK(f *testing.F) {
	f.Add((&StmtPrepareOK{StatementID: 1, Columns: 2, Params: 3}).AppendTo(nil, 0), uint32(0))
	f.Add((&StmtPrepareOK{StatementID: 1}).AppendTo(nil, ClientOptionalResultsetMetadata), uint32(ClientOptionalResultsetMetadata))
	f.Fuzz(func(t *testing.T, payload []byte, caps uint32) {
		var p StmtPrepareOK
		c := Capability(caps)
		fixedPoint(t, payload, func(b []byte) error { return p.Decode(b, c) }, func() []byte { return p.AppendTo(nil, c) })
	})
}

func FuzzChangeUser(f *testing.F) {
	all := ClientSecureConnection | ClientPluginAuth | ClientConnectAttrs
	f.Add((&ChangeUser{User: "u", AuthResponse: []byte("abc"), Database: "d", AuthPlugin: "p", ConnectAttrs: []byte("\x01a\x01b")}).AppendTo(nil, all)[1:], uint32(all))
	f.Add([]byte("u\x00x\x00d"), uint32(0))
	f.Fuzz(func(t *testing.T, payload []byte, caps uint32) {
		var p ChangeUser
		c := Capability(caps)
		fixedPoint(t, payload, func(b []byte) error { return p.Decode(b, c) }, func() []byte { return p.AppendTo(nil, c)[1:] })
	})
}
