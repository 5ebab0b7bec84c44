package instrumentation

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/specdecode/otel/semconv"
)

// look reads a response, or an event of one, of any of the endpoints, and reports whether it has content. index is the
// response's in a batch.
func (a *answer) look(root members, index int) (content bool) {
	if state := root.object("response"); state != nil {
		// An event of /v1/responses that has the whole response so far: its text came before.
		a.look(state, index)
		return false
	}
	a.id = cmp.Or(a.id, cleaned(root.text("id"), maxName))
	a.model = cmp.Or(a.model, cleaned(root.text("model"), maxName))
	a.lookUsage(root)
	a.vllm = a.vllm || strings.HasPrefix(root.text("system_fingerprint"), "vllm-")
	choices := root.list("choices")
	for n, c := range choices {
		a.finish(choiceIndex(c, n), c.text("finish_reason"))
		a.sglang = a.sglang || c.get("matched_stop") != nil
		content = content || hasText(c) || hasText(c.object("delta")) || hasText(c.object("message"))
	}
	a.lookEnd(root, index)
	a.stats.look(root, choices, index)
	// An error beside an unstreamed answer's choices has not kept them from coming.
	if root.has("error") && a.failure == nil && (a.streamed || len(choices) == 0) {
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

// lookUsage reads what the server says of tokens; the last word counts.
func (a *answer) lookUsage(root members) {
	for _, n := range usageNames {
		if o := root.object(n.object); o.has(n.output) || o.has(n.input) {
			a.input, a.output = o.tokens(n.input), o.tokens(n.output)
			return
		}
	}
	// llama-server's /completion has them at the root, where other servers have nothing of the kind.
	if root.has("tokens_predicted") {
		a.input, a.output = root.tokens("tokens_evaluated"), root.tokens("tokens_predicted")
	}
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
	if more := choice + 1 - len(a.finishReasons); more > 0 {
		a.finishReasons = append(a.finishReasons, make([]string, more)...)
	}
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
		reason := root.text("stop_type")
		if reason == "" {
			reason = "stop"
		}
		a.finish(index, reason)
	}
	switch status := root.text("status"); status {
	case "completed", "incomplete":
		a.finish(index, status)
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
	_, usageKnown := a.output.Get()
	switch {
	case behindGateway(header):
		return semconv.MissingGateway
	case a.sglang && !sent.has(sglangFlag):
		return semconv.MissingRequestFlag
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
