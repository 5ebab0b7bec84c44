package simulator

import "encoding/json"

// The members of vLLM's answers, in its order, null ones included. A nil pointer to an embedded struct leaves its
// members out; members of type null are there and always null.

type null struct{}

func (null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

type vllmEnvelope struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
}

type vllmUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	TotalTokens      int `json:"total_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// vllmBody is an answer that is not streamed.
type vllmBody struct {
	vllmEnvelope
	Choices           []any         `json:"choices"`
	ServiceTier       null          `json:"service_tier"`
	SystemFingerprint string        `json:"system_fingerprint"`
	Usage             vllmFullUsage `json:"usage"`
	*vllmPrompt                     // In chat only.
	KVTransferParams  null          `json:"kv_transfer_params"`
	ECTransferParams  null          `json:"ec_transfer_params"`
	Metrics           *vllmMetrics  `json:"metrics"`
}

type vllmFullUsage struct {
	vllmUsage
	PromptTokensDetails     null `json:"prompt_tokens_details"`
	CompletionTokensDetails null `json:"completion_tokens_details"`
}

type vllmPrompt struct {
	PromptLogprobs null `json:"prompt_logprobs"`
	PromptTokenIDs null `json:"prompt_token_ids"`
	PromptText     null `json:"prompt_text"`
}

type vllmMetrics struct {
	TimeToFirstTokenMs  null           `json:"time_to_first_token_ms"`
	GenerationTimeMs    null           `json:"generation_time_ms"`
	QueueTimeMs         null           `json:"queue_time_ms"`
	MeanITLMs           null           `json:"mean_itl_ms"`
	TokensPerSecond     null           `json:"tokens_per_second"`
	SpeculativeDecoding vllmFullRecord `json:"speculative_decoding"`
}

// vllmFullRecord has the per-step members in any case, vllmShortRecord only when there are some.
type vllmFullRecord struct {
	*vllmRecord
	PerStepAccepted []int `json:"per_step_accepted"`
	PerStepDrafted  []int `json:"per_step_drafted"`
}

type vllmShortRecord struct {
	*vllmRecord
	PerStepAccepted []int `json:"per_step_accepted,omitempty"`
	PerStepDrafted  []int `json:"per_step_drafted,omitempty"`
}

type vllmChatChoice struct {
	Index    int         `json:"index"`
	Message  vllmMessage `json:"message"`
	Logprobs null        `json:"logprobs"`
	vllmEnd
	RoutedExperts null `json:"routed_experts"`
}

type vllmMessage struct {
	Role         string     `json:"role"`
	Content      *string    `json:"content"`
	Refusal      null       `json:"refusal"`
	Annotations  null       `json:"annotations"`
	Audio        null       `json:"audio"`
	FunctionCall null       `json:"function_call"`
	ToolCalls    []toolCall `json:"tool_calls,omitempty"`
	Reasoning    null       `json:"reasoning"`
}

type vllmTextChoice struct {
	Index    int    `json:"index"`
	Text     string `json:"text"`
	Logprobs null   `json:"logprobs"`
	vllmEnd
	PromptLogprobs null `json:"prompt_logprobs"`
	PromptTokenIDs null `json:"prompt_token_ids"`
	RoutedExperts  null `json:"routed_experts"`
}

type vllmEnd struct {
	FinishReason string `json:"finish_reason"`
	StopReason   null   `json:"stop_reason"`
	TokenIDs     null   `json:"token_ids"`
}

// vllmChunk is one event of a stream.
type vllmChunk struct {
	vllmEnvelope
	Choices            []any             `json:"choices"`
	Usage              *vllmUsage        `json:"usage,omitempty"`
	SystemFingerprint  string            `json:"system_fingerprint,omitempty"`
	Metrics            *vllmChunkMetrics `json:"metrics,omitempty"`
	*vllmPromptOfChunk                   // In a chunk with the role only.
}

type vllmPromptOfChunk struct {
	PromptTokenIDs null `json:"prompt_token_ids"`
	PromptText     null `json:"prompt_text"`
}

type vllmChunkMetrics struct {
	SpeculativeDecoding vllmShortRecord `json:"speculative_decoding"`
}

type vllmRoleChoice struct {
	Index        int             `json:"index"`
	Delta        json.RawMessage `json:"delta"`
	Logprobs     null            `json:"logprobs"`
	FinishReason null            `json:"finish_reason"`
}

type vllmDelta struct {
	Index    int   `json:"index"`
	Delta    delta `json:"delta"`
	Logprobs null  `json:"logprobs"`
	vllmChunkEnd
	*vllmStop      // In a choice's last chunk only.
	TokenIDs  null `json:"token_ids"`
}

type delta struct {
	Content   string     `json:"content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type vllmChunkEnd struct {
	FinishReason *string `json:"finish_reason"`
}

type vllmStop struct {
	StopReason null `json:"stop_reason"`
}

type vllmTextDelta struct {
	Index          int     `json:"index"`
	Text           string  `json:"text"`
	Logprobs       null    `json:"logprobs"`
	FinishReason   *string `json:"finish_reason"`
	StopReason     null    `json:"stop_reason"`
	PromptTokenIDs null    `json:"prompt_token_ids"`
	TokenIDs       null    `json:"token_ids"`
}
