package instrumentation

import (
	"encoding/json"
	"fmt"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// tensorRTLLM reads TensorRT-LLM's shape (pull request 19311; per_request_spec_decode_stats in the server's YAML): on
// each choice; in a stream on the chunk that has the choice's finish_reason. avg_decoded_tokens_per_iter beside it
// counts iterations without a draft too and is not read.
var tensorRTLLM = &adapter{
	engine:   semconv.EngineTensorRTLLM,
	onChoice: true,
	keys:     []string{"speculative_decoding"},
	decode: func(raw json.RawMessage) (*acceptance.Record, string, error) {
		m, ok := decodeMembers(raw)
		if !ok {
			return nil, "", fmt.Errorf("is no object (%s)", clip(raw))
		}
		r := &acceptance.Record{Engine: semconv.EngineTensorRTLLM}
		steps, err := m.count("num_spec_steps")
		if err != nil {
			return nil, "", err
		}
		r.Steps = acceptance.Some(steps)
		if r.Accepted, err = m.count("total_accepted_draft_tokens"); err != nil {
			return nil, "", err
		}
		if r.Drafted, err = m.count("total_draft_tokens"); err != nil {
			return nil, "", err
		}
		// null under a schedule of draft lengths.
		if r.MaxDraft, err = m.optionalCount("num_spec_tokens"); err != nil {
			return nil, "", err
		}
		r.Histogram, err = m.counts("acceptance_histogram")
		return r, "", err
	},
}
