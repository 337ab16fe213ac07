//go:build faultpoints

package admin_test

import (
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// What is said of a fault point shows, and happens as often as was said; who waits there goes on when something else is said.
func TestFaultPointStatements(t *testing.T) {
	p := start(t, nil)
	root := p.client("root")
	shows := func(want string) {
		t.Helper()
		if got := rows(t, root, "SHOW KS FAULTPOINTS LIKE 'before_send'")[0]; strings.Join(got[:5], "|") != want {
			t.Errorf("%q, want %s", got, want)
		}
	}
	shows("before_send|YES|nothing|NULL|NULL")
	must(t, root, "KS FAULTPOINT before_send DO WAIT 250")
	shows("before_send|YES|wait|250|NULL")
	must(t, root, "ks faultpoint `BEFORE_SEND` do error times 2;")
	shows("before_send|YES|error|NULL|2")
	transaction := p.client("root") // a goroutine runs it
	must(t, transaction, "SET autocommit = 0")
	fails(t, transaction, "SELECT 1", 9018)
	shows("before_send|YES|error|NULL|1")
	must(t, root, "KS FAULTPOINT before_send DO NOTHING")
	shows("before_send|YES|nothing|NULL|NULL")
	must(t, transaction, "SELECT 1")

	must(t, root, "KS FAULTPOINT after_send DO WAIT 3600000 TIMES 1")
	answered := make(chan error, 1)
	go func() {
		r, err := transaction.Query("SELECT 2")
		if err == nil && r.Err != nil {
			err = r.Err
		}
		answered <- err
	}()
	mysqltest.WaitFor(t, "the statement to wait", func() bool {
		return len(rows(t, root, "SHOW KS FAULTPOINTS WHERE name = after_send AND waiting = 1")) == 1
	})
	must(t, root, "KS FAULTPOINT after_send DO NOTHING")
	if err := <-answered; err != nil {
		t.Error(err)
	}

	for _, c := range []struct {
		text  string
		code  uint16
		words string
	}{
		{"KS FAULTPOINT", 9031, "the name of a fault point"}, {"KS FAULTPOINT before_send", 9031, "expected DO"}, {"KS FAULTPOINT before_send DO", 9031, "ERROR, EXIT, WAIT or NOTHING"},
		{"KS FAULTPOINT before_send DO harm", 9031, "ERROR, EXIT, WAIT or NOTHING"}, {"KS FAULTPOINT before_send DO WAIT", 9031, "milliseconds"},
		{"KS FAULTPOINT before_send DO WAIT 3600001", 9031, "milliseconds"}, {"KS FAULTPOINT before_send DO ERROR TIMES 0", 9031, "how often"},
		{"KS FAULTPOINT before_send DO ERROR 5", 9031, "the end of the statement"}, {"KS FAULTPOINT nowhere DO ERROR", 9032, "no such fault point"},
		{"KS FAULTPOINT before_return DO ERROR", 9032, "nothing can fail"},
	} {
		fails(t, root, c.text, c.code, c.words)
	}
	fails(t, p.client("ops"), "KS FAULTPOINT before_send DO EXIT", 9030)
	fails(t, p.client("app"), "SHOW KS FAULTPOINTS", 9030)
	if got := rows(t, root, "SHOW KS EVENTS WHERE what = 'fault point' AND detail = 'before_send wait'"); len(got) != 1 {
		t.Errorf("events: %q", got)
	}
}
