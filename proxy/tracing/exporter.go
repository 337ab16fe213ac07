package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"kingshard/config"
)

const (
	// queueMax is how many spans wait to be sent, each of some 4 KB at the most; batchMax how many go in one request.
	queueMax, batchMax = 2048, 512
	// flushEvery is how long a span waits for others to go with.
	flushEvery = time.Second
	// closePatience is how long Close waits for what is queued.
	closePatience = 3 * time.Second
	// logEvery is the time between two lines about a collector that does not take spans.
	logEvery = time.Minute
)

// Exporter queues spans and sends them to the collector of the latest configuration. Zero is ready, with Log set before the first
// Apply; Close ends it.
type Exporter struct {
	Log *slog.Logger

	mu     sync.Mutex // guards start and end
	closed bool
	tracer trace.Tracer // nil until something is traced
	queue  chan sdk.ReadOnlySpan
	cancel context.CancelFunc // ends a request
	stop   chan struct{}
	done   chan struct{}

	to      atomic.Pointer[target]
	sender  *otlptrace.Exporter
	http    *http.Client
	limit   limiter
	logged  time.Time // by the goroutine
	failing bool      // the last request was in vain

	sent, full, failed atomic.Uint64
}

// Stats are counts of spans since the start, and of statements whose client asked in vain for a trace.
type Stats struct {
	Sent uint64 // taken by the collector
	// Full are those dropped as the queue was full, Failed those that the collector did not take.
	Full, Failed uint64
	// Refused are statements that were not traced although their client's trace is: there were more than tracing.max_parents.
	Refused uint64
}

// Stats gives the counts.
func (e *Exporter) Stats() Stats {
	return Stats{Sent: e.sent.Load(), Full: e.full.Load(), Failed: e.failed.Load(), Refused: e.limit.refused.Load()}
}

// Apply brings a configuration without fault into force and gives its tracer; nil where nothing is traced. What is queued already
// goes to the new collector, or to the last one that there was.
func (e *Exporter) Apply(cfg *config.Tracing) *Tracer {
	u, err := cfg.URL()
	if u == nil || err != nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	to := &target{url: u.String(), header: make(http.Header)}
	for name, value := range cfg.Headers {
		to.header.Set(name, value)
	}
	e.to.Store(to)
	if e.tracer == nil {
		e.start()
	}
	return newTracer(e, cfg)
}

// start makes what nobody needs who traces nothing; the caller holds mu.
func (e *Exporter) start() {
	e.queue, e.stop, e.done = make(chan sdk.ReadOnlySpan, queueMax), make(chan struct{}), make(chan struct{})
	e.http = newClient()
	e.sender = otlptrace.NewUnstarted((*uploader)(e))
	provider := sdk.NewTracerProvider(
		sdk.WithResource(e.resource()),
		sdk.WithSampler(sdk.AlwaysSample()), // Choose has done it
		sdk.WithRawSpanLimits(sdk.SpanLimits{
			AttributeValueLengthLimit: textMax, AttributeCountLimit: 32, EventCountLimit: 0, LinkCountLimit: 0,
			AttributePerEventCountLimit: 0, AttributePerLinkCountLimit: 0,
		}),
		sdk.WithSpanProcessor((*processor)(e)),
	)
	e.tracer = provider.Tracer("kingshard")
	var ctx context.Context
	ctx, e.cancel = context.WithCancel(context.Background())
	go e.run(ctx)
}

// resource says who sends the spans. What the environment says (OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES) comes first.
func (e *Exporter) resource() *resource.Resource {
	host, _ := os.Hostname()
	r, err := resource.New(context.Background(),
		resource.WithTelemetrySDK(),
		resource.WithAttributes(
			attribute.String("service.name", "kingshard"), text("host.name", host),
			text("service.instance.id", fmt.Sprintf("%s:%d", host, os.Getpid())),
		),
		resource.WithFromEnv(),
	)
	if err != nil {
		e.Log.Warn("tracing: the environment's attributes are not all read", "error", err)
	}
	return r
}

// run sends what is queued until Close.
func (e *Exporter) run(ctx context.Context) {
	defer close(e.done)
	batch := make([]sdk.ReadOnlySpan, 0, batchMax)
	flush := time.NewTimer(flushEvery)
	flush.Stop()
	for {
		select {
		case span := <-e.queue:
			if batch = append(batch, span); len(batch) == 1 {
				flush.Reset(flushEvery)
			}
			if len(batch) < batchMax {
				continue
			}
		case <-flush.C:
		case <-e.stop:
			for len(e.queue) > 0 || len(batch) > 0 {
				for len(e.queue) > 0 && len(batch) < batchMax {
					batch = append(batch, <-e.queue)
				}
				e.send(ctx, batch)
				batch = batch[:0]
			}
			return
		}
		flush.Stop()
		e.send(ctx, batch)
		clear(batch)
		batch = batch[:0]
	}
}

// send sends a batch, or drops it and says so now and then.
func (e *Exporter) send(ctx context.Context, batch []sdk.ReadOnlySpan) {
	err := e.sender.ExportSpans(ctx, batch)
	rejected := uint64(0)
	if partial, ok := asPartial(err); ok {
		rejected = min(partial.rejected, uint64(len(batch)))
	} else if err != nil {
		rejected = uint64(len(batch))
	}
	e.failed.Add(rejected)
	e.sent.Add(uint64(len(batch)) - rejected)
	switch {
	case err == nil && e.failing:
		e.failing = false
		e.Log.Info("tracing: the collector takes spans again", "endpoint", e.to.Load().url)
	case err != nil:
		e.failing = e.failing || rejected == uint64(len(batch))
		if now := time.Now(); e.logged.IsZero() || now.Sub(e.logged) >= logEvery {
			e.logged = now
			e.Log.Warn("tracing: the collector did not take spans", "endpoint", e.to.Load().url, "error", err,
				"dropped", e.failed.Load()+e.full.Load())
		}
	}
}

// Close sends what is queued, for a few seconds at the most, and ends the exporter. No span may begin any more.
func (e *Exporter) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.closed = true
	if e.tracer == nil {
		return
	}
	close(e.stop)
	patience := time.NewTimer(closePatience)
	defer patience.Stop()
	select {
	case <-e.done:
	case <-patience.C:
		e.cancel()
		<-e.done
	}
	e.cancel()
	e.http.CloseIdleConnections()
}

// processor queues the spans that end.
type processor Exporter

// OnStart has nothing to do.
func (*processor) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd queues a span, or drops it: it does not wait.
func (p *processor) OnEnd(span sdk.ReadOnlySpan) {
	select {
	case p.queue <- span:
	default:
		p.full.Add(1)
	}
}

// Shutdown has nothing to do: Close does it.
func (*processor) Shutdown(context.Context) error { return nil }

// ForceFlush has nothing to do: nobody asks for it.
func (*processor) ForceFlush(context.Context) error { return nil }
