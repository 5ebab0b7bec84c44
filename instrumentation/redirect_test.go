package instrumentation

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
)

func redirect(t *testing.T) *fixture {
	return newFixture(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/old") {
			http.Redirect(w, r, strings.Replace(r.URL.Path, "/old", "/new", 1), http.StatusTemporaryRedirect)
			return
		}
		io.WriteString(w, wholeBody)
	})
}

// A redirect that is followed leads to one outcome, that of the request which follows with the same body.
func TestRedirectFollowed(t *testing.T) {
	f := redirect(t)
	resp, err := f.post(t, context.Background(), "/old/v1/chat/completions", `{"model":"m"}`)
	require.Equal(t, wholeBody, drain(t, resp, err))
	require.Equal(t, `{"model":"m"}`, f.body)
	require.Equal(t, "verified", f.result.Outcome)
	spans := f.spans.Ended()
	require.Len(t, spans, 2)
	require.Equal(t, codes.Unset, spans[0].Status().Code)
	require.Contains(t, spans[0].Attributes(), attribute.Int("http.response.status_code", 307))
	for i, outcomes := range []int{0, 1} {
		n := 0
		for _, a := range spans[i].Attributes() {
			if a.Key == "spec_decode.request.outcome" {
				n++
			}
		}
		require.Equal(t, outcomes, n)
	}
}

// To a caller that does not follow redirects, one is a failed request.
func TestRedirectNotFollowed(t *testing.T) {
	f := redirect(t)
	f.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	var result Result
	ctx := ContextWithCall(context.Background(), &Call{NoRedirects: true, Done: func(r Result) { result = r }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.server.URL+"/old/v1/chat/completions", strings.NewReader(`{}`))
	require.NoError(t, err)
	resp, err := f.client.Do(r)
	drain(t, resp, err)
	require.Equal(t, &Failure{307, "307", "Temporary Redirect"}, result.Failure)
	span, a := f.span(t)
	require.Equal(t, codes.Error, span.Status().Code)
	require.Equal(t, "error", a["spec_decode.request.outcome"])
}

// A 304 leads nowhere.
func TestNoRedirect(t *testing.T) {
	f := newFixture(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNotModified) })
	resp, err := f.post(t, context.Background(), "/v1/chat/completions", `{}`)
	drain(t, resp, err)
	require.Equal(t, "304", f.result.Failure.Type)
}

// The address of a request may have a key in it, and a transport's error may quote the address.
func TestErrorWithoutURL(t *testing.T) {
	_, result, err := send(t, func(*http.Request) (*http.Response, error) {
		return nil, &url.Error{Op: "Post", URL: "http://h/v1/completions?key=SECRET", Err: errors.New("refused")}
	})
	require.ErrorContains(t, err, "SECRET")
	require.Equal(t, &Failure{0, "connection_error", "refused"}, result.Failure)
}

// Reading the request's body waits no longer than the request may take.
func TestBodyThatDoesNotCome(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	body, never := io.Pipe()
	defer never.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://h/v1/completions", body)
	require.NoError(t, err)
	_, err = NewTransport(roundTrip(func(r *http.Request) (*http.Response, error) {
		_, err := io.ReadAll(r.Body)
		return nil, err
	})).RoundTrip(r)
	require.ErrorIs(t, err, io.ErrClosedPipe)
}
