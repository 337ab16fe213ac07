package tracing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	// requestTimeout bounds one request; answerMax is how much of its answer is read, in bytes.
	requestTimeout, answerMax = 10 * time.Second, 64 << 10
	// attempts are how often a batch is sent, retryFirst the pause behind the first one, which doubles; retryMax is the longest
	// one that a collector may ask for.
	attempts, retryFirst, retryMax = 3, time.Second, 30 * time.Second
)

// target is where spans go. Its header is not to be logged.
type target struct {
	url    string
	header http.Header
}

// newClient makes the client of the collector. It follows no redirect, which would take the headers elsewhere.
func newClient() *http.Client {
	return &http.Client{
		Timeout: requestTimeout,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: requestTimeout / 2}).DialContext,
			TLSHandshakeTimeout: requestTimeout / 2, ForceAttemptHTTP2: true, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// uploader sends spans by OTLP over HTTP. It stands in the place of the library's own client, which brings the whole of gRPC along.
type uploader Exporter

// Start has nothing to do.
func (*uploader) Start(context.Context) error { return nil }

// Stop has nothing to do.
func (*uploader) Stop(context.Context) error { return nil }

// UploadTraces sends spans, several times if the collector may take them later. An error is a partialError if some were taken.
func (u *uploader) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// On the wire the export's request is the same: its first and only field are these spans.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	pause := retryFirst
	for attempt := 1; ; attempt++ {
		again, err := u.post(ctx, body)
		if err == nil || again < 0 || attempt == attempts {
			return err
		}
		wait := time.NewTimer(max(pause, again))
		select {
		case <-wait.C:
		case <-u.stop: // no time for more than what is queued
			wait.Stop()
			return err
		}
		pause *= 2
	}
}

// post makes one request. again is how long to wait for the next one, if the error is one that may pass; below 0 if not.
func (u *uploader) post(ctx context.Context, body []byte) (again time.Duration, err error) {
	to := u.to.Load()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	req.Header = to.header.Clone()
	req.Header.Set("Content-Type", "application/x-protobuf")
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "kingshard")
	}
	resp, err := u.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return -1, errors.New("the proxy stops")
		}
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, answerMax))
	switch {
	case resp.StatusCode/100 == 2:
		if err == nil {
			err = partial(answer)
		}
		return -1, err
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusBadGateway ||
		resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16)
		return min(time.Duration(seconds)*time.Second, retryMax), fmt.Errorf("status %d", resp.StatusCode)
	}
	return -1, fmt.Errorf("status %d", resp.StatusCode)
}

// partialError says that a collector took some spans only.
type partialError struct{ rejected uint64 }

func (e *partialError) Error() string { return fmt.Sprintf("%d spans were rejected", e.rejected) }

func asPartial(err error) (p *partialError, ok bool) { return p, errors.As(err, &p) }

// partial reads how many spans were not taken from the answer to a request: its field 1 is a message with their number in field 1.
// What it cannot read says nothing. OTLP specification: "Partial Success".
func partial(answer []byte) error {
	inner, ok := field(answer, protowire.BytesType)
	if !ok {
		return nil
	}
	message, n := protowire.ConsumeBytes(inner)
	if n < 0 {
		return nil
	}
	number, ok := field(message, protowire.VarintType)
	if !ok {
		return nil
	}
	if rejected, n := protowire.ConsumeVarint(number); n > 0 && int64(rejected) > 0 {
		return &partialError{rejected}
	}
	return nil
}

// field finds the value of field 1 of a message, of the type given.
func field(message []byte, want protowire.Type) (value []byte, ok bool) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, false
		}
		message = message[n:]
		if number == 1 && kind == want {
			return message, true
		}
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return nil, false
		}
		message = message[n:]
	}
	return nil, false
}
