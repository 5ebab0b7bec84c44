package simulator

import (
	"time"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// shapes are the forms that the engine can speak, by the names that Config.Engine takes.
var shapes = map[string]shape{
	semconv.EngineVLLM: vllm,
	EngineVLLMFirst: plain(func(_ *request, t *totals) extras {
		return extras{choice: object{"speculative_decoding_stats": t.vllmFirst()}}
	}),
	semconv.EngineSGLang:      plain(sglang),
	semconv.EngineTensorRTLLM: plain(func(_ *request, t *totals) extras { return extras{choice: t.tensorRTLLM()} }),
	semconv.EngineLlamaCPP:    plain(func(_ *request, t *totals) extras { return extras{root: object{"timings": t.timings()}} }),
	semconv.EngineMLXVLM:      plain(mlxVLM),
}

// EngineVLLMFirst is the form of vLLM's first builds with per-request stats.
const EngineVLLMFirst = "vllm_first"

// Engines lists what Config.Engine can be.
func Engines() []string {
	return []string{semconv.EngineVLLM, EngineVLLMFirst, semconv.EngineSGLang, semconv.EngineTensorRTLLM, semconv.EngineLlamaCPP, semconv.EngineMLXVLM}
}

type object = map[string]any

// extras are the members that carry a choice's stats: at the response's root, or on the choice.
type extras struct{ root, choice object }

// totals are a choice's counts, over the steps that drafted.
type totals struct {
	drafted, accepted, steps int64
	histogram                []int64
	maxDraft, tokens         int
}

func count(c choice, maxDraft int) *totals {
	t := &totals{histogram: make([]int64, maxDraft+1), maxDraft: maxDraft, tokens: c.tokens}
	for _, s := range c.steps {
		if s.drafted > 0 {
			t.histogram[s.accepted]++
			t.steps++
			t.accepted += int64(s.accepted)
			t.drafted += int64(s.drafted)
		}
	}
	return t
}

func (t *totals) rate() float64 {
	rate, _ := acceptance.Ratio(t.accepted, t.drafted)
	return rate
}

func (t *totals) vllmFirst() object {
	perStep, _ := acceptance.Ratio(t.accepted, t.steps)
	return object{"mean_acceptance_length": 1 + perStep, "draft_acceptance_rate": t.rate(), "acceptance_histogram": acceptance.Histogram(t.histogram),
		"num_spec_steps": t.steps, "num_accepted_draft_tokens": t.accepted, "num_draft_tokens": t.drafted, "num_spec_tokens": t.maxDraft}
}

// tensorRTLLM leaves the member out when nothing was drafted.
func (t *totals) tensorRTLLM() object {
	if t.drafted == 0 {
		return nil
	}
	return object{"speculative_decoding": object{"acceptance_rate": t.rate(), "total_accepted_draft_tokens": t.accepted, "total_draft_tokens": t.drafted,
		"acceptance_histogram": t.histogram, "num_spec_steps": t.steps, "num_spec_tokens": t.maxDraft},
		"avg_decoded_tokens_per_iter": float64(t.tokens) / float64(max(t.steps, 1))}
}

// timings has drafts only when there were some.
func (t *totals) timings() object {
	o := object{"predicted_n": t.tokens}
	if t.drafted > 0 {
		o["draft_n"], o["draft_n_accepted"] = t.drafted, t.accepted
	}
	return o
}

// sglang reports to requests that ask. Its histogram grows on demand.
func sglang(r *request, t *totals) extras {
	e := extras{choice: object{"matched_stop": nil}}
	if r.SpecTokensDetails {
		length, _ := acceptance.Ratio(int64(t.tokens), t.steps)
		e.root = object{"sglext": object{"spec_tokens_details": object{"spec_accept_rate": t.rate(), "spec_accept_length": length, "spec_verify_ct": t.steps,
			"spec_num_correct_drafts": t.accepted, "spec_num_proposed_drafts": t.drafted, "spec_correct_drafts_histogram": []int64(acceptance.Histogram(t.histogram).Trim())}}}
	}
	return e
}

func mlxVLM(_ *request, t *totals) extras {
	o := t.timings()
	o["draft_kind"], o["draft_rounds"] = "draft_model", t.steps
	return extras{root: object{"timings": o}}
}

// plain gives an answer the form that the OpenAI API has everywhere, with an engine's members for the stats. Root
// members come from the first choice; a stream has them on a chunk without choices, ahead of the usage.
func plain(stats func(*request, *totals) extras) shape {
	return func(c *Config, r *request, a *answer) reply {
		head := func(kind string) object {
			o := object{"id": r.id, "object": "text_completion", "created": time.Now().Unix(), "model": r.Model}
			if r.chat {
				o["object"] = kind
			}
			return o
		}
		usage := object{"prompt_tokens": a.promptTokens, "completion_tokens": 0, "total_tokens": a.promptTokens}
		var all []extras
		for _, ch := range a.choices {
			usage["completion_tokens"] = usage["completion_tokens"].(int) + ch.tokens
			usage["total_tokens"] = usage["total_tokens"].(int) + ch.tokens
			all = append(all, stats(r, count(ch, c.MaxDraft)))
		}
		if r.Stream {
			return reply{events: plainEvents(head, r, a, usage, all)}
		}
		body := with(head("chat.completion"), all[0].root)
		body["usage"] = usage
		var choices []object
		steps := 0
		for i, ch := range a.choices {
			o := object{"index": i, "finish_reason": ch.finish}
			switch {
			case r.callsTool():
				o["message"] = object{"role": "assistant", "content": nil, "tool_calls": r.call(ch.text())}
			case r.chat:
				o["message"] = object{"role": "assistant", "content": ch.text()}
			default:
				o["text"] = ch.text()
			}
			choices = append(choices, with(o, all[i].choice))
			steps = max(steps, len(ch.steps))
		}
		body["choices"] = choices
		return reply{body: body, steps: steps}
	}
}

func plainEvents(head func(string) object, r *request, a *answer, usage object, all []extras) []event {
	var events []event
	chunk := func(choices []object, more object, step bool) {
		o := with(head("chat.completion.chunk"), more)
		o["choices"] = choices
		events = append(events, event{data: o, step: step})
	}
	for i, ch := range a.choices {
		for j, s := range ch.steps {
			o := object{"index": i, "finish_reason": nil}
			if r.chat {
				o["delta"] = r.delta(s.text, j == 0, j == len(ch.steps)-1)
			} else {
				o["text"] = s.text
			}
			if j == len(ch.steps)-1 {
				o["finish_reason"] = ch.finish
				o = with(o, all[i].choice)
			}
			chunk([]object{o}, nil, true)
		}
	}
	if all[0].root != nil {
		chunk([]object{}, all[0].root, false)
	}
	if r.StreamOptions != nil && r.StreamOptions.IncludeUsage {
		chunk([]object{}, object{"usage": usage}, false)
	}
	return events
}

// with adds members to an object.
func with(o, more object) object {
	for k, v := range more {
		o[k] = v
	}
	return o
}
