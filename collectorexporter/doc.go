// Package collectorexporter is the Collector component spec_decode: it turns the spans and logs of instrumented
// requests into the Spec Decode report on the console and into AIPerf-compatible JSON, CSV and JSONL files.
//
// Data goes one way, one file per stage:
//
//	OTLP -> observation (decode.go) -> run (run.go, phase.go) -> Summary (summary.go) -> console, JSON, CSV
//	                                      \-> profile_export.jsonl line by line (records.go)
//	log record -> profile_export_raw.jsonl line by line (raw.go)
//
// A run is what shares a spec_decode.run.id on its resource. Its state is integers (counts per distinct triple of
// accepted tokens, draft tokens and steps), so the order of arrival changes no figure; lines of the JSONL files come
// in order of arrival. OTLP delivers at least once: a span that was seen before, by trace and span id, is dropped.
//
// The exporter is synchronous and has no queue: what it acknowledged, it has. A malformed span is counted and skipped
// and its batch goes on; a batch that cannot be stored is refused to the sender, who sends it again.
//
// The report is written when the run's own span arrived and all requests that it announced are there, or else at
// Shutdown, marked as incomplete. Traces and logs share one state: the last signal's Shutdown completes what is open.
//
// internal/metadata and the generated_ files come from metadata.yaml:
//
//	go run go.opentelemetry.io/collector/cmd/mdatagen@v0.158.0 metadata.yaml
package collectorexporter
