package semconv

import "go.opentelemetry.io/otel/attribute"

// Attributes of the CLIENT span of one request. Counts are integers; a count that the engine did not report is
// absent, never 0.
const (
	// EngineKey names the engine whose payload was read: vllm, sglang, tensorrt_llm, llama_cpp or mlx_vlm.
	EngineKey = attribute.Key("spec_decode.engine")

	// StepsKey is S, the number of verify steps. 0 means that stats were reported and no step ran.
	StepsKey = attribute.Key("spec_decode.steps")

	// DraftTokensKey is D, the number of draft tokens that the drafter proposed.
	DraftTokensKey = attribute.Key("spec_decode.draft_tokens")

	// AcceptedDraftTokensKey is A, the number of draft tokens that were accepted, without bonus tokens.
	AcceptedDraftTokensKey = attribute.Key("spec_decode.accepted_draft_tokens")

	// MaxDraftTokensKey is k, the largest number of draft tokens per step; absent when the engine has no fixed bound.
	MaxDraftTokensKey = attribute.Key("spec_decode.max_draft_tokens")

	// AcceptanceLengthKey is 1 + A/S, a double of at least 1; absent without steps.
	AcceptanceLengthKey = attribute.Key("spec_decode.acceptance.length")

	// AcceptanceRateKey is A/D, a double in 0..1; absent when D is 0.
	AcceptanceRateKey = attribute.Key("spec_decode.acceptance.rate")

	// AcceptanceHistogramKey is an int array: element j counts the steps that accepted exactly j draft tokens.
	AcceptanceHistogramKey = attribute.Key("spec_decode.acceptance.histogram")

	// AcceptanceByDraftLengthKey is an int array with the joint counts of (drafted, accepted) per step, in rows by
	// drafted length: row d has the d+1 counts for 0..d accepted, so that d = 0, 1, 2 take elements 0, 1..2, 3..5.
	AcceptanceByDraftLengthKey = attribute.Key("spec_decode.acceptance.histogram_by_draft_length")

	// StepAcceptedKey is an int array: accepted draft tokens of each step, in order.
	StepAcceptedKey = attribute.Key("spec_decode.step.accepted_draft_tokens")

	// StepDraftedKey is an int array: draft tokens of each step, in order.
	StepDraftedKey = attribute.Key("spec_decode.step.draft_tokens")

	// StepDroppedKey says how many steps the two per-step arrays leave out because of their length limit.
	StepDroppedKey = attribute.Key("spec_decode.step.dropped")

	// StepAcceptedCountKey is j, an attribute of the metric [MetricSteps] only.
	StepAcceptedCountKey = attribute.Key("spec_decode.step.accepted")

	// DraftTokenOutcomeKey is "accepted" or "rejected", an attribute of the metric [MetricDraftTokens] only.
	DraftTokenOutcomeKey = attribute.Key("spec_decode.draft_token.outcome")

	// OutcomeKey says what became of a request, one of the Outcome constants. It is on every span of the instrumentation, so that a
	// receiver tells our spans from the server's in the same trace.
	OutcomeKey = attribute.Key("spec_decode.request.outcome")

	// CorruptReasonKey says which identity a refused payload broke, in words.
	CorruptReasonKey = attribute.Key("spec_decode.stats.corrupt_reason")

	// IgnoredKey names a member of an otherwise good payload that contradicts it and was left out.
	IgnoredKey = attribute.Key("spec_decode.stats.ignored")

	// ErrorCodeKey is the code that an error event gives under a good status.
	ErrorCodeKey = attribute.Key("spec_decode.request.error_code")

	// RunPhaseKey is "warmup" or "profiling".
	RunPhaseKey = attribute.Key("spec_decode.run.phase")

	// RunPhaseIndexKey numbers the phases of a run from 0.
	RunPhaseIndexKey = attribute.Key("spec_decode.run.phase_index")

	// RequestIndexKey is the order of issue within the phase, from 0.
	RequestIndexKey = attribute.Key("spec_decode.request.index")

	// RequestCategoryKey is the category that the data set gives the prompt.
	RequestCategoryKey = attribute.Key("spec_decode.request.category")

	// MissingKey says what the answer gives away of why it has no stats, one of the Missing constants; absent when it
	// gives away nothing.
	MissingKey = attribute.Key("spec_decode.stats.missing")

	// RequestIDKey is the id that the sender made up for the request and sent as X-Request-Id.
	RequestIDKey = attribute.Key("spec_decode.request.id")

	// RequestCorrelationIDKey is the id that all turns of one conversation share.
	RequestCorrelationIDKey = attribute.Key("spec_decode.request.correlation_id")

	// RequestTurnKey is the turn within the conversation, from 0.
	RequestTurnKey = attribute.Key("spec_decode.request.turn")

	// RequestIssuedKey is when the request was due to be sent, in nanoseconds since the Unix epoch.
	RequestIssuedKey = attribute.Key("spec_decode.request.issued")
)

// Timings of one answer, integers in nanoseconds after the start of the span, on the sender's monotonic clock.
// A chunk here is one that has text, reasoning text or a tool call; an unstreamed body is one chunk.
const (
	// HeadersKey is when the response's headers had arrived.
	HeadersKey = attribute.Key("spec_decode.response.headers")

	// FirstChunkKey is when the first chunk arrived.
	FirstChunkKey = attribute.Key("spec_decode.response.first_chunk")

	// SecondChunkKey is when the second chunk arrived.
	SecondChunkKey = attribute.Key("spec_decode.response.second_chunk")

	// LastChunkKey is when the last chunk arrived.
	LastChunkKey = attribute.Key("spec_decode.response.last_chunk")

	// ChunkGapsKey is an int array: the time between each chunk and the one before it. Off by default.
	ChunkGapsKey = attribute.Key("spec_decode.response.chunk_gaps")
)

// Attributes of a run: the id is on the resource, the rest on the run's own INTERNAL span, which ends last.
const (
	// RunIDKey says which run a resource's spans, metrics and logs belong to.
	RunIDKey = attribute.Key("spec_decode.run.id")

	// RunToolVersionKey is the version of the program that sent the requests.
	RunToolVersionKey = attribute.Key("spec_decode.run.tool_version")

	// RunConfigKey is the run's configuration as a JSON object.
	RunConfigKey = attribute.Key("spec_decode.run.config")

	// RunCancelledKey is true when the run was stopped before its end.
	RunCancelledKey = attribute.Key("spec_decode.run.cancelled")

	// RunRawRecordsKey announces how many raw records (see [EventRaw]) the sender made.
	RunRawRecordsKey = attribute.Key("spec_decode.run.raw_records")

	// RunWarmupRequestsKey, RunWarmupFailedKey and RunWarmupCancelledKey count the warm-up requests that were sent,
	// that failed, and that were cancelled; cancelled ones are not among the failed ones.
	RunWarmupRequestsKey  = attribute.Key("spec_decode.run.warmup.requests")
	RunWarmupFailedKey    = attribute.Key("spec_decode.run.warmup.failed")
	RunWarmupCancelledKey = attribute.Key("spec_decode.run.warmup.cancelled")

	// RunProfilingRequestsKey, RunProfilingFailedKey and RunProfilingCancelledKey are the same for the profiling phase.
	RunProfilingRequestsKey  = attribute.Key("spec_decode.run.profiling.requests")
	RunProfilingFailedKey    = attribute.Key("spec_decode.run.profiling.failed")
	RunProfilingCancelledKey = attribute.Key("spec_decode.run.profiling.cancelled")
)

// SpanRun is the name of the run's span.
const SpanRun = "spec_decode.run"

// EventRaw is the event name of a log record that holds one request and its answer in full. Such records are sent
// only when asked for; they carry the identity attributes and timings of the request's span and its trace and span
// ids. The body is a JSON object, see the instrumentation package.
const EventRaw = "spec_decode.raw"
