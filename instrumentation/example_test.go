package instrumentation_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/specdecode/otel/instrumentation"
)

// A client gets the transport, and everything else stays as it was.
func ExampleNewTransport() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],
			"metrics":{"speculative_decoding":{"acceptance_histogram":[1,0,2],"num_spec_steps":3,
			"num_accepted_draft_tokens":4,"num_draft_tokens":6,"num_spec_tokens":2}}}`)
	}))
	defer server.Close()

	client := &http.Client{Transport: instrumentation.NewTransport(server.Client().Transport)}

	// Only who wants the figures in the program itself needs a Call; spans and metrics come without.
	ctx := instrumentation.ContextWithCall(context.Background(), &instrumentation.Call{Done: func(r instrumentation.Result) {
		length, _ := r.Record.Triple().Length()
		fmt.Printf("%s: %.2f tokens per step\n", r.Outcome, length)
	}})
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(`{"model":"m"}`))
	resp, err := client.Do(r)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	// Output: verified: 2.33 tokens per step
}
