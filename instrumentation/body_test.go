package instrumentation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	nooptrace "go.opentelemetry.io/otel/trace/noop"
)

// roundTrip is a base transport that answers by itself.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// send posts to a base transport and returns the response and where the result will be.
func send(t *testing.T, base roundTrip, opts ...Option) (*http.Response, *Result, error) {
	result := &Result{}
	ctx := ContextWithCall(context.Background(), &Call{Done: func(r Result) {
		require.Empty(t, result.Outcome, "the second result")
		*result = r
	}})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://x/v1/completions", strings.NewReader(`{}`))
	require.NoError(t, err)
	opts = append(opts, WithTracerProvider(nooptrace.NewTracerProvider()))
	resp, err := NewTransport(base, opts...).RoundTrip(r)
	return resp, result, err
}

func answerWith(status int, body io.ReadCloser) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
	}
}

// waitingBody waits in Read until it is closed, and then gives an error of its own, as net/http does.
type waitingBody struct {
	reading, closed chan struct{}
	closes          int
}

func (b *waitingBody) Read([]byte) (int, error) {
	close(b.reading)
	<-b.closed
	return 0, errors.New("read on closed response body")
}

func (b *waitingBody) Close() error {
	if b.closes++; b.closes == 1 {
		close(b.closed)
	}
	return fmt.Errorf("close %d", b.closes)
}

// waitingCloser lets its Close return only when the Read that it woke has.
type waitingCloser struct {
	*waitingBody
	readDone chan struct{}
}

func (b waitingCloser) Close() error {
	err := b.waitingBody.Close()
	<-b.readDone
	return err
}

// A Read that Close has woken says nothing about the connection: the caller gave up. The inner errors pass.
func TestCloseWhileReading(t *testing.T) {
	inner := waitingCloser{&waitingBody{reading: make(chan struct{}), closed: make(chan struct{})}, make(chan struct{})}
	resp, result, err := send(t, answerWith(200, inner))
	require.NoError(t, err)
	go func() {
		defer close(inner.readDone)
		_, err := resp.Body.Read(make([]byte, 1))
		if err == nil || err.Error() != "read on closed response body" {
			t.Errorf("the reader got %v", err)
		}
	}()
	<-inner.reading
	require.EqualError(t, resp.Body.Close(), "close 1")
	require.EqualError(t, resp.Body.Close(), "close 2")
	require.Equal(t, "cancelled", result.Failure.Type)
}

// An answer that has said its last word is a whole one, also when the caller stops there.
func TestCloseAfterTheEnd(t *testing.T) {
	for name, c := range map[string]struct{ request, stream, want string }{
		"responses":  {`{}`, sse(`{"type":"response.output_text.delta","delta":"x"}`, `{"type":"response.completed","response":{"status":"completed"}}`), "no_stats"},
		"completion": {`{"prompt":"a"}`, sse(`{"content":"h","stop":false}`, `{"content":"","stop":true,"timings":{"draft_n":4,"draft_n_accepted":2}}`), "verified"},
		"batch":      {`{"prompt":["a","b"]}`, sse(`{"index":0,"content":"h","stop":true,"timings":{"draft_n":4,"draft_n_accepted":2}}`), "error"},
		"running":    {`{}`, sse(`{"type":"response.created","response":{"status":"in_progress"}}`), "error"},
	} {
		var result Result
		ctx := ContextWithCall(context.Background(), &Call{Done: func(r Result) { result = r }})
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://x/v1/responses", strings.NewReader(c.request))
		require.NoError(t, err)
		resp, err := NewTransport(answerWith(200, io.NopCloser(strings.NewReader(c.stream)))).RoundTrip(r)
		require.NoError(t, err)
		_, err = resp.Body.Read(make([]byte, len(c.stream)))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, c.want, result.Outcome, name)
	}
}

// Bytes that come together with an error count, and both reach the caller.
func TestBytesWithError(t *testing.T) {
	broken := errors.New("broken")
	for err, want := range map[error]string{io.EOF: "verified", broken: "error"} {
		stream := "data: " + strings.Join(streamEvents, "\n\ndata: ")
		resp, result, _ := send(t, answerWith(200, io.NopCloser(&bytesAndError{stream, err})))
		p := make([]byte, len(stream))
		n, got := resp.Body.Read(p)
		require.Equal(t, stream, string(p[:n]))
		require.Equal(t, err, got)
		require.Equal(t, want, result.Outcome)
	}
}

type bytesAndError struct {
	bytes string
	err   error
}

func (b *bytesAndError) Read(p []byte) (int, error) { return copy(p, b.bytes), b.err }

// A caller that cancels with a cause of its own has cancelled.
func TestCancelledWithCause(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		stream(w, streamEvents[1])
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(context.Background())
	resp, err := f.post(t, ctx, "/v1/chat/completions", `{}`)
	require.NoError(t, err)
	enough := errors.New("enough")
	cancel(enough)
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, enough)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, "cancelled", f.result.Failure.Type)
	require.Equal(t, "enough", f.result.Failure.Message)
}

type connection struct{ io.ReadWriteCloser }

// Bases that answer in uncommon ways, or break their contract, meet a caller's own handling and not ours.
func TestUncommonAnswers(t *testing.T) {
	resp, result, err := send(t, answerWith(200, nil))
	require.NoError(t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Empty(t, b)
	require.Equal(t, "truncated_stream", result.Failure.Type)

	for status, want := range map[int]string{101: "error", 200: "no_stats"} {
		inner := connection{}
		resp, result, err = send(t, answerWith(status, inner))
		require.NoError(t, err)
		require.Equal(t, inner, resp.Body, "an upgraded connection is handed on as it is")
		require.Equal(t, want, result.Outcome)
	}

	resp, result, err = send(t, func(*http.Request) (*http.Response, error) { return nil, nil })
	require.NoError(t, err)
	require.Nil(t, resp)
	require.Equal(t, "connection_error", result.Failure.Type)
}

// closeCounter is a request's body, without GetBody.
type closeCounter struct {
	io.Reader
	closes int
}

func (c *closeCounter) Close() error {
	c.closes++
	return nil
}

// The base gets a body that it can read and close, and closing reaches the caller's.
func TestRequestBodyIsClosed(t *testing.T) {
	refused := errors.New("refused")
	for name, base := range map[string]roundTrip{
		"read": func(r *http.Request) (*http.Response, error) {
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
			return nil, refused
		},
		"unread": func(r *http.Request) (*http.Response, error) { r.Body.Close(); return nil, refused },
	} {
		for _, limit := range []int{1, 1000} {
			body := &closeCounter{Reader: strings.NewReader(`{"model":"m"}`)}
			r, err := http.NewRequest(http.MethodPost, "http://x/completions", body)
			require.NoError(t, err)
			_, err = NewTransport(base, WithMaxBody(limit)).RoundTrip(r)
			require.ErrorIs(t, err, refused)
			require.Equal(t, 1, body.closes, name)
			require.Same(t, body, r.Body)
		}
	}
}

// What we cannot read of a request is not a reason to fail it.
func TestRequestWithoutCopy(t *testing.T) {
	for name, getBody := range map[string]func() (io.ReadCloser, error){
		"no copy":     func() (io.ReadCloser, error) { return nil, errors.New("no copy") },
		"broken copy": func() (io.ReadCloser, error) { return io.NopCloser(errorReader{errors.New("broken")}), nil },
	} {
		var got string
		base := roundTrip(func(r *http.Request) (*http.Response, error) {
			b, err := io.ReadAll(r.Body)
			got = string(b)
			return nil, errors.Join(err, io.ErrUnexpectedEOF)
		})
		r, err := http.NewRequest(http.MethodPost, "http://x/completions", strings.NewReader(`{"model":"m"}`))
		require.NoError(t, err)
		r.GetBody = getBody
		_, err = NewTransport(base).RoundTrip(r)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, `{"model":"m"}`, got, name)
	}
}

// A request that lacks what a request needs is the base's to refuse.
func TestRequestThatIsNone(t *testing.T) {
	refused := errors.New("refused")
	base := roundTrip(func(*http.Request) (*http.Response, error) { return nil, refused })
	full, err := http.NewRequest(http.MethodPost, "http://x/completions", nil)
	require.NoError(t, err)
	for _, r := range []*http.Request{{Method: http.MethodPost}, {Method: http.MethodPost, URL: full.URL}} {
		_, err := NewTransport(base, WithTracerProvider(sdktrace.NewTracerProvider()), WithPropagators(propagation.TraceContext{})).RoundTrip(r)
		require.ErrorIs(t, err, refused)
	}
}

// One transport serves many requests at once; none is lost or counted twice.
func TestConcurrentRequests(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("X-Kind") {
		case "0":
			stream(w, streamEvents...)
		case "1":
			io.WriteString(w, wholeBody)
		default:
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer server.Close()
	base := http.DefaultTransport.(*http.Transport).Clone()
	defer base.CloseIdleConnections()
	reader := sdkmetric.NewManualReader()
	client := &http.Client{Transport: NewTransport(base, WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))}

	const workers, each = 8, 30
	var verified, failed atomic.Int64
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for i := range each {
				ctx := ContextWithCall(context.Background(), &Call{Done: func(r Result) {
					switch r.Outcome {
					case "verified":
						verified.Add(1)
					case "error":
						failed.Add(1)
					}
				}})
				body := fmt.Sprintf(`{"model":"m%d"}`, worker%2)
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("X-Kind", fmt.Sprint(i%3))
				resp, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, workers*each*2/3, verified.Load())
	require.EqualValues(t, workers*each/3, failed.Load())

	var rm metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &rm))
	counts := map[string]int64{}
	for _, m := range rm.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "spec_decode.requests" {
			for _, p := range sum.DataPoints {
				model, _ := p.Attributes.Value(attribute.Key("gen_ai.request.model"))
				outcome, _ := p.Attributes.Value(attribute.Key("spec_decode.request.outcome"))
				counts[model.AsString()+" "+outcome.AsString()] += p.Value
			}
		}
	}
	require.Equal(t, map[string]int64{"m0 verified": 80, "m1 verified": 80, "m0 error": 40, "m1 error": 40}, counts)
}

// Done may use the body: the exchange is over.
func TestDoneMayCloseTheBody(t *testing.T) {
	var resp *http.Response
	calls := 0
	ctx := ContextWithCall(context.Background(), &Call{Done: func(Result) {
		calls++
		resp.Body.Close()
	}})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://x/v1/completions", nil)
	require.NoError(t, err)
	resp, err = NewTransport(answerWith(200, io.NopCloser(strings.NewReader(sse(streamEvents...))))).RoundTrip(r)
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 1, calls)
}
