package simulator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/specdecode/otel/semconv"
)

// DefaultMaxDraft is how many tokens a step drafts at most unless the configuration says otherwise.
const DefaultMaxDraft = 4

// maxRequest bounds a request's body, in bytes.
const maxRequest = 64 << 20

// Config is how the engine behaves.
type Config struct {
	// Engine is whose form answers have, one of [Engines]; "" for vLLM's.
	Engine string
	// Seed makes the answers; servers with the same seed give the same ones.
	Seed uint64
	// MaxDraft is k, the most tokens that a step drafts; 0 for [DefaultMaxDraft].
	MaxDraft int
	// Detailed adds what each step drafted and accepted to the record.
	Detailed bool
	// StepDelay is how long a step takes; 0 for no time at all.
	StepDelay time.Duration
}

// Server is a simulated engine. It answers POST /v1/chat/completions, POST /v1/completions, GET /v1/models and
// GET /health.
type Server struct {
	config  Config
	builtin map[string]string
	mux     *http.ServeMux
	shape   shape
}

// New returns an engine. It panics when the configuration names one that is not in [Engines].
func New(c Config) *Server {
	if c.MaxDraft <= 0 {
		c.MaxDraft = DefaultMaxDraft
	}
	s := &Server{config: c, builtin: builtinCategories(), mux: http.NewServeMux(), shape: shapes[cmp.Or(c.Engine, semconv.EngineVLLM)]}
	if s.shape == nil {
		panic("simulator: no engine " + c.Engine)
	}
	s.mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, true) })
	s.mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, false) })
	s.mux.HandleFunc("GET /v1/models", models)
	s.mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]string{"detail": "Not Found"})
	})
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// A shape puts an answer into the form in which an engine sends it.
type shape func(*Config, *request, *answer) reply

// reply is an answer in an engine's form.
type reply struct {
	// body is the answer when it is not streamed.
	body any
	// events are the answer when it is streamed, without the last one, [DONE].
	events []event
	// steps is how many passes of the model the body took.
	steps int
}

// event is one event of a stream.
type event struct {
	data any
	// step is set when a pass of the model comes before the event.
	step bool
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request, chat bool) {
	q := &request{chat: chat}
	if err := q.read(w, r); err != nil {
		writeJSON(w, err.Code, map[string]any{"error": err})
		return
	}
	reply := s.shape(&s.config, q, s.generate(q))
	if q.Stream {
		s.stream(r.Context(), w, reply.events)
		return
	}
	if s.work(r.Context(), reply.steps) {
		writeJSON(w, http.StatusOK, reply.body)
	}
}

// read takes the request from its body and headers.
func (q *request) read(w http.ResponseWriter, r *http.Request) *apiError {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &apiError{Message: err.Error(), Type: "RequestEntityTooLarge", Code: http.StatusRequestEntityTooLarge}
	}
	if err == nil {
		err = json.Unmarshal(body, q)
	}
	if err != nil {
		return &apiError{Message: "JSON decode error: " + err.Error(), Type: "Bad Request", Code: http.StatusBadRequest}
	}
	id := r.Header.Get("X-Request-Id")
	if id == "" {
		id = fmt.Sprintf("%016x", rand.Uint64())
	}
	if q.id = "cmpl-" + id; q.chat {
		q.id = "chatcmpl-" + id
	}
	return q.check()
}

// stream sends events as they come about. A client that has gone away ends it.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, events []event) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flusher := http.NewResponseController(w)
	send := func(data []byte) bool {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
			return false
		}
		return flusher.Flush() == nil
	}
	for _, e := range events {
		if e.step && !s.work(ctx, 1) || !send(marshal(e.data)) {
			return
		}
	}
	send([]byte("[DONE]"))
}

// work takes the time of some steps. It returns false when the client has gone away.
func (s *Server) work(ctx context.Context, steps int) bool {
	if s.config.StepDelay > 0 {
		t := time.NewTimer(time.Duration(steps) * s.config.StepDelay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

func models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
		map[string]any{"id": "simulated", "object": "model", "owned_by": "vllm", "root": "simulated", "parent": nil},
	}})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(marshal(body)) // Nobody is there to be told that the client has gone away.
}

// marshal encodes what this package makes, which always has a form in JSON.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
