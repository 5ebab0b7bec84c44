package simulator

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/specdecode/otel/semconv/acceptance"
)

// fingerprint stands where vLLM names its version.
const fingerprint = "vllm-0.32.0-simulated"

// vllm gives an answer the form of vLLM 0.32: the record is at the root, under metrics.speculative_decoding; in a
// stream, on the last chunk, which is there when the request asks for usage. Several choices have no record.
func vllm(c *Config, r *request, a *answer) reply {
	envelope := vllmEnvelope{ID: r.id, Object: "text_completion", Created: time.Now().Unix(), Model: r.Model}
	if r.chat {
		envelope.Object = "chat.completion"
	}
	usage := vllmUsage{PromptTokens: a.promptTokens, TotalTokens: a.promptTokens}
	for _, c := range a.choices {
		usage.CompletionTokens += c.tokens
		usage.TotalTokens += c.tokens
	}
	var record *vllmRecord
	if len(a.choices) == 1 {
		record = newVLLMRecord(a.choices[0].steps, c)
	}
	if r.Stream {
		if r.chat {
			envelope.Object = "chat.completion.chunk"
		}
		return reply{events: vllmEvents(envelope, r, a, usage, record)}
	}
	body := vllmBody{vllmEnvelope: envelope, Choices: []any{}, SystemFingerprint: fingerprint, Usage: vllmFullUsage{vllmUsage: usage}}
	if r.chat {
		body.vllmPrompt = &vllmPrompt{}
	}
	if record != nil {
		body.Metrics = &vllmMetrics{SpeculativeDecoding: vllmFullRecord{record, record.accepted, record.drafted}}
	}
	steps := 0
	for i, c := range a.choices {
		end := vllmEnd{FinishReason: c.finish}
		if r.chat {
			message := vllmMessage{Role: "assistant"}
			if text := c.text(); r.callsTool() {
				message.ToolCalls = r.call(text)
			} else {
				message.Content = &text
			}
			body.Choices = append(body.Choices, vllmChatChoice{Index: i, Message: message, vllmEnd: end})
		} else {
			body.Choices = append(body.Choices, vllmTextChoice{Index: i, Text: c.text(), vllmEnd: end})
		}
		steps = max(steps, len(c.steps)) // Choices are worked on side by side.
	}
	return reply{body: body, steps: steps}
}

// vllmEvents has the events of a stream: in chat one with the role, then one for each step, of which the last one has
// the reason of the end, and one with usage and record.
func vllmEvents(envelope vllmEnvelope, r *request, a *answer, usage vllmUsage, record *vllmRecord) []event {
	var events []event
	withUsage := r.StreamOptions != nil && r.StreamOptions.IncludeUsage
	if r.chat {
		for i := range a.choices {
			chunk := vllmChunk{vllmEnvelope: envelope, vllmPromptOfChunk: &vllmPromptOfChunk{}}
			chunk.Choices = []any{vllmRoleChoice{Index: i, Delta: json.RawMessage(`{"role":"assistant","content":""}`)}}
			events = append(events, event{data: chunk})
		}
	}
	for i, c := range a.choices {
		for j, s := range c.steps {
			chunk := vllmChunk{vllmEnvelope: envelope}
			var end vllmChunkEnd
			last := j == len(c.steps)-1
			if last {
				end.FinishReason = &c.finish
				if !withUsage && i == len(a.choices)-1 {
					chunk.SystemFingerprint = fingerprint
				}
			}
			switch {
			case !r.chat:
				chunk.Choices = []any{vllmTextDelta{Index: i, Text: s.text, FinishReason: end.FinishReason}}
			case last:
				chunk.Choices = []any{vllmDelta{Index: i, Delta: r.delta(s.text, j == 0, last), vllmChunkEnd: end, vllmStop: &vllmStop{}}}
			default:
				chunk.Choices = []any{vllmDelta{Index: i, Delta: r.delta(s.text, j == 0, last)}}
			}
			events = append(events, event{data: chunk, step: true})
		}
	}
	if withUsage {
		chunk := vllmChunk{vllmEnvelope: envelope, Choices: []any{}, Usage: &usage, SystemFingerprint: fingerprint}
		if record != nil {
			chunk.Metrics = &vllmChunkMetrics{vllmShortRecord{record, record.accepted, record.drafted}}
		}
		events = append(events, event{data: chunk})
	}
	return events
}

// vllmRecord is what stands under speculative_decoding.
type vllmRecord struct {
	MeanAcceptanceLength   double  `json:"mean_acceptance_length"`
	DraftAcceptanceRate    double  `json:"draft_acceptance_rate"`
	AcceptanceHistogram    []int64 `json:"acceptance_histogram"`
	NumSpecSteps           int64   `json:"num_spec_steps"`
	NumAcceptedDraftTokens int64   `json:"num_accepted_draft_tokens"`
	NumDraftTokens         int64   `json:"num_draft_tokens"`
	NumSpecTokens          int     `json:"num_spec_tokens"`

	// accepted and drafted are per step; nil without steps and when the engine is not detailed.
	accepted, drafted []int
}

// newVLLMRecord counts the steps that had a draft; vLLM counts no others.
func newVLLMRecord(steps []step, c *Config) *vllmRecord {
	r := &vllmRecord{AcceptanceHistogram: make([]int64, c.MaxDraft+1), NumSpecTokens: c.MaxDraft}
	for _, s := range steps {
		if s.drafted == 0 {
			continue
		}
		r.AcceptanceHistogram[s.accepted]++
		r.NumSpecSteps++
		r.NumAcceptedDraftTokens += int64(s.accepted)
		r.NumDraftTokens += int64(s.drafted)
		if c.Detailed {
			r.accepted = append(r.accepted, s.accepted)
			r.drafted = append(r.drafted, s.drafted)
		}
	}
	perStep, _ := acceptance.Ratio(r.NumAcceptedDraftTokens, r.NumSpecSteps)
	rate, _ := acceptance.Ratio(r.NumAcceptedDraftTokens, r.NumDraftTokens)
	r.MeanAcceptanceLength, r.DraftAcceptanceRate = double(1+perStep), double(rate)
	return r
}

// double is a number that keeps its point, as Python writes it.
type double float64

func (d double) MarshalJSON() ([]byte, error) {
	s := strconv.FormatFloat(float64(d), 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return []byte(s), nil
}
