// Package tracing makes OpenTelemetry spans of statements and sends them to a collector. An [Exporter] owns the queue and the
// requests; [Exporter.Apply] gives the [Tracer] of a configuration, nil where nothing is traced; a Tracer chooses which statements
// are traced and makes a [Statement] of each, whose methods do nothing on nil. Nobody waits for the collector: what it does
// not take in time is dropped and counted.
package tracing
