package twophase

import (
	"errors"
	"strings"
	"testing"
)

func TestNodeID(t *testing.T) {
	if id := NodeIDOf("node1"); id.String() != "ca12f31b" { // printf node1 | sha256sum

		t.Errorf("node1 is %s", id)
	}
	if NodeIDOf("a") == NodeIDOf("b") {
		t.Error("a and b are one")
	}
	if _, _, found := SameID([]string{"a", "b", "a"}); found {
		t.Error("two names of three have one id")
	}
}

func TestXID(t *testing.T) {
	g := GTRID{Anchor: 0xfedc0001, Proxy: 2, Start: 0x6925b000, Sequence: 0xffffffffff}
	const text = "ks1fedc0001000000026925b000ffffffffff"
	if g.String() != text {
		t.Errorf("%s, want %s", g, text)
	}
	x := XID{g, 0xa}
	if want := "'" + text + "','0000000a',1"; x.String() != want {
		t.Errorf("%s, want %s", x, want)
	}
	if key := g.BranchKey(0xa); key != "ksb0000000a000000026925b000ffffffffff" {
		t.Errorf("the branch's key is %s", key)
	}
	got, err := ParseXID(1, len(text), 8, text+"0000000a")
	if err != nil || got != x {
		t.Errorf("%v: %v", got, err)
	}
	for _, bad := range []struct {
		format      int64
		gtrid, data string
		want        error
	}{
		{1, text[:36], text[:36] + "0000000a", ErrNotOurs},
		{1, text, text + "0000000A", ErrNotOurs},
		{1, text, text + "0000000", ErrNotOurs},
		{1, text, text + "fedc0001", ErrNotOurs},
		{1, text, strings.ToUpper(text) + "0000000a", ErrNotOurs},
		{1, text, strings.Replace(text, "ks1", "ks2", 1) + "0000000a", ErrNotOurs},
		{1, text, strings.Replace(text, "fffff", "+ffff", 1) + "0000000a", ErrNotOurs},
		{1, text, strings.Replace(text, "ks1", "ksb", 1) + "0000000a", ErrNotOurs},
		{1, "x", "x", ErrNotOurs},
		{7, text, text + "0000000a", ErrFormatID},
		{0, "x", "x", ErrFormatID},
	} {
		if got, err := ParseXID(bad.format, len(bad.gtrid), len(bad.data)-len(bad.gtrid), bad.data); !errors.Is(err, bad.want) {
			t.Errorf("%d %s: %v, %v, want %v", bad.format, bad.data, got, err, bad.want)
		}
	}
}

// What is read as a transaction's is written as it was read.
func FuzzGTRID(f *testing.F) {
	f.Add("ks1fedc0001000000026925b000ffffffffff")
	f.Add("ks1fedc00010000000269_5b000fffffffff")
	f.Fuzz(func(t *testing.T, s string) {
		if g, err := ParseGTRID(s); err == nil && g.String() != s {
			t.Errorf("%q is read as %q", s, g)
		}
	})
}

func TestRow(t *testing.T) {
	secret := Secret("0123456789abcdef0123456789abcdef")
	g := GTRID{Anchor: 1, Proxy: 2, Start: 3, Sequence: 4}
	row := secret.sign(Row{Key: g.String(), State: Committed, Parts: Parts(1, []NodeID{2, 3}), Conns: "00000001=s:1"})
	if len(row.MAC) != 64 || !secret.Genuine(row) {
		t.Fatalf("%v is not genuine", row)
	}
	done := row
	done.State = Done
	if state, forged := secret.verdict(done); state != Committed || forged {
		t.Errorf("done is %c, forged %t", state, forged)
	}
	for _, change := range []func(*Row){
		func(r *Row) { r.Key = g.BranchKey(2) }, func(r *Row) { r.State = Aborted }, func(r *Row) { r.State = BranchRow }, func(r *Row) { r.Parts = Parts(1, []NodeID{2}) },
		func(r *Row) { r.Conns = "" }, func(r *Row) { r.MAC = "" }, func(r *Row) { r.MAC = strings.ToUpper(r.MAC) }, func(r *Row) { r.Parts += "\n" + r.Conns; r.Conns = "" },
	} {
		other := row
		change(&other)
		if state, forged := secret.verdict(other); state != Aborted || !forged {
			t.Errorf("%v: %c, forged %t", other, state, forged)
		}
	}
	if _, branches, ok := ParseParts(Parts(1, []NodeID{2, 3})); !ok || len(branches) != 2 {
		t.Errorf("%v, %t", branches, ok)
	}
	for _, bad := range []string{"", "1", "00000001,", "00000001,00000001", "00000001,00000002,00000002", "0000000g"} {
		if _, _, ok := ParseParts(bad); ok {
			t.Errorf("%q was taken", bad)
		}
	}
	if n := len(Parts(1, make([]NodeID, BranchesMax-1))); n > PartsLen {
		t.Errorf("parts are %d long", n)
	}
	holder := holderOf(conns(Branch{Node: 1, Holder: "u-1:17"}, Branch{Node: 2, Holder: "[::1]:3306:18"}), 2)
	if holder.Server() != "[::1]:3306" || holder.Connection() != 18 || holderOf("00000001=s:1", 2) != "" || Holder("x").Connection() != 0 {
		t.Errorf("the holder is %q, %d", holder.Server(), holder.Connection())
	}
}
