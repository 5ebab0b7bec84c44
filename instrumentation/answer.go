package instrumentation

import (
	"bytes"
	"cmp"
	"fmt"
	"time"

	"github.com/specdecode/otel/semconv"
)

// answer is what is known of a response, from the bytes that have passed.
type answer struct {
	// streamed is set for server-sent events; otherwise the body is JSON.
	streamed bool
	// unread says why the body is not looked at, or why a part of it was not, if so.
	unread string
	max    int

	events events
	body   []byte
	// usual is what an ordinary event of this stream looks like.
	usual template

	id, model string
	// finishReasons are those of the choices, "" for a choice without one yet.
	finishReasons []string
	// finished is set by a finish_reason, done by [DONE]: either makes a stream a whole one.
	finished, done bool
	// usages are what was said of the responses of a batch; of any other answer the first is all there is.
	usages  []usage
	stats   stats
	failure *Failure
	// vllm and sglang are set by members that only these engines send; stopped by a stop string that ended a choice.
	vllm, sglang, stopped bool
	// several is set when the request asks for more than one text; responses when it went to /v1/responses.
	several, responses bool
	// begun is set when an event has been looked at in full.
	begun bool

	// Arrivals after the request's start; zero when there was none: the last bytes of the body, and chunks with content.
	arrived             time.Duration
	first, second, last time.Duration
	gaps                []int64
	maxGaps             int

	// onEvent, when not nil, gets each event's data and its arrival.
	onEvent func(data []byte, at time.Duration)
}

func newAnswer(c *config) answer {
	return answer{max: c.maxBody, maxGaps: c.maxGaps, events: events{max: c.maxBody}, stats: stats{max: c.maxBody}}
}

// write takes the next bytes of the body, which arrived at the given time.
func (a *answer) write(p []byte, at time.Duration) {
	a.arrived = at
	switch {
	case a.unread != "":
	case a.streamed:
		a.events.write(p, func(data []byte) { a.event(data, at) }, func(p []byte) int { return a.ordinary(p, at) })
	case len(a.body)+len(p) > a.max:
		a.body, a.unread = nil, tooLarge("body", a.max)
	default:
		a.body = append(a.body, p...)
	}
}

func tooLarge(what string, max int) string {
	return fmt.Sprintf("%s over %d bytes not read", what, max)
}

// end is called when the body has ended properly.
func (a *answer) end(at time.Duration) {
	switch {
	case a.unread != "":
	case a.streamed:
		a.events.end(func(data []byte) { a.event(data, at) })
		switch {
		case a.events.oversized > 0:
			a.unread = tooLarge("event", a.max)
		case a.failure == nil && !a.finished && !a.done:
			a.failure = &Failure{Type: semconv.ErrorTruncated, Message: "the stream ended without finish_reason and without [DONE]"}
		}
	default:
		a.whole()
	}
	if !a.streamed && a.failure == nil {
		a.first, a.last = a.arrived, a.arrived
	}
}

// complete reports whether the answer is a whole one although its body was not read to the end.
func (a *answer) complete() bool {
	if a.streamed {
		return a.done
	}
	_, ok := decodeMembers(a.body)
	return ok || len(decodeList(a.body)) > 0
}

// whole reads an unstreamed body: an object, or one for each prompt of a batch.
func (a *answer) whole() {
	roots := decodeList(a.body)
	if root, ok := decodeMembers(a.body); ok {
		roots = []members{root}
	}
	if len(roots) == 0 {
		a.failure = &Failure{Type: semconv.ErrorNotJSON, Message: "the body is no JSON object"}
		return
	}
	for i, root := range roots[:min(len(roots), maxChoices)] {
		a.look(root, i)
	}
	if len(roots) > maxChoices {
		a.stats.leave(tooMany)
	}
}

var doneMark = []byte("[DONE]")

// ordinary reads the event that p begins with if it looks as usual, and returns how many bytes it takes; otherwise 0.
func (a *answer) ordinary(p []byte, at time.Duration) int {
	data, n := a.usual.cut(p)
	if n == 0 || len(data) > a.max {
		return 0
	}
	if a.onEvent != nil {
		a.onEvent(data, at)
	}
	a.chunk(at)
	return n
}

// event reads one event of a stream. Most events have a piece of text and nothing else of interest: those are not
// decoded.
func (a *answer) event(data []byte, at time.Duration) {
	if a.onEvent != nil {
		a.onEvent(data, at)
	}
	if bytes.Equal(bytes.TrimSpace(data), doneMark) {
		a.done = true
		return
	}
	// The first event has the answer's id and model.
	if a.begun && !isInteresting(data) {
		// Of an event that is cut off nothing counts.
		if text := content(data); text != nil && bytes.HasSuffix(bytes.TrimSpace(data), []byte("}")) {
			a.usual.learn(data, text)
			a.chunk(at)
		}
		return
	}
	root, ok := decodeMembers(data)
	if !ok {
		// A part of an event, or none of ours: there is nothing to read in it.
		return
	}
	a.begun = true
	if a.look(root, place(root)) {
		a.chunk(at)
	}
}

// chunk notes the arrival of a chunk with content.
func (a *answer) chunk(at time.Duration) {
	switch {
	case a.first == 0:
		a.first = at
	case a.second == 0:
		a.second = at
	}
	if a.last != 0 && len(a.gaps) < a.maxGaps {
		a.gaps = append(a.gaps, int64(at-a.last))
	}
	a.last = at
}

// isError tells a response, or an event of one, that reports an error: by a member, or in /v1/responses by its type.
func isError(root members) bool {
	switch e := root.get("error"); string(e) {
	case "", "null", "false", `""`, "{}":
		return root.text("type") == "error"
	}
	return true
}

// errorEvent is the failure that a server reports under a good status.
func errorEvent(root members) *Failure {
	e := root.object("error")
	if e == nil && root.text("type") == "error" {
		e = root
	}
	code, _ := e.tokens("code").Get()
	return &Failure{
		Type:    semconv.ErrorEvent,
		Code:    int(min(code, maxCode)),
		Message: cmp.Or(e.text("message"), root.text("error"), string(root.get("error"))),
	}
}

// maxCode bounds the code of an error event.
const maxCode = 999_999

// maxName bounds names from the network, in bytes.
const maxName = 256
