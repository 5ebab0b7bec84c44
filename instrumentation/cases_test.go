package instrumentation

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// responseCase is a response and what must come of it. The cases are real bug reports made small, and bodies of a
// real vLLM 0.32.
type responseCase struct {
	Name, Note  string
	Status      int
	ContentType string `json:"content_type"`
	Body        string
	Expect      struct {
		Outcome string
		Record  map[string]any
	}
}

func cases(t testing.TB, file string) []responseCase {
	f, err := os.Open("testdata/cases/" + file)
	require.NoError(t, err)
	defer f.Close()
	var list []responseCase
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var c responseCase
		require.NoError(t, json.Unmarshal(s.Bytes(), &c))
		list = append(list, c)
	}
	require.NoError(t, s.Err())
	return list
}

// check holds a result against what the case expects.
func (c *responseCase) check(t require.TestingT, outcome string, record *acceptance.Record) {
	require.Equal(t, c.Expect.Outcome, outcome, c.Name)
	if c.Expect.Outcome != semconv.OutcomeVerified {
		// A record without steps is not written down in the cases; any other outcome has no record.
		require.Equal(t, c.Expect.Outcome == semconv.OutcomeZeroStep, record != nil && record.ZeroStep(), c.Name)
		return
	}
	b, err := json.Marshal(record)
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(b, &got))
	delete(got, joint)
	require.Equal(t, c.Expect.Record, got, c.Name)
}

// Every case through a real server and client: the outcome is right and the caller has every byte.
func TestCases(t *testing.T) {
	var current responseCase
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", current.ContentType)
		w.WriteHeader(current.Status)
		io.WriteString(w, current.Body)
	}))
	defer server.Close()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: NewTransport(transport)}
	for _, file := range []string{"responses.jsonl", "vllm-0.32.jsonl"} {
		for _, current = range cases(t, file) {
			var result Result
			ctx := ContextWithCall(context.Background(), &Call{Done: func(r Result) { result = r }})
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(`{"model":"m"}`))
			require.NoError(t, err)
			resp, err := client.Do(r)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, current.Body, string(body), current.Name)
			current.check(t, result.Outcome, result.Record)
			require.NoError(t, resp.Body.Close())
		}
	}
}

// read runs a case's response, its body in parts, through the body that the caller reads, up to its end.
func read(c *responseCase, transport *Transport, parts ...string) (result Result) {
	call := &Call{Done: func(r Result) { result = r }}
	x := &exchange{t: transport, call: call, request: &request{endpoint: endpoints[0]}, ctx: context.Background(), span: noop.Span{}, started: time.Now()}
	resp := &http.Response{StatusCode: c.Status, Header: http.Header{"Content-Type": {c.ContentType}}, Body: &partsBody{parts}}
	x.respond(resp)
	p := make([]byte, len(strings.Join(parts, "")))
	for {
		if _, err := resp.Body.Read(p); err != nil {
			return result
		}
	}
}

// partsBody is a body that gives one part in each Read.
type partsBody struct{ parts []string }

func (b *partsBody) Read(p []byte) (n int, err error) {
	if len(b.parts) == 0 {
		return 0, io.EOF
	}
	n = copy(p, b.parts[0])
	b.parts = b.parts[1:]
	return n, nil
}

func (b *partsBody) Close() error { return nil }

// The result does not depend on where the bytes are cut. Of a long stream, cut at every byte, the events are compared:
// the rest sees nothing else.
func TestCasesCutAtEveryByte(t *testing.T) {
	list := append(cases(t, "responses.jsonl"), cases(t, "vllm-0.32.jsonl")...)
	every := 1
	if testing.Short() || raceEnabled {
		// The race detector has nothing to find here and makes this ten times slower.
		every = 61
	}
	const long = 4096
	work := make(chan *responseCase)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			transport := NewTransport(nil)
			for c := range work {
				if c.ContentType == "text/event-stream" && len(c.Body) > long {
					c.cutEvents(t, every)
					continue
				}
				for cut := 0; cut < len(c.Body); cut += every {
					result := read(c, transport, c.Body[:cut], c.Body[cut:])
					c.check(t, result.Outcome, result.Record)
				}
			}
		})
	}
	for i := range list {
		work <- &list[i]
	}
	close(work)
	wg.Wait()
}

// cutEvents compares the events of a stream in two parts with those of the whole.
func (c *responseCase) cutEvents(t *testing.T, every int) {
	var whole []string
	e := events{max: DefaultMaxBody}
	keep := func(event []byte) { whole = append(whole, string(event)) }
	e.write([]byte(c.Body), keep, nil)
	e.end(keep)
	body := []byte(c.Body)
	for cut := 0; cut < len(body); cut += every {
		rest := whole
		a := newAnswer(newConfig(nil))
		a.streamed = true
		a.onEvent = func(event []byte, _ time.Duration) {
			if len(rest) == 0 || rest[0] != string(event) {
				t.Errorf("%s cut at %d: another event", c.Name, cut)
				return
			}
			rest = rest[1:]
		}
		a.write(body[:cut], 1)
		a.write(body[cut:], 1)
		a.end(1)
		if len(rest) > 0 {
			t.Errorf("%s cut at %d: %d events are missing", c.Name, cut, len(rest))
		}
	}
}

// The caller gets the same bytes in the same reads as without us, wherever they are cut.
func TestBytesPassUnchanged(t *testing.T) {
	transport := NewTransport(nil)
	for _, c := range cases(t, "responses.jsonl") {
		for cut := 1; cut < len(c.Body); cut++ {
			x := &exchange{t: transport, call: &Call{}, request: &request{endpoint: endpoints[0]}, ctx: context.Background(), span: noop.Span{}}
			resp := &http.Response{StatusCode: c.Status, Header: http.Header{"Content-Type": {c.ContentType}},
				Body: io.NopCloser(io.MultiReader(strings.NewReader(c.Body[:cut]), strings.NewReader(c.Body[cut:])))}
			x.respond(resp)
			p := make([]byte, len(c.Body))
			n, err := resp.Body.Read(p)
			require.NoError(t, err)
			require.Equal(t, c.Body[:cut], string(p[:n]))
			n, err = resp.Body.Read(p)
			require.NoError(t, err)
			require.Equal(t, c.Body[cut:], string(p[:n]))
			_, err = resp.Body.Read(p)
			require.Equal(t, io.EOF, err)
		}
	}
}
