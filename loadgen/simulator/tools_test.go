package simulator_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/specdecode/otel/loadgen/simulator"
)

type toolMessage struct {
	Content   *string
	ToolCalls []struct {
		Type     string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// A request that offers a tool gets a call of it, the same whole and in a stream.
func TestToolCalls(t *testing.T) {
	for _, name := range simulator.Engines() {
		t.Run(name, func(t *testing.T) {
			e := start(t, simulator.Config{Engine: name})
			request := chat("hello").with("tools", []any{body{"type": "function", "function": body{"name": "run"}}}).with("seed", 3)
			var whole struct {
				Choices []struct {
					Message      toolMessage
					FinishReason string `json:"finish_reason"`
				}
			}
			_, _, got := e.post("/v1/chat/completions", request)
			require.NoError(t, json.Unmarshal([]byte(got), &whole))
			choice := whole.Choices[0]
			require.Equal(t, "tool_calls", choice.FinishReason)
			require.Nil(t, choice.Message.Content)
			require.Len(t, choice.Message.ToolCalls, 1)
			call := choice.Message.ToolCalls[0].Function
			require.Equal(t, "run", call.Name)
			var arguments struct{ Text string }
			require.NoError(t, json.Unmarshal([]byte(call.Arguments), &arguments))
			require.NotEmpty(t, arguments.Text)

			var joined, named string
			_, _, got = e.post("/v1/chat/completions", streamed(request))
			for _, data := range e.events(got) {
				var chunk struct {
					Choices []struct{ Delta toolMessage }
				}
				if json.Unmarshal([]byte(data), &chunk) != nil || len(chunk.Choices) == 0 {
					continue
				}
				for _, part := range chunk.Choices[0].Delta.ToolCalls {
					named += part.Function.Name
					joined += part.Function.Arguments
				}
			}
			require.Equal(t, "run", named)
			require.Equal(t, call.Arguments, joined)
		})
	}
}
