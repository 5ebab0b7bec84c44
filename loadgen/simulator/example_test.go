package simulator_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/specdecode/otel/loadgen/simulator"
)

func ExampleNew() {
	server := httptest.NewServer(simulator.New(simulator.Config{Seed: 1}))
	defer server.Close()
	resp, err := http.Post(server.URL+"/v1/completions", "application/json", strings.NewReader(`{"model": "m", "prompt": "hello", "max_tokens": 1}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	var answer struct {
		Metrics struct {
			SpeculativeDecoding struct {
				NumSpecSteps  int `json:"num_spec_steps"`
				NumSpecTokens int `json:"num_spec_tokens"`
			} `json:"speculative_decoding"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v\n", answer.Metrics.SpeculativeDecoding)
	http.DefaultClient.CloseIdleConnections()
	// Output: {NumSpecSteps:0 NumSpecTokens:4}
}
