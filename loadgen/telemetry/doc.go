// Package telemetry sends a run's spans, metrics and raw records over OTLP/gRPC, to a Collector or to a pipeline of
// the Collector's own parts inside the process.
//
// Nothing is lost on the way without being counted: the span queue blocks when it is full, batches are cut by bytes
// below the size that receivers take, and the run's own span, which says how many requests there were, is sent last.
package telemetry
