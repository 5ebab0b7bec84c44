package instrumentation

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// look reads a response, or an event of one, of any of the endpoints, and reports whether it has content. index is the
// response's in a batch.
func (a *answer) look(root members, index int) (content bool) {
	if state := root.object("response"); state != nil {
		// An event of /v1/responses that has the whole response so far: its text came before.
		a.lookInto(state, index)
		return false
	}
	return a.lookInto(root, index)
}

// place is the index that an event of a stream belongs to: a batch's prompt, or the choice that it is of.
func place(event members) int {
	if event.has("index") {
		return choiceIndex(event, 0)
	}
	if choices := event.list("choices"); len(choices) == 1 {
		return choiceIndex(choices[0], 0)
	}
	return 0
}

func (a *answer) lookInto(root members, index int) (content bool) {
	a.id = cmp.Or(a.id, cleaned(root.text("id"), maxName))
	a.model = cmp.Or(a.model, cleaned(root.text("model"), maxName))
	a.lookUsage(root, index)
	a.vllm = a.vllm || strings.HasPrefix(root.text("system_fingerprint"), "vllm-")
	choices := root.list("choices")
	for n, c := range choices {
		a.finish(choiceIndex(c, n), c.text("finish_reason"))
		a.sglang = a.sglang || c.get("matched_stop") != nil
		// vLLM: the stop string; of a stop token it is the number.
		a.stopped = a.stopped || c.text("stop_reason") != ""
		content = content || hasText(c) || hasText(c.object("delta")) || hasText(c.object("message"))
	}
	a.lookEnd(root, index)
	a.stats.look(root, choices, index)
	// An error beside an unstreamed answer's choices has not kept them from coming.
	if isError(root) && a.failure == nil && (a.streamed || len(choices) == 0) {
		a.failure = errorEvent(root)
	}
	if strings.HasPrefix(root.text("type"), "response.") {
		return root.text("delta") != ""
	}
	return content || hasText(root)
}

// usageNames are the names of the usage's counts: where they are, then the input's and the output's.
var usageNames = []struct{ object, input, output string }{
	{"usage", "prompt_tokens", "completion_tokens"},
	{"usage", "input_tokens", "output_tokens"},          // /v1/responses
	{"meta_info", "prompt_tokens", "completion_tokens"}, // /generate
}

// usage is what the server says of a response's tokens.
type usage struct{ input, output acceptance.Int }

// lookUsage reads what the server says of tokens; the last word counts. The usage is the whole request's, wherever it
// stands; the native endpoints count each response of a batch.
func (a *answer) lookUsage(root members, index int) {
	for _, n := range usageNames {
		if o := root.object(n.object); o.has(n.output) || o.has(n.input) {
			if n.object == "usage" {
				index = 0
			}
			a.use(index, usage{o.tokens(n.input), o.tokens(n.output)})
			return
		}
	}
	// llama-server's /completion has them at the root, where other servers have nothing of the kind.
	if root.has("tokens_predicted") {
		a.use(index, usage{root.tokens("tokens_evaluated"), root.tokens("tokens_predicted")})
	}
}

// use keeps the usage of a response.
func (a *answer) use(index int, u usage) {
	if index >= maxChoices {
		return
	}
	a.usages = resize(a.usages, index+1)
	a.usages[index] = u
}

// resize makes a list longer if it is shorter.
func resize[T any](list []T, length int) []T {
	return append(list, make([]T, max(0, length-len(list)))...)
}

// usage adds up what was said of the responses; what one leaves out is not known of all.
func (a *answer) usage() (sum usage) {
	for _, u := range a.usages {
		switch {
		case u == usage{}:
		case sum == usage{}:
			sum = u
		default:
			sum = usage{sum.input.Plus(u.input), sum.output.Plus(u.output)}
		}
	}
	return sum
}

// finish takes in the reason of a choice's end; "" is none. A choice has one, the last that was sent.
func (a *answer) finish(choice int, reason string) {
	if reason == "" {
		return
	}
	a.finished = true
	if choice >= maxChoices {
		return
	}
	a.finishReasons = resize(a.finishReasons, choice+1)
	a.finishReasons[choice] = cleaned(reason, maxName)
}

// lookEnd finds the end of an answer where it is not on a choice; index is the response's in a batch.
func (a *answer) lookEnd(root members, index int) {
	if meta := root.object("meta_info"); meta != nil {
		// SGLang: {"type": "stop", ...}, in older builds a string.
		a.finish(index, meta.text("finish_reason"))
		a.finish(index, meta.object("finish_reason").text("type"))
	}
	if string(root.get("stop")) == "true" {
		// Nothing comes after it, unless other prompts are answered in the same stream.
		a.done = a.done || !a.several
		reason := root.text("stop_type")
		if reason == "" {
			reason = "stop"
		}
		a.finish(index, reason)
	}
	switch status := root.text("status"); status {
	case "completed", "incomplete":
		a.finish(index, status)
		a.done = true
	}
}

// textKeys are the members of a response, a choice, a delta or a message that hold text of the answer.
var textKeys = []string{"content", "reasoning", "reasoning_content", "text"}

// hasText reports whether there is text, reasoning text or a tool call.
func hasText(m members) bool {
	for _, key := range textKeys {
		if text := m.get(key); len(text) > len(`""`) && text[0] == '"' {
			return true
		}
	}
	calls := m.get("tool_calls")
	return len(calls) > 0 && !isNull(calls) && string(calls) != "[]"
}

// missing says why an answer has no stats, as far as it gives that away; sent is the request's body.
func (a *answer) missing(sent members, header http.Header) string {
	_, usageKnown := a.usage().output.Get()
	switch {
	case behindGateway(header):
		return semconv.MissingGateway
	case a.sglang && string(sent.get(sglangFlag)) != "true":
		return semconv.MissingRequestFlag
	case a.vllm && (a.several || a.stopped || a.responses):
		return semconv.MissingKind
	case a.streamed && !usageKnown:
		return semconv.MissingUsage
	case a.vllm:
		return semconv.MissingServerFlag
	}
	return ""
}

// behindGateway recognises LiteLLM by the headers that it adds.
func behindGateway(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "X-Litellm-") {
			return true
		}
	}
	return false
}
