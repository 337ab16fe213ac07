package proxy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// Requests that never end, or send a header without bounds, take little memory and keep nobody else out.
func TestHTTPIsBounded(t *testing.T) {
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4), "prometheus_addr: 127.0.0.1:0", "web_addr: 127.0.0.1:0", "web_user: ops", "web_password: secret")
	header := []byte("GET /livez HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 900<<10))
	for _, field := range []string{"prometheus_addr", "web_addr"} {
		addr := strings.TrimPrefix(p.httpAddr(field), "http://")
		before := heapAndStacks()
		half := make([]net.Conn, 1000)
		closed := make(chan bool, len(half))
		for k := range half {
			nc, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			half[k] = nc
			go func() {
				_, _ = nc.Write(header)
				_, _ = io.Copy(io.Discard, nc)
				closed <- true
			}()
			if k%100 == 99 {
				code, _ := get(t, "http://"+addr+"/livez", "")
				if code != http.StatusOK {
					t.Fatalf("%s: %d with %d half requests", field, code, k+1)
				}
			}
		}
		if grown := heapAndStacks() - before; grown > 64<<20 {
			t.Errorf("%s: 1000 half requests hold %d MB", field, grown>>20)
		}
		for range half { // each ends, as its header is too long or as others came
			<-closed
		}
	}
}

// heapAndStacks is the memory in use after a collection, in bytes.
func heapAndStacks() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// Connections without a request make room for others; those with one under way do not.
func TestIdleHTTPConnectionsMakeRoom(t *testing.T) {
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4), "web_addr: 127.0.0.1:0", "web_user: ops", "web_password: secret")
	addr := strings.TrimPrefix(p.httpAddr("web_addr"), "http://")
	sampled := make(chan int, 1)
	go func() {
		r, _ := http.NewRequest("GET", "http://"+addr+"/debug/pprof/trace?seconds=2", nil)
		r.SetBasicAuth("ops", "secret")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			sampled <- 0
			return
		}
		_, err = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			sampled <- 0
			return
		}
		sampled <- answer.StatusCode
	}()
	mysqltest.WaitFor(t, "the trace to run", func() bool {
		return strings.Contains(stacks(), "pprof.Trace")
	})
	conns := make([]net.Conn, 400)
	for k := range conns {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		conns[k] = nc
		if k < 300 {
			continue
		}
		// Connections are used as long as they are not the oldest.
		if _, err := fmt.Fprint(nc, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		_ = nc.SetReadDeadline(time.Now().Add(10 * time.Second))
		b := make([]byte, 64)
		if n, err := nc.Read(b); err != nil || !strings.HasPrefix(string(b[:n]), "HTTP/1.1 200") {
			t.Fatalf("connection %d: %q, %v", k, b[:n], err)
		}
	}
	_ = conns[0].SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := conns[0].Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the oldest is still open: %v", err)
	}
	if code := <-sampled; code != http.StatusOK {
		t.Errorf("a request under way ended with %d", code)
	}
}

func isTimeout(err error) bool {
	ne, ok := err.(net.Error)
	return ok && ne.Timeout()
}

// A body that does not come ends.
func TestHTTPBodiesEnd(t *testing.T) {
	t.Parallel()
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4), "web_addr: 127.0.0.1:0", "web_user: ops", "web_password: secret")
	nc, err := net.Dial("tcp", strings.TrimPrefix(p.httpAddr("web_addr"), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_, err = fmt.Fprint(nc, "POST /api/v2/reload HTTP/1.1\r\nHost: a\r\nAuthorization: Basic b3BzOnNlY3JldA==\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{")
	if err != nil {
		t.Fatal(err)
	}
	_ = nc.SetReadDeadline(time.Now().Add(time.Minute))
	b, err := io.ReadAll(nc)
	if err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 4") {
		t.Errorf("%q, %v", b, err)
	}
}
