// Package instrumentation records, for any client of an OpenAI-compatible inference server, how speculative decoding
// did on each request: an [http.RoundTripper] reads the answer as it passes, streamed or not, and leaves every byte
// as it is.
//
//	client := &http.Client{Transport: instrumentation.NewTransport(http.DefaultTransport)}
//
// Data goes one way:
//
//	request -> span started, trace context sent -> response body passes -> answer understood -> record -> span, metrics
//
// The body's bytes go to the caller in the same Read in which they came. What was read is looked at on the way
// ([answer]); an engine's adapter makes the record of it ([adapters]); when the body ends or is closed, the span gets
// its attributes and ends, and the metrics of package semconv are recorded with the span's context.
//
// One CLIENT span stands for one request, as OpenTelemetry's GenAI conventions have it. No prompt, answer, header or
// key is in it. An answer's error text, which can quote the request, and whole bodies are recorded only on request:
// [WithErrorBody], [WithRaw].
package instrumentation
