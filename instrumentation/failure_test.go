package instrumentation

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
)

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		opts    []Option
		want    Failure
	}{
		"status": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(429)
			io.WriteString(w, "slow\x1b[31m\ndown, please")
		},
			[]Option{WithErrorBody(15)}, Failure{429, "429", "slow\uFFFD[31m dow"}},
		"status alone": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) }, []Option{WithErrorBody(15)}, Failure{503, "503", "Service Unavailable"}},
		"event": {func(w http.ResponseWriter, r *http.Request) {
			stream(w, streamEvents[1], `{"error":{"message":"engine died","code":500}}`, streamEvents[5], "[DONE]")
		}, []Option{WithErrorBody(100)}, Failure{500, "error_event", "engine died"}},
		"event with a text":  {func(w http.ResponseWriter, r *http.Request) { stream(w, `{"error":"engine died"}`) }, []Option{WithErrorBody(100)}, Failure{0, "error_event", "engine died"}},
		"body with an error": {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"error":{"code":7,"type":"x"}}`) }, []Option{WithErrorBody(100)}, Failure{7, "error_event", `{"code":7,"type":"x"}`}},
		"encoded status": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "zstd")
			w.WriteHeader(500)
			io.WriteString(w, "\x28\xb5\x2f\xfd")
		}, []Option{WithErrorBody(100)}, Failure{500, "500", "Internal Server Error"}},
		"negative limits": {func(w http.ResponseWriter, r *http.Request) { stream(w, `{"error":"engine died"}`, "[DONE]") },
			[]Option{WithErrorBody(-1), WithPerStep(-1), WithChunkGaps(-1)}, Failure{0, "error_event", "the server sent an error"}},
		"event without leave": {func(w http.ResponseWriter, r *http.Request) { stream(w, `{"error":"engine died"}`) }, nil, Failure{0, "error_event", "the server sent an error"}},
		"truncated":           {func(w http.ResponseWriter, r *http.Request) { stream(w, streamEvents[:4]...) }, nil, Failure{0, "truncated_stream", "the stream ended without finish_reason and without [DONE]"}},
		"no JSON":             {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") }, nil, Failure{0, "invalid_body", "the body is no JSON object"}},
		"empty":               {func(w http.ResponseWriter, r *http.Request) {}, nil, Failure{0, "invalid_body", "the body is no JSON object"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.handler, c.opts...)
			resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{"model":"m","stream":true}`)
			drain(t, resp, err)
			require.Equal(t, "error", f.result.Outcome)
			require.Equal(t, c.want, *f.result.Failure)
			require.Nil(t, f.result.Record)
			span, a := f.span(t)
			require.Equal(t, codes.Error, span.Status().Code)
			require.Equal(t, c.want.Type, a["error.type"])
			require.NotContains(t, a, "spec_decode.steps")
		})
	}
}

func TestBrokenConnections(t *testing.T) {
	hang := make(chan struct{})
	wait := func(w http.ResponseWriter, r *http.Request) {
		stream(w, streamEvents[:2]...)
		select {
		case <-r.Context().Done():
		case <-hang:
		}
	}
	defer close(hang)

	t.Run("cancelled", func(t *testing.T) {
		f := newFixture(t, wait)
		ctx, cancel := context.WithCancel(context.Background())
		resp, err := f.post(t, ctx, "/v1/chat/completions", `{}`)
		require.NoError(t, err)
		cancel()
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, context.Canceled)
		resp.Body.Close()
		require.Equal(t, "cancelled", f.result.Failure.Type)
		f.span(t)
	})
	t.Run("timeout", func(t *testing.T) {
		f := newFixture(t, wait)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		resp, err := f.post(t, ctx, "/v1/chat/completions", `{}`)
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		resp.Body.Close()
		require.Equal(t, "timeout", f.result.Failure.Type)
	})
	t.Run("closed early", func(t *testing.T) {
		f := newFixture(t, wait)
		resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		resp.Body.Close()
		require.Equal(t, "cancelled", f.result.Failure.Type)
		_, a := f.span(t)
		require.Contains(t, a, "spec_decode.response.headers")
	})
	t.Run("refused", func(t *testing.T) {
		f := newFixture(t, wait)
		f.server.Close()
		_, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
		require.Error(t, err)
		require.Equal(t, "connection_error", f.result.Failure.Type)
		f.span(t)
	})
	t.Run("no answer", func(t *testing.T) {
		f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
		_, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, "connection_error", f.result.Failure.Type)
	})
	t.Run("broken off", func(t *testing.T) {
		f := newFixture(t, func(w http.ResponseWriter, r *http.Request) {
			stream(w, streamEvents[:6]...)
			panic(http.ErrAbortHandler)
		})
		resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.Error(t, err)
		resp.Body.Close()
		require.Equal(t, "connection_error", f.result.Failure.Type)
	})
}

// Clients that stop reading when they have seen [DONE], or a whole JSON value, have had a whole answer.
func TestClosedAfterTheLastWord(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"stream": func(w http.ResponseWriter, r *http.Request) { stream(w, append(streamEvents, ": end")...) },
		"body":   func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, wholeBody+"\n") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, handler)
			resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
			require.NoError(t, err)
			var read bytes.Buffer
			for p := make([]byte, 1); !strings.Contains(read.String(), "[DONE]\n\n") && read.String() != wholeBody; {
				n, err := resp.Body.Read(p)
				require.NoError(t, err)
				read.Write(p[:n])
			}
			require.NoError(t, resp.Body.Close())
			require.Equal(t, "verified", f.result.Outcome)
		})
	}
}
