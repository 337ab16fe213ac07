package sqltext

import "testing"

func TestModeOf(t *testing.T) {
	for _, c := range []struct {
		version string
		want    Mode
	}{
		{"8.4.0", Mode{ServerVersion: 80400}}, {"8.0.36-28.1", Mode{ServerVersion: 80036}}, {"5.6.51-log (Source distribution). started with:", Mode{ServerVersion: 50651}},
		{"10.11.19-MariaDB-0+deb12u1", Mode{ServerVersion: 101119, MariaDB: true}}, {"5.5.5-10.3.39-MariaDB", Mode{ServerVersion: 100339, MariaDB: true}}, {"9", Mode{ServerVersion: 90000}},
		{"", Mode{}}, {"MariaDB", Mode{}}, {"x.y", Mode{}}, {"99999999999999999999.1", Mode{ServerVersion: 990100}},
	} {
		if got := ModeOf(c.version); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.version, got, c.want)
		}
	}
}
