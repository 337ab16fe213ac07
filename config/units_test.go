package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5": 5 * time.Second, "0": 0, "250ms": 250 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "8h": 8 * time.Hour,
		"1h30m": 90 * time.Minute, "31536000": durationMax, "8760h": durationMax,
	} {
		var d, again Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || d.Duration() != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
		if err := again.UnmarshalText([]byte(d.String())); err != nil || again != d {
			t.Errorf("%s is written %s, which is read %v, %v", text, d, again, err)
		}
	}
	for _, text := range []string{"", "-1", "-1s", "5 s", "1d", "31536001", "8761h", "99999999999999999999", "1.5", "NaN"} {
		d := Duration(7)
		if d.UnmarshalText([]byte(text)) == nil || d != 7 {
			t.Errorf("%q gives %v", text, d)
		}
	}
	if got := fmt.Sprint(Duration(90*time.Minute), Duration(0), Duration(8*time.Hour), Duration(100*time.Microsecond), Duration(1500*time.Millisecond)); got != "90m 0s 8h 100us 1500ms" {
		t.Error(got)
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]ByteSize{
		"0": 0, "1": 1, "1000": 1000, "512K": 512 << 10, "64M": 64 << 20, "64m": 64 << 20, "1G": 1 << 30, "8589934591G": 8589934591 << 30,
	} {
		var b, again ByteSize
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s: %d, %v", text, int64(b), err)
		}
		if err := again.UnmarshalText([]byte(b.String())); err != nil || again != b {
			t.Errorf("%s is written %s, which is read %d, %v", text, b, int64(again), err)
		}
	}
	for _, text := range []string{"", "M", "-1", "1.5M", "64MB", "64 M", "1T", "8589934592G", "9223372036854775808", "K1"} {
		var b ByteSize
		if b.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q gives %d", text, int64(b))
		}
	}
}

func TestParseNets(t *testing.T) {
	nets := func(texts ...string) (p []netip.Prefix) {
		for _, s := range texts {
			p = append(p, netip.MustParsePrefix(s))
		}
		return p
	}
	for list, want := range map[string][]netip.Prefix{
		"": nil, "  ": nil,
		"127.0.0.1":                        nets("127.0.0.1/32"),
		"127.0.0.1, 192.168.15.3/24,::1":   nets("127.0.0.1/32", "192.168.15.0/24", "::1/128"),
		"::ffff:10.1.2.3":                  nets("10.1.2.3/32"),
		"::ffff:10.1.2.3/104":              nets("10.0.0.0/8"),
		"0.0.0.0/0,2001:db8::/32":          nets("0.0.0.0/0", "2001:db8::/32"),
		"\t10.0.0.0/8\t,  2001:db8::1/128": nets("10.0.0.0/8", "2001:db8::1/128"),
	} {
		if got, err := ParseNets(list); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
	for _, list := range []string{
		",", "127.0.0.1,", "localhost", "10.0.0.0/33", "10.0.0", "fe80::1%eth0", "fe80::%eth0/64", "::ffff:10.0.0.0/95", "10.0.0.0/8 10.1.1.1",
		"127.0.0.1/", "/8", "010.0.0.1",
	} {
		if got, err := ParseNets(list); err == nil {
			t.Errorf("%q gives %v", list, got)
		}
	}
}

func TestReplicas(t *testing.T) {
	for text, want := range map[string][]Replica{
		"": nil, " ": nil,
		"10.0.0.1:3306":                         {{"10.0.0.1:3306", 1}},
		" 10.0.0.1:3306@2 , db-2.example:3307 ": {{"10.0.0.1:3306", 2}, {"db-2.example:3307", 1}},
		"[::1]:3306@1000,/run/my@sql.sock@3":    {{"[::1]:3306", 1000}, {"/run/my@sql.sock", 3}},
		"/run/mysql.sock":                       {{"/run/mysql.sock", 1}},
		"10.0.0.1:3306 @ 4":                     {{"10.0.0.1:3306", 4}},
	} {
		if got, err := (Node{Slave: text}).Replicas(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		",", "10.0.0.1:3306,", "10.0.0.1", "10.0.0.1:3306@0", "10.0.0.1:3306@1001", "10.0.0.1:3306@-1", "10.0.0.1:3306@", "@2", "::1:3306",
		"10.0.0.1:0", "10.0.0.1:65536", ":3306", "10.0.0.1:mysql", "run/mysql.sock@1", "a b:3306",
	} {
		if got, err := (Node{Slave: text}).Replicas(); err == nil {
			t.Errorf("%q gives %v", text, got)
		}
	}
}

func TestDateRange(t *testing.T) {
	for _, c := range []struct{ kind, text, from, to string }{
		{"date_year", "2016", "2016", "2016"},
		{"date_month", "201603-201605", "201603", "201605"},
		{"date_day", "20160306-20160301", "20160301", "20160306"},
		{"date_day", " 20160229 ", "20160229", "20160229"},
	} {
		if from, to, err := DateRange(c.kind, c.text); err != nil || from != c.from || to != c.to {
			t.Errorf("%s %s: %s, %s, %v", c.kind, c.text, from, to, err)
		}
	}
	for _, c := range [][2]string{
		{"date_year", ""}, {"date_year", "201603"}, {"date_year", "20x6"}, {"date_month", "201613"}, {"date_month", "2016-03"},
		{"date_day", "20150229"}, {"date_day", "20160301-"}, {"date_day", "-20160301"}, {"date_year", "2015-2016-2017"},
	} {
		if from, to, err := DateRange(c[0], c[1]); err == nil {
			t.Errorf("%v gives %s, %s", c, from, to)
		}
	}
}

func TestListenAddresses(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:9696": true, ":9696": true, "[::]:9696": true, "localhost:0": true, "db.example:9696": true,
		"9696": false, "127.0.0.1": false, "::1:9696": false, "127.0.0.1:mysql": false, "a b:1": false, "127.0.0.1:-1": false, "/run/x:1": false,
	} {
		if (checkListen(addr) == nil) != ok {
			t.Errorf("checkListen(%q) = %v", addr, checkListen(addr))
		}
	}
	for addr, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true, "[::ffff:127.0.0.1]:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "localhost.example:1": false, "": false,
	} {
		if loopback(addr) != want {
			t.Errorf("loopback(%q) = %v", addr, !want)
		}
	}
}
