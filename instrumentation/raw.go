package instrumentation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/specdecode/otel/semconv"
)

// processStart is the zero of the monotonic clock that raw records give times of.
var processStart = time.Now()

// secret are parts of the names of headers that are left out of raw records. Gateways have many names for keys.
var secret = []string{"auth", "cookie", "key", "token", "secret", "password", "credential", "signature"}

func isSecret(header string) bool {
	header = strings.ToLower(header)
	return slices.ContainsFunc(secret, func(part string) bool { return strings.Contains(header, part) })
}

const redacted = "<redacted>"

// rawRecord is one request and its answer in full, in the making.
type rawRecord struct {
	max int
	// size is the number of bytes that came so far, with what an event takes beside its text; over is set when they are
	// more than max.
	size int
	over bool
	// missing says which part of the bodies was not looked at, if one was not.
	missing string

	body rawBody
	// responseText is an unstreamed body, and when its last byte arrived.
	responseText []byte
	textAt       time.Duration
}

// rawBody is the JSON object in the log record's body. Times are nanoseconds of a monotonic clock.
type rawBody struct {
	StartPerf int64             `json:"start_perf_ns"`
	Headers   map[string]string `json:"request_headers"`
	Payload   json.RawMessage   `json:"payload,omitempty"`
	Status    int               `json:"status,omitempty"`
	Responses []rawResponse     `json:"responses,omitempty"`
	Error     *rawError         `json:"error,omitempty"`
	Dropped   string            `json:"dropped,omitempty"`
}

type rawResponse struct {
	Perf    int64       `json:"perf_ns"`
	Packets []rawPacket `json:"packets,omitempty"`
	Text    string      `json:"text,omitempty"`
}

type rawPacket struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type rawError struct {
	Code    int    `json:"code,omitempty"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

func newRawRecord(max int, header http.Header, q *request) *rawRecord {
	r := &rawRecord{max: max, missing: q.unread, body: rawBody{Headers: map[string]string{}}}
	for name, values := range header {
		if isSecret(name) {
			values = []string{redacted}
		}
		r.body.Headers[name] = strings.Join(values, ", ")
	}
	if r.keep(len(q.body)) && json.Valid(q.body) {
		r.body.Payload = q.body
	}
	return r
}

// eventRoom is what an event takes in JSON beside its text, at the least.
const eventRoom = len(`{"perf_ns":0,"packets":[{"name":"data","value":""}]}`)

// keep makes room for n bytes; what was kept is let go when there is none.
func (r *rawRecord) keep(n int) bool {
	r.size += n
	if r.size > r.max && !r.over {
		r.over = true
		r.body.Payload, r.body.Responses, r.responseText = nil, nil, nil
	}
	return !r.over
}

// event keeps an event of a stream. Until the end its time is after the request's start.
func (r *rawRecord) event(data []byte, at time.Duration) {
	if r.keep(eventRoom + len(data)) {
		r.body.Responses = append(r.body.Responses, rawResponse{Perf: int64(at), Packets: []rawPacket{{"data", string(data)}}})
	}
}

// text keeps a part of an unstreamed body.
func (r *rawRecord) text(p []byte, at time.Duration) {
	if r.keep(len(p)) {
		r.responseText = append(r.responseText, p...)
		r.textAt = at
	}
}

// emit makes the log record. It returns why the bodies were left out, or "".
func (r *rawRecord) emit(x *exchange, result *Result) string {
	start := x.started.Sub(processStart)
	r.body.StartPerf = int64(start)
	r.body.Status = x.status
	if r.responseText != nil {
		r.body.Responses = []rawResponse{{Perf: int64(r.textAt), Text: string(r.responseText)}}
	}
	for i := range r.body.Responses {
		r.body.Responses[i].Perf += int64(start)
	}
	if f := result.Failure; f != nil {
		r.body.Error = &rawError{f.Code, f.Type, f.Message}
	}
	if x.answer.events.oversized > 0 {
		r.missing = tooLarge("event", x.t.config.maxBody)
	}
	body := r.json()

	attrs := append([]attribute.KeyValue{semconv.OutcomeKey.String(result.Outcome)}, x.call.Attributes...)
	if x.call.Phase != "" {
		attrs = append(attrs, semconv.RunPhaseKey.String(x.call.Phase))
	}
	if x.status != 0 {
		attrs = append(attrs, conv.HTTPResponseStatusCode(x.status))
	}
	attrs = x.timings(attrs)
	if result.Failure != nil {
		attrs = append(attrs, conv.ErrorTypeKey.String(result.Failure.Type))
	}
	var record log.Record
	record.SetEventName(semconv.EventRaw)
	record.SetSeverity(log.SeverityInfo)
	record.SetTimestamp(x.started)
	record.SetObservedTimestamp(x.started.Add(result.End))
	record.SetBody(attribute.StringValue(string(body)))
	record.AddAttributes(attrs...)
	x.t.logger.Emit(x.ctx, record)
	return r.body.Dropped
}

// json is the log record's body. The bodies in it are whole or left out.
func (r *rawRecord) json() []byte {
	if r.missing == "" && !r.over {
		body, err := json.Marshal(r.body)
		if err == nil && len(body) <= r.max {
			return body
		}
		r.size = max(r.size, len(body))
	}
	r.body.Dropped = cmp.Or(r.missing, fmt.Sprintf("bodies of %d bytes, over %d", r.size, r.max))
	r.body.Payload, r.body.Responses = nil, nil
	body, _ := json.Marshal(r.body)
	return body
}
