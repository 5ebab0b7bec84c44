// Package semconv holds every name of the speculative-decoding telemetry: span and resource attributes, metrics,
// events and their enumerated values. registry.yaml describes the same names for people and tools; a test keeps the
// two equal.
//
// The names start with "spec_decode." because OpenTelemetry's naming rules reserve "gen_ai." for its own
// conventions, which have none for speculative decoding. GenAI names that exist (model, usage, finish reasons) are
// used as they are, from go.opentelemetry.io/otel/semconv/v1.41.0.
//
// Terms, as the field uses them: in one verify step the large model checks the draft tokens that a cheap drafter
// proposed and accepts a prefix of them; it always adds one token of its own, the bonus token. With A accepted draft
// tokens, D draft tokens and S verify steps of one request, the acceptance length is 1 + A/S tokens per step and the
// draft acceptance rate is A/D.
package semconv
