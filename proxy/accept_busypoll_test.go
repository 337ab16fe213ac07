package proxy_test

import (
	"regexp"
	"strconv"
	"testing"

	"kingshard/mysql/mysqltest"
)

// busy_poll has loops look for events before they sleep, from the next statement on, and /metrics tells how long they did.
func TestBusyPoll(t *testing.T) {
	server := startScript(t, "script")
	p := startLane(t, oneNode(server.Addr, 4)+"prometheus_addr: 127.0.0.1:0\n", `busy_poll: 1ms`)
	c, operator := p.client(""), p.client("")
	polled := func() float64 {
		_, text := get(t, p.httpAddr("prometheus_addr")+"/metrics", "")
		found := regexp.MustCompile(`(?m)^kingshard_fast_lane_poll_seconds_total (.*)$`).FindStringSubmatch(text)
		if found == nil {
			t.Fatal("no metric")
		}
		v, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	grows := func() bool {
		before := polled()
		for range 50 {
			must(t, c, "SELECT 1")
		}
		return polled() > before
	}
	mysqltest.WaitFor(t, "loops to poll", grows)
	must(t, operator, "KS SET busy_poll = 0s")
	mysqltest.WaitFor(t, "loops to poll no more", func() bool {
		for range 10 { // more than a loop leaves out by itself
			if grows() {
				return false
			}
		}
		return true
	})
	must(t, operator, "KS SET busy_poll = '50us'")
	mysqltest.WaitFor(t, "loops to poll again", grows)
	fails(t, operator, "KS SET busy_poll = 1s", 9032)
}
