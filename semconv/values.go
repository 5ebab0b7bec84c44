package semconv

// Engines, values of [EngineKey].
const (
	EngineVLLM        = "vllm"
	EngineSGLang      = "sglang"
	EngineTensorRTLLM = "tensorrt_llm"
	EngineLlamaCPP    = "llama_cpp"
	EngineMLXVLM      = "mlx_vlm"
)

// Phases, values of [RunPhaseKey].
const (
	PhaseWarmup    = "warmup"
	PhaseProfiling = "profiling"
)

// Outcomes, values of [OutcomeKey]. They exclude each other: a failed request is an error whatever stats it had.
const (
	// OutcomeVerified: the engine reported stats and they hold together.
	OutcomeVerified = "verified"
	// OutcomeZeroStep: the engine reported stats and ran no verify step.
	OutcomeZeroStep = "zero_step"
	// OutcomeNoStats: the answer was good and carried no stats.
	OutcomeNoStats = "no_stats"
	// OutcomeCorruptStats: the answer was good and its stats contradict themselves.
	OutcomeCorruptStats = "corrupt_stats"
	// OutcomeError: the request failed or was cancelled.
	OutcomeError = "error"
)

// Outcomes of a draft token, values of [DraftTokenOutcomeKey].
const (
	DraftTokenAccepted = "accepted"
	DraftTokenRejected = "rejected"
)

// Values of error.type that HTTP status codes and other conventions do not give.
const (
	// ErrorCancelled: the caller cancelled the request or closed the body before its end.
	ErrorCancelled = "cancelled"
	// ErrorTimeout: the request's deadline passed.
	ErrorTimeout = "timeout"
	// ErrorConnection: no connection, or it broke.
	ErrorConnection = "connection_error"
	// ErrorTruncated: a stream ended without finish_reason and without [DONE].
	ErrorTruncated = "truncated_stream"
	// ErrorEvent: the server sent an error inside a stream or body under a good status.
	ErrorEvent = "error_event"
	// ErrorNotJSON: a body under a good status is not the JSON that it should be.
	ErrorNotJSON = "invalid_body"
)

// Reasons for an answer without stats, values of [MissingKey].
const (
	// MissingUsage: a stream without usage; vLLM sends stats on the chunk that has it.
	MissingUsage = "usage"
	// MissingRequestFlag: SGLang answered, and sends stats to requests that ask for them.
	MissingRequestFlag = "request_flag"
	// MissingServerFlag: vLLM answered, and sends stats when it was started so.
	MissingServerFlag = "server_flag"
	// MissingKind: vLLM answered, and has stats for no request of this kind: several choices or prompts, an answer that
	// ended on a stop string, or /v1/responses.
	MissingKind = "request_kind"
	// MissingGateway: a gateway is in between, of a kind that leaves out members which it does not know.
	MissingGateway = "gateway"
)
