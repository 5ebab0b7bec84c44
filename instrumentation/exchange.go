package instrumentation

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	conv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/specdecode/otel/semconv"
)

// exchange is one request and its answer, from the start of the span to its end.
type exchange struct {
	t       *Transport
	call    *Call
	request *request
	ctx     context.Context
	span    trace.Span
	started time.Time

	// closing is set when the caller has begun to close the body.
	closing atomic.Bool
	// mu is held while bytes are looked at: a body may be closed while it is read.
	mu       sync.Mutex
	ended    bool
	status   int
	received time.Duration
	header   http.Header
	answer   answer
	// errorBody is the start of a failed answer's body.
	errorBody []byte
	raw       *rawRecord
}

func (x *exchange) elapsed() time.Duration { return time.Since(x.started) }

// headers notes what the request is sent with, for a raw record.
func (x *exchange) headers(r *http.Request) {
	if x.t.logger != nil {
		x.raw = newRawRecord(x.t.config.maxRaw, r.Header, x.request)
	}
}

// respond takes the response's headers and puts a reader that watches in the place of its body.
func (x *exchange) respond(resp *http.Response) {
	x.received = x.elapsed()
	x.status, x.header = resp.StatusCode, resp.Header
	x.answer = newAnswer(x.t.config)
	x.answer.several, x.answer.responses = x.request.several, x.request.endpoint == responses
	mediaType, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	x.answer.streamed = strings.EqualFold(strings.TrimSpace(mediaType), "text/event-stream")
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		// The caller asked for it and decodes it; net/http decodes what it asked for itself.
		x.answer.unread = "body in encoding " + cleaned(encoding, maxName) + " not read"
	}
	if x.raw != nil {
		x.answer.onEvent = x.raw.event
		x.raw.missing = cmp.Or(x.raw.missing, x.answer.unread)
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	if _, upgraded := resp.Body.(io.Writer); upgraded {
		// A connection, and no answer any more.
		x.answer.unread = "upgraded connection not read"
		x.end(io.EOF, x.received)
		return
	}
	resp.Body = &body{ReadCloser: resp.Body, exchange: x}
}

func (x *exchange) good() bool { return x.status >= 200 && x.status < 300 }

// read takes bytes of the body as they pass.
func (x *exchange) read(p []byte, at time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return
	}
	switch {
	case x.good():
		x.answer.write(p, at)
	case x.answer.unread == "":
		keep := min(len(p), max(0, x.t.config.maxError-len(x.errorBody)))
		x.errorBody = append(x.errorBody, p[:keep]...)
	}
	if x.raw != nil && (!x.good() || !x.answer.streamed) {
		x.raw.text(p, at)
	}
}

// errClosed stands for a body that the caller closed.
var errClosed = errors.New("the body was closed before its end")

// fail ends an exchange that got no response.
func (x *exchange) fail(err error) {
	if err == io.EOF {
		// The server closed the connection before it answered: no proper end of a body.
		err = io.ErrUnexpectedEOF
	}
	x.end(err, x.elapsed())
}

// end finishes the span, once. The error is what reading ended with; io.EOF is the proper end.
func (x *exchange) end(err error, at time.Duration) {
	x.mu.Lock()
	first := !x.ended
	x.ended = true
	if err != io.EOF && x.closing.Load() {
		err = errClosed
	}
	x.mu.Unlock()
	switch {
	case !first:
	case x.redirected():
		x.span.SetAttributes(conv.HTTPResponseStatusCode(x.status))
		x.span.End(trace.WithTimestamp(x.started.Add(at)))
	default:
		// Nobody else touches the answer any more, and the caller's Done may use the body.
		x.finish(x.result(err, at))
	}
}

// redirected tells an answer that sends the request elsewhere, as http.Client follows it.
func (x *exchange) redirected() bool {
	switch x.status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return !x.call.NoRedirects && x.header.Get("Location") != ""
	}
	return false
}

// result makes out what became of the request.
func (x *exchange) result(err error, at time.Duration) (result Result, ignored string) {
	result = Result{SpanContext: x.span.SpanContext(), Start: x.started, End: at, Headers: x.received}
	a := &x.answer
	if x.status != 0 && x.good() && (err == io.EOF || err == errClosed && a.complete()) {
		err = io.EOF
		a.end(at)
	}
	used := a.usage()
	result.InputTokens, result.OutputTokens = used.input, used.output
	result.FirstChunk, result.LastChunk = a.first, a.last
	result.Failure = x.failure(err)
	if result.Failure != nil {
		result.Outcome = semconv.OutcomeError
		return result, ""
	}
	record, ignored, err := a.stats.record()
	switch {
	case err != nil:
		result.Outcome, result.CorruptReason = semconv.OutcomeCorruptStats, err.Error()
	case record == nil:
		result.Outcome = semconv.OutcomeNoStats
	default:
		record.CompletionTokens = used.output
		result.Record, result.Outcome = record, semconv.OutcomeVerified
		if record.ZeroStep() {
			result.Outcome = semconv.OutcomeZeroStep
		}
	}
	return result, cmp.Or(a.unread, ignored)
}

// failure is why the request failed, or nil.
func (x *exchange) failure(err error) *Failure {
	switch {
	case x.status != 0 && !x.good():
		f := &Failure{Code: x.status, Type: strconv.Itoa(x.status), Message: http.StatusText(x.status)}
		if len(x.errorBody) > 0 {
			f.Message = cleaned(string(x.errorBody), x.t.config.maxError)
		}
		return f
	case x.answer.failure != nil:
		f := *x.answer.failure
		if f.Type == semconv.ErrorEvent {
			f.Message = cleaned(f.Message, x.t.config.maxError)
			if f.Message == "" {
				f.Message = "the server sent an error"
			}
		}
		return &f
	case err == io.EOF:
		return nil
	}
	kind := x.errorType(err)
	if in, ok := errors.AsType[*url.Error](err); ok {
		// The URL may have a key in it.
		err = in.Err
	}
	return &Failure{Type: kind, Message: cleaned(err.Error(), maxMessage)}
}

// errorType tells why there was no whole answer. A caller that cancels with a cause gets that cause as the error, so
// the context is asked too.
func (x *exchange) errorType(err error) string {
	var timeout net.Error
	switch {
	case err == errClosed, errors.Is(err, context.Canceled), errors.Is(x.ctx.Err(), context.Canceled):
		return semconv.ErrorCancelled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(x.ctx.Err(), context.DeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return semconv.ErrorTimeout
	}
	return semconv.ErrorConnection
}

// maxMessage bounds error texts, in bytes.
const maxMessage = 1024
