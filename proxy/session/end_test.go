package session

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
)

// A command that ends the session is an error of whoever cut it off, unless the session was to end.
func TestUsageOfTheLastCommand(t *testing.T) {
	for name, of := range map[string]struct {
		end  *endError
		want string
	}{
		"goes on":      {nil, "ok "},
		"drained":      {&endError{process.EndDrained, nil}, "ok "},
		"quit":         {errQuit, "ok "},
		"backend lost": {&endError{process.EndBackendLost, nil}, "error backend"},
		"client gone":  {clientEnd(errors.New("gone")), "error client"},
		"killed":       {&endError{process.EndKilled, nil}, "error proxy"},
	} {
		client, nc := net.Pipe()
		defer client.Close()
		accounts, err := account.New(&config.Config{UserList: []config.User{{User: "u", Password: "p"}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := accounts.Lookup("u", netip.Addr{})
		s := New(nc, new(Shared), false)
		s.client.setAccount(a)
		if !s.client.begin(mysql.ComPing, "") {
			t.Fatal("it does not begin")
		}
		s.client.conclude(mysql.ComPing, of.end)
		var got []string
		observe.Usages(accounts, func(u observe.Usage) {
			if u.N > 0 {
				got = append(got, u.Outcome+" "+u.Origin)
			}
		})
		if !slices.Equal(got, []string{of.want}) {
			t.Errorf("%s: %q, want %q", name, got, of.want)
		}
	}
}
