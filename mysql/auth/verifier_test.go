package auth

import (
	"encoding/hex"
	"strings"
	"testing"
)

const longPassword = "a long password of more than thirty two bytes, päss"

// What MariaDB 10.11.19 and MySQL 9.7.4 have in mysql.user, the latter with its default of 10,000 rounds, and an older
// MySQL's with 5,000.
var stored = []struct{ plugin, password, text string }{
	{NativePassword, "pässwörd", "*0225EC5004ABB0B8CB557541FE53DE1A5D8CC825"},
	{NativePassword, "foobar", "*9b500343bc52e2911172eb52ae5cf4847604c6e5"},
	{Ed25519, "secret", "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY"},
	{Ed25519, "foobar", "qv2mG6HWCuy32Slb5xhV4THStewNz2VINVPbgk+XAJ8"},
	{CachingSHA2, "secret", "0x244124303041242B12304D534D145822740A3202047D75122A670C563672524B6333563062547047344135744271587334445263365A6B7A52362E566E666B6F544835614A42"},
	{CachingSHA2, longPassword, "0x24412430304124542E4F1501284F62717B4035514C543C573B4779386B2E35574A522F6D45476E4F704D7870545053646A4C79393142326275787A704931522E787546575534"},
	{CachingSHA2, strings.Repeat("x", 256), "0X24412430304124066e27221c1a5218036e7067565020444e5f216b6e665645464d5a6d4a7034496a4c48694d4c6b6f47643261664e5930524a68755a4b325a67415631697631"},
	{CachingSHA2, "foobar", "0x24412430303524031A69251C34295C4B35167C7F1E5A7B63091349503974624D34504B5A424679354856336868686F52485A736E4A733368786E427575516C73446469496537"},
}

// login runs a whole login over a secure channel and returns its verdict and the number of the client's packets.
func login(t testing.TB, c *Credentials, plugin, password string) (Verdict, int) {
	t.Helper()
	return exchange(t, c, plugin, channel{secure: true}, ClientOptions{Password: password})
}

func TestStoredVerifiers(t *testing.T) {
	for _, s := range stored {
		texts := []string{s.text}
		if raw, ok := strings.CutPrefix(s.text, "0x"); ok {
			texts = append(texts, string(unhex(t, raw)))
		}
		for _, text := range texts {
			c, err := FromVerifiers(map[string]string{s.plugin: text})
			if err != nil {
				t.Fatalf("%s %q: %v", s.plugin, text, err)
			}
			if v, _ := login(t, c, s.plugin, s.password[:len(s.password)-1]); v != Deny {
				t.Errorf("%s %q: wrong password: %v", s.plugin, text, v)
			}
			if v, _ := login(t, c, s.plugin, s.password); v != Accept {
				t.Errorf("%s %q: %v", s.plugin, text, v)
			}
			for _, other := range []string{NativePassword, CachingSHA2, Ed25519, SHA256, Clear, ""} {
				if c.Supports(other) != (other == s.plugin) {
					t.Errorf("%s: Supports(%q) is %v", s.plugin, other, c.Supports(other))
				}
			}
		}
	}
}

func TestHash(t *testing.T) {
	all := make(map[string]string)
	for _, plugin := range []string{NativePassword, CachingSHA2, Ed25519} {
		text, err := Hash(plugin, longPassword)
		if err != nil {
			t.Fatal(err)
		}
		all[plugin] = text
		for _, password := range []string{"", "a\x00b", strings.Repeat("x", 257)} {
			if text, err := Hash(plugin, password); err == nil {
				t.Errorf("%s of %.10q: %q", plugin, password, text)
			}
		}
	}
	for _, plugin := range []string{SHA256, Clear, ""} {
		if text, err := Hash(plugin, "x"); err == nil {
			t.Errorf("%q: %q", plugin, text)
		}
	}
	if got := all[CachingSHA2]; len(got) != 70 || !strings.HasPrefix(got, "$A$005$") || strings.ContainsAny(got[7:], "$\"'\\ \n") {
		t.Errorf("not easy to type: %q", got)
	}
	if again, _ := Hash(CachingSHA2, longPassword); again == all[CachingSHA2] {
		t.Error("the same salt twice")
	}
	digest := newSHA2Digest([]byte(longPassword))
	for _, sha2 := range []string{all[CachingSHA2], sha2Prefix + hex.EncodeToString(digest[:])} {
		all[CachingSHA2] = sha2
		c, err := FromVerifiers(all)
		if err != nil {
			t.Fatal(err)
		}
		for plugin := range all {
			if v, _ := login(t, c, plugin, longPassword); v != Accept {
				t.Errorf("%s: %v", plugin, v)
			}
			if v, _ := login(t, c, plugin, "wrong"); v != Deny {
				t.Errorf("%s with a wrong password: %v", plugin, v)
			}
		}
	}
}

var malformed = []struct{ plugin, text string }{
	{NativePassword, ""},
	{NativePassword, "*"},
	{NativePassword, "0225EC5004ABB0B8CB557541FE53DE1A5D8CC8250"},
	{NativePassword, "*0225EC5004ABB0B8CB557541FE53DE1A5D8CC82"},
	{NativePassword, "*0225EC5004ABB0B8CB557541FE53DE1A5D8CC8255"},
	{NativePassword, "*0225EC5004ABB0B8CB557541FE53DE1A5D8CC82g"},
	{CachingSHA2, ""},
	{CachingSHA2, "0x"},
	{CachingSHA2, "0x2441243"},
	{CachingSHA2, "sha2x2:"},
	{CachingSHA2, "sha2x2:" + strings.Repeat("0", 63)},
	{CachingSHA2, "sha2x2:" + strings.Repeat("0", 66)},
	{CachingSHA2, "sha2x2:" + strings.Repeat("g", 64)},
	{CachingSHA2, strings.Repeat("0", 64)},
	{CachingSHA2, "$A$005$" + strings.Repeat("s", 62)},
	{CachingSHA2, "$A$005$" + strings.Repeat("s", 64)},
	{CachingSHA2, "$A$005$" + strings.Repeat("s", 62) + "$"},
	{CachingSHA2, "$A$004$" + strings.Repeat("s", 63)},
	{CachingSHA2, "$A$+05$" + strings.Repeat("s", 63)},
	{CachingSHA2, "$A$0_5$" + strings.Repeat("s", 63)},
	{CachingSHA2, "$B$005$" + strings.Repeat("s", 63)},
	{CachingSHA2, "$A$005s" + strings.Repeat("s", 63)},
	{Ed25519, ""},
	{Ed25519, "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY="},
	{Ed25519, "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJ"},
	{Ed25519, "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJZ"},         // bits beyond the 256th
	{Ed25519, "ZIgUREUg5PVgQ6LskhXmO-eZLS0nC8be6HPjYWR4YJY"},         // the other base 64
	{Ed25519, "ZIgUREUg5PVgQ6LskhXmO\neZLS0nC8be6HPjYWR4YJY"},        // decoders skip line ends
	{Ed25519, "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},         // no point of the curve
	{Ed25519, "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},         // the neutral point: anybody can sign
	{Ed25519, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},         // of order 4: anybody can sign
	{SHA256, "$5$i\x19[\\@\x16\x3101?,\\T\x03Ci\x11-\x1b%\x1b$e/eO"}, // not a server-side plugin
	{Clear, "secret"},
	{"", "secret"},
}

func TestMalformedVerifiers(t *testing.T) {
	for _, m := range malformed {
		c, err := FromVerifiers(map[string]string{m.plugin: m.text})
		if err == nil || c != nil {
			t.Errorf("%s %q is taken", m.plugin, m.text)
		} else if len(m.text) > 10 && strings.Contains(err.Error(), m.text) {
			t.Errorf("the text is in the error: %v", err)
		}
	}
	for _, m := range []map[string]string{nil, {}} {
		if c, err := FromVerifiers(m); err == nil {
			t.Errorf("no verifiers: %v", c)
		}
	}
}

func FuzzVerifiers(f *testing.F) {
	for _, s := range stored {
		f.Add(s.plugin, s.text)
	}
	for _, m := range malformed {
		f.Add(m.plugin, m.text)
	}
	f.Add(CachingSHA2, sha2Prefix+strings.Repeat("a", 64))
	f.Fuzz(func(t *testing.T, plugin, text string) {
		c, err := FromVerifiers(map[string]string{plugin: text})
		if err != nil {
			if c != nil {
				t.Fatal("Credentials beside an error")
			}
			return
		}
		if !c.Supports(plugin) {
			t.Fatalf("%s %q does not support its plugin", plugin, text)
		}
		if c.crypt != nil {
			again, ok := parseCrypt(c.crypt.text())
			if !ok || *again != *c.crypt {
				t.Fatalf("%q does not come back", c.crypt.text())
			}
			c.crypt.rounds = cryptRoundsMin // as it is, one can take seconds
		}
		for _, password := range []string{"", "wrong"} {
			if v, _ := login(t, c, plugin, password); v != Deny {
				t.Fatalf("%s %q and password %q: %v", plugin, text, password, v)
			}
		}
	})
}
