package auth

import "testing"

// The vectors of the specification; salts are as crypt(3) cuts them.
func TestSHACrypt(t *testing.T) {
	for _, c := range []struct {
		password, salt string
		rounds         int
		want           string
	}{
		{"Hello world!", "saltstring", 5000, "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"},
		{"Hello world!", "saltstringsaltst", 10000, "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA"},
		{"This is just a test", "toolongsaltstrin", 5000, "Un/5jzAHMgOGZ5.mWJpuVolil07guHPvOW8mGRcvxa5"},
		{"a very much longer text to encrypt.  This one even stretches over morethan one line.", "anotherlongsalts", 1400, "Rx.j8H.h8HjEDGomFU8bDkXm3XIUnzyxf12oP84Bnq1"},
		{"we have a short salt string but not a short password", "short", 77777, "JiO1O3ZpDAxGJeaDIuqCoEFysAe1mZNJRs3pw0KQRd/"},
		{"a short string", "asaltof16chars..", 123456, "gP3VQ/6X7UUEW3HkBn2w1/Ptq2jxPyzV/cZKmF/wJvD"},
		{"the minimum number is still observed", "roundstoolow", 1000, "yfvwcWrQ8l/K0DAWyuPMDNHpIVlTQebY9l/gL972bIC"},
	} {
		got := shaCrypt([]byte(c.password), []byte(c.salt), c.rounds)
		if string(got[:]) != c.want {
			t.Errorf("%q with %q: %s, want %s", c.password, c.salt, got[:], c.want)
		}
	}
}
