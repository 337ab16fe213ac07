package proxy

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"kingshard/mysql/mysqltest"
)

// An HTTP request that is under way at a shutdown is answered.
func TestShutdownAnswersRequests(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	began, goOn := make(chan struct{}), make(chan struct{})
	handler := func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-goOn
		_, _ = io.WriteString(w, "answered")
	}
	s := &Server{log: slog.New(slog.DiscardHandler)}
	s.listeners.http = []webServer{{listener: l, Server: &http.Server{Handler: http.HandlerFunc(handler)}}}
	s.serveHTTP()
	answer := make(chan string, 1)
	go func() {
		r, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		answer <- string(b)
	}()
	<-began
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.finishHTTP(t.Context(), httpPatience)
	}()
	mysqltest.WaitFor(t, "the listener to be closed", func() bool {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	close(goOn)
	if got := <-answer; got != "answered" {
		t.Error(got)
	}
	<-ended
	s.running.Wait()
}
