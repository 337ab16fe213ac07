package proxy_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/pprof/profile"

	"kingshard/mysql/mysqltest"
)

// A profile of what went by is there once it is asked for, one on demand is taken all the same, and both stop with the proxy.
func TestContinuousProfile(t *testing.T) {
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4), "web_addr: 127.0.0.1:0")
	url := p.httpAddr("web_addr") + "/debug/pprof/profile"
	operator := p.client("")
	fetch := func(query string) (int, *profile.Profile) {
		t.Helper()
		r, err := http.Get(url + query)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			return r.StatusCode, nil
		}
		got, err := profile.ParseData(body)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return r.StatusCode, got
	}
	for query, want := range map[string]int{"?last=60": http.StatusConflict, "?last=0": http.StatusBadRequest, "?last=x": http.StatusBadRequest, "?last=601": http.StatusBadRequest} {
		if status, _ := fetch(query); status != want {
			t.Errorf("%s: %d", query, status)
		}
	}
	fails(t, operator, "KS SET continuous_profile = 5s", 9032)
	must(t, operator, "KS SET continuous_profile = 1m")
	if got := value(t, operator, "SHOW KS STATUS LIKE 'Continuous_profile'"); got != "Continuous_profile,1m" {
		t.Errorf("status %s", got)
	}
	last := func() bool {
		status, got := fetch("?last=60")
		return status == http.StatusOK && len(got.SampleType) == 2
	}
	mysqltest.WaitFor(t, "the profile of what went by", last)
	if status, got := fetch("?seconds=1"); status != http.StatusOK || len(got.SampleType) != 2 {
		t.Errorf("on demand: %d", status)
	}
	mysqltest.WaitFor(t, "the profile after that", last)
}
