package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	conv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/specdecode/otel/instrumentation"
	"github.com/specdecode/otel/loadgen/dataset"
	"github.com/specdecode/otel/semconv"
)

// phase is a part of a run. It ends after a number of requests or after a time, whichever comes first; 0 of either is
// no limit.
type phase struct {
	name     string
	index    int
	prompts  *dataset.Source
	requests int64
	duration time.Duration
}

// load sends requests in a closed loop: each of its workers sends the next one when the answer to the last one has
// been read.
type load struct {
	config *config
	client *http.Client
	now    func() time.Time
	// stop ends a phase when it is closed: no more requests are sent, and those in flight are finished.
	stop <-chan struct{}
}

// run sends the requests of a phase and returns when all of them have ended. When the context is done, those in flight
// are cancelled. The error is one of building a request.
func (l *load) run(ctx context.Context, p phase, t *tally) error {
	workers := int64(l.config.Concurrency)
	if p.requests > 0 {
		workers = min(workers, p.requests)
	}
	q := &queue{load: l, phase: p, started: l.now()}
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			// What is read is thrown away: the transport has looked at it.
			buffer := make([]byte, 32<<10)
			for {
				index, ok := q.next(ctx, t)
				if !ok {
					return
				}
				if errs[w] = l.send(ctx, p, index, t, buffer); errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// queue hands out the numbers of a phase's requests, in order.
type queue struct {
	*load
	phase   phase
	started time.Time

	mu   sync.Mutex
	sent int64
}

func (q *queue) next(ctx context.Context, t *tally) (index int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-q.stop:
		return 0, false
	case <-ctx.Done():
		return 0, false
	default:
	}
	if q.phase.requests > 0 && q.sent == q.phase.requests {
		return 0, false
	}
	if q.phase.duration > 0 && q.now().Sub(q.started) >= q.phase.duration {
		return 0, false
	}
	q.sent++
	t.issue()
	return q.sent - 1, true
}

// send sends one request and reads its answer to the end. What became of it is counted by way of the transport.
func (l *load) send(ctx context.Context, p phase, index int64, t *tally, buffer []byte) error {
	prompt := p.prompts.Prompt(index)
	call := &instrumentation.Call{Phase: p.name, NoRedirects: true, Done: t.add}
	ctx, cancel := context.WithTimeout(instrumentation.ContextWithCall(ctx, call), l.config.Timeout)
	defer cancel()
	r, err := l.config.newRequest(ctx, prompt.Text, index)
	if err != nil {
		return err
	}
	call.Attributes = []attribute.KeyValue{
		semconv.RunPhaseIndexKey.Int(p.index),
		semconv.RequestIndexKey.Int64(index),
		semconv.RequestIDKey.String(r.Header.Get("X-Request-Id")),
		semconv.RequestCorrelationIDKey.String(r.Header.Get("X-Correlation-ID")),
		semconv.RequestTurnKey.Int(0),
		semconv.RequestIssuedKey.Int64(l.now().UnixNano()),
		conv.GenAIConversationID(uuid.NewString()),
	}
	if prompt.Category != "" {
		call.Attributes = append(call.Attributes, semconv.RequestCategoryKey.String(prompt.Category))
	}
	resp, err := l.client.Do(r)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	for err == nil {
		_, err = resp.Body.Read(buffer)
	}
	return nil
}

// idleTimeout closes connections before the server does: uvicorn closes idle ones after 5 s, and a POST that meets the
// closing is not sent again.
const idleTimeout = 4 * time.Second

// newTransport returns the connections to the server.
func newTransport(c *config) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 0
	t.MaxIdleConnsPerHost = c.Concurrency
	t.IdleConnTimeout = idleTimeout
	// A compressed stream comes in other pieces than those that the engine sends.
	t.DisableCompression = true
	return t
}

// newClient returns a client that does not follow redirects: the request that follows would be another one with the
// same number.
func newClient(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
