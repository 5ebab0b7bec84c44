package semconv

// Metrics. Histograms are base-2 exponential unless the user's environment says otherwise. Attributes are the engine,
// the model and the phase of the run; ids never are.
const (
	// MetricAcceptanceLength is a histogram of the acceptance length per request, in [UnitToken] per step.
	MetricAcceptanceLength = "spec_decode.acceptance.length"
	// MetricAcceptanceRate is a histogram of the draft acceptance rate per request, 0..1.
	MetricAcceptanceRate = "spec_decode.acceptance.rate"
	// MetricAcceptedPerVerified is a histogram of (A+S)/(D+S) per request, 0..1.
	MetricAcceptedPerVerified = "spec_decode.accepted_per_verified"
	// MetricRequestSteps is a histogram of S per request.
	MetricRequestSteps = "spec_decode.request.steps"
	// MetricRequestDraftTokens is a histogram of D per request.
	MetricRequestDraftTokens = "spec_decode.request.draft_tokens"
	// MetricRequestAcceptedDraftTokens is a histogram of A per request.
	MetricRequestAcceptedDraftTokens = "spec_decode.request.accepted_draft_tokens"
	// MetricSteps counts verify steps by [StepAcceptedCountKey]: its sums by j are the pooled acceptance histogram.
	MetricSteps = "spec_decode.steps"
	// MetricDraftTokens counts draft tokens by [DraftTokenOutcomeKey].
	MetricDraftTokens = "spec_decode.draft_tokens"
	// MetricRequests counts requests by [OutcomeKey].
	MetricRequests = "spec_decode.requests"
)

// Units of the metrics, in UCUM.
const (
	UnitToken   = "{token}"
	UnitStep    = "{step}"
	UnitRequest = "{request}"
	UnitRatio   = "1"
)
