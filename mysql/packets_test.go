package mysql

import (
	"reflect"
	"testing"
)

// The vectors follow the byte tables of the MySQL manual's pages named in the packet types' comments.

func TestHandshakeV10Vector(t *testing.T) {
	wire := unhex(t, `0a 352e352e322d6d3200 0b000000 6476486f 5a63 4b2e 00 fff7 08 0200 ff81 15 00000000000000000000
		2a346452 2d5e 5748 2f4f 5a33 00 6d7973716c5f6e61746976655f70617373776f726400`)
	want := HandshakeV10{
		ServerVersion: "5.5.2-m2", ConnectionID: 11, Salt: []byte("dvHoZcK.*4dR-^WH/OZ3"), Capabilities: 0x81fff7ff,
		Collation: 8, Status: ServerStatusAutocommit, AuthPlugin: "mysql_native_password",
	}
	var got HandshakeV10
	if err := got.Decode(wire); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	equalBytes(t, "encoded", want.AppendTo(nil), wire)
	truncations(t, wire, 25, got.Decode)
	noNul := wire[:len(wire)-1] // MySQL bug 59453
	if err := got.Decode(noNul); err != nil || got.AuthPlugin != want.AuthPlugin {
		t.Errorf("without NUL: %q, %v", got.AuthPlugin, err)
	}
	wire[0] = 9
	if got.Decode(wire) == nil {
		t.Error("protocol 9 accepted")
	}
}

func TestHandshakeV10OfMariaDB(t *testing.T) {
	wire := unhex(t, `0a 352e352e352d31302e3600 01000000 6162636465666768 00 fef7 2d 0200 ff81 15 000000000000 1d000000
		696a6b6c6d6e6f707172737400 6d7973716c5f6e61746976655f70617373776f726400`)
	var p HandshakeV10
	if err := p.Decode(wire); err != nil || p.MariaDBCapabilities != 0x1d || p.ServerVersion != "5.5.5-10.6" || string(p.Salt) != "abcdefghijklmnopqrst" {
		t.Errorf("%+v, %v", p, err)
	}
	// What the struct held before must not shine through.
	if err := p.Decode(unhex(t, "0a 3400 01000000 6162636465666768 00 0102")); err != nil || p.AuthPlugin != "" || p.MariaDBCapabilities != 0 || p.Capabilities != 0x0201 {
		t.Errorf("short greeting: %+v, %v", p, err)
	}
}

func TestHandshakeResponse41Vector(t *testing.T) {
	wire := unhex(t, `8da61b00 00000001 08 0000000000000000000000000000000000000000000000 70616d00
		14 ab09eef6bcb1325e6114386571 91959554 73 a7 3e 7465737400 6d7973716c5f6e61746976655f70617373776f726400 0a 03 5f6f73 05 4c696e7578`)
	want := HandshakeResponse41{
		Capabilities: 0x001ba68d, MaxPacketSize: 1 << 24, Collation: 8, User: "pam",
		AuthResponse: unhex(t, "ab09eef6bcb1325e611438657191959554 73a73e"), Database: "test", AuthPlugin: "mysql_native_password",
		ConnectAttrs: append([]byte{3}, "_os\x05Linux"...),
	}
	var got HandshakeResponse41
	if err := got.Decode(wire); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	equalBytes(t, "encoded", want.AppendTo(nil), wire)
	truncations(t, wire, 32+4+21, got.Decode)

	want.Capabilities |= ClientPluginAuthLenencClientData | ClientZstdCompressionAlgorithm
	want.AuthResponse = make([]byte, 300)
	want.ZstdLevel = 7
	b := want.AppendTo(nil)
	if err := got.Decode(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	if string(b[36:39]) != "\xfc\x2c\x01" {
		t.Errorf("length of a long auth response % x", b[36:39])
	}

	old := HandshakeResponse41{Capabilities: ClientProtocol41, User: "u", AuthResponse: []byte("scramble")}
	b = old.AppendTo(nil)
	if err := got.Decode(b); err != nil || !reflect.DeepEqual(got, old) {
		t.Errorf("%+v, %v", got, err)
	}
	old.Capabilities = 0
	if got.Decode(old.AppendTo(nil)) == nil {
		t.Error("a client without CLIENT_PROTOCOL_41 accepted")
	}
}

func TestSSLRequest(t *testing.T) {
	p := HandshakeResponse41{Capabilities: ClientProtocol41 | ClientSSL, MaxPacketSize: 1 << 24, Collation: 45}
	b := p.AppendSSLRequest(nil)
	equalBytes(t, "SSLRequest", b, unhex(t, "000a0000 00000001 2d 0000000000000000000000000000000000000000000000"))
	if !IsSSLRequest(b) || IsSSLRequest(b[:31]) || IsSSLRequest(append(b, 0)) {
		t.Error("length")
	}
	p.Capabilities = ClientProtocol41
	if IsSSLRequest(p.AppendSSLRequest(nil)) {
		t.Error("a response without CLIENT_SSL is not an SSLRequest")
	}
}

func TestAuthSwitchRequestVector(t *testing.T) {
	wire := unhex(t, "fe 6d7973716c5f6e61746976655f70617373776f726400 4142434445464748494a4b4c4d4e4f505152535400")
	want := AuthSwitchRequest{Plugin: "mysql_native_password", Data: []byte("ABCDEFGHIJKLMNOPQRST")}
	var got AuthSwitchRequest
	if err := got.Decode(wire); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	equalBytes(t, "encoded", want.AppendTo(nil), wire)
	truncations(t, wire, 23, got.Decode)
	if got.Decode([]byte{0xfe}) == nil || got.Decode([]byte{0}) == nil {
		t.Error("the request for the pre-4.1 password, or another packet, accepted")
	}
	// client_ed25519 sends 32 random bytes, with no NUL behind, which may themselves end in zero.
	ed := AuthSwitchRequest{Plugin: "client_ed25519", Data: make([]byte, 32)}
	wire = ed.AppendTo(nil)
	if err := got.Decode(wire); err != nil || len(got.Data) != 32 || len(wire) != 1+15+32 {
		t.Errorf("%d bytes: %+v, %v", len(wire), got, err)
	}
}

func TestChangeUserVector(t *testing.T) {
	caps := ClientSecureConnection | ClientPluginAuth | ClientConnectAttrs
	wire := unhex(t, "11 7500 02 0102 646200 2d00 6d7973716c5f6e61746976655f70617373776f726400 04 01610162")
	want := ChangeUser{
		User: "u", AuthResponse: []byte{1, 2}, Database: "db", Collation: 45, AuthPlugin: "mysql_native_password", ConnectAttrs: []byte("\x01a\x01b"),
	}
	var got ChangeUser
	if err := got.Decode(wire[1:], caps); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	equalBytes(t, "encoded", want.AppendTo(nil, caps), wire)
	truncations(t, wire[1:], 5, func(b []byte) error { return got.Decode(b, caps) })
	short := ChangeUser{User: "u", AuthResponse: []byte("x"), Database: "d"}
	if err := got.Decode([]byte("u\x00x\x00d"), 0); err != nil || !reflect.DeepEqual(got, short) {
		t.Errorf("an old client: %+v, %v", got, err)
	}
	equalBytes(t, "old", short.AppendTo(nil, 0), []byte("\x11u\x00x\x00d\x00\x00\x00"))
}

func TestOKPacketVectors(t *testing.T) {
	track := ClientProtocol41 | ClientSessionTrack
	for _, test := range []struct {
		name   string
		caps   Capability
		header byte
		wire   string
		want   OKPacket
	}{
		{"plain", ClientProtocol41, OKHeader, "00 00 00 0200 0000", OKPacket{Status: ServerStatusAutocommit}},
		{"info", ClientProtocol41, OKHeader, "00 fcfb00 07 0300 0100 04 526f7773", OKPacket{AffectedRows: 251, LastInsertID: 7, Status: 3, Warnings: 1, Info: []byte("Rows")}},
		{"tracked info", track, OKHeader, "00 01 00 0200 0000 04 526f7773", OKPacket{AffectedRows: 1, Status: 2, Info: []byte("Rows")}},
		{"tracked without info", track, OKHeader, "00 01 00 0200 0000", OKPacket{AffectedRows: 1, Status: 2}},
		{"schema change", track, OKHeader, "00 00 00 0240 0000 00 07 01 05 04 74657374", OKPacket{Status: ServerStatusAutocommit | ServerSessionStateChanged, Info: []byte{}, StateChanges: []byte("\x01\x05\x04test")}},
		{"end of rows", track | ClientDeprecateEOF, EOFHeader, "fe 00 00 2200 0000", OKPacket{Status: ServerStatusAutocommit | ServerStatusNoIndexUsed}},
	} {
		wire := unhex(t, test.wire)
		var got OKPacket
		if err := got.Decode(wire, test.caps); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
		equalBytes(t, test.name, test.want.AppendTo(nil, test.header, test.caps), wire)
		truncations(t, wire, 7, func(b []byte) error { return got.Decode(b, test.caps) })
	}
	var p OKPacket
	if p.Decode([]byte{1, 0, 0, 2, 0, 0, 0}, 0) == nil || p.Decode(unhex(t, "00 00 00 0000 0000 05 61"), track) == nil || p.Decode(unhex(t, "00 00 00 0040 0000 00 05 61"), track) == nil {
		t.Error("malformed packet accepted")
	}
}

func TestOKPacketForReceiversWithoutTracking(t *testing.T) {
	p := OKPacket{Status: ServerSessionStateChanged | ServerStatusAutocommit, Info: []byte("i"), StateChanges: []byte{1, 0}}
	equalBytes(t, "without tracking", p.AppendTo(nil, OKHeader, ClientProtocol41), unhex(t, "00 00 00 0200 0000 01 69"))
	p.StateChanges = nil
	equalBytes(t, "nothing tracked", p.AppendTo(nil, OKHeader, ClientSessionTrack), unhex(t, "00 00 00 0200 0000 01 69"))
}

func TestEOFPacketVector(t *testing.T) {
	wire := unhex(t, "fe 0100 0200")
	var got EOFPacket
	if err := got.Decode(wire); err != nil || got != (EOFPacket{Warnings: 1, Status: 2}) {
		t.Fatalf("%+v, %v", got, err)
	}
	equalBytes(t, "encoded", got.AppendTo(nil), wire)
	truncations(t, wire, 5, got.Decode)
	if got.Decode(make([]byte, 9)) == nil || got.Decode(append([]byte{0xfe}, make([]byte, 8)...)) == nil {
		t.Error("a long packet is not an EOF packet")
	}
}

func TestSQLErrorVectors(t *testing.T) {
	wire := unhex(t, "ff 4804 23 4859303030 4e6f207461626c65732075736564")
	var got SQLError
	if err := got.Decode(wire); err != nil || got != (SQLError{Code: 1096, State: "HY000", Message: "No tables used"}) {
		t.Fatalf("%+v, %v", got, err)
	}
	equalBytes(t, "encoded", got.AppendTo(nil), wire)
	truncations(t, wire, 3, got.Decode)
	if err := got.Decode(unhex(t, "ff 1004 546f6f206d616e79")); err != nil || got != (SQLError{Code: 1040, State: "HY000", Message: "Too many"}) {
		t.Errorf("before the handshake: %+v, %v", got, err)
	}
	equalBytes(t, "bad state", (&SQLError{Code: 1, State: "x", Message: "m"}).AppendTo(nil), []byte("\xff\x01\x00#HY000m"))
}

func TestColumnDefinition41Vector(t *testing.T) {
	wire := unhex(t, "03646566 00 00 00 11 40407665 7273696f6e5f636f6d6d656e74 00 0c 0800 1c000000 fd 0000 1f 0000")
	want := ColumnDefinition41{Catalog: "def", Name: "@@version_comment", Charset: 8, Length: 28, Type: TypeVarString, Decimals: 31}
	var got ColumnDefinition41
	if err := got.Decode(wire); err != nil || got != want {
		t.Fatalf("%+v, %v", got, err)
	}
	equalBytes(t, "encoded", want.AppendTo(nil), wire)
	truncations(t, wire, len(wire), got.Decode)
}

func TestStmtPrepareOKVector(t *testing.T) {
	wire := unhex(t, "00 01000000 0100 0200 00 0300")
	want := StmtPrepareOK{StatementID: 1, Columns: 1, Params: 2, Warnings: 3, MetadataFollows: true}
	var got StmtPrepareOK
	if err := got.Decode(wire, ClientProtocol41); err != nil || got != want {
		t.Fatalf("%+v, %v", got, err)
	}
	equalBytes(t, "encoded", want.AppendTo(nil, 0), wire)
	truncations(t, wire, 10, func(b []byte) error { return got.Decode(b, 0) })
	want.MetadataFollows = false
	b := want.AppendTo(nil, ClientOptionalResultsetMetadata)
	equalBytes(t, "no metadata", b, append(wire, 0))
	if err := got.Decode(b, ClientOptionalResultsetMetadata); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}
