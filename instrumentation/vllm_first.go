package instrumentation

import (
	"encoding/json"
	"fmt"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// vllmFirst reads the first shape that vLLM had (server flag --per-request-spec-decode-stats): on each choice, with a
// sparse histogram; in a stream on the chunk that has the choice's finish_reason.
var vllmFirst = &adapter{
	engine:   semconv.EngineVLLM,
	onChoice: true,
	keys:     []string{"speculative_decoding_stats"},
	decode: func(raw json.RawMessage) (*acceptance.Record, string, error) {
		m, r, err := decodeVLLM(raw)
		if err != nil {
			return nil, "", err
		}
		r.Histogram, err = decodeSparse("acceptance_histogram", m.get("acceptance_histogram"))
		return r, "", err
	},
}

// decodeSparse reads a histogram that is an object with the numbers of accepted tokens as keys.
func decodeSparse(key string, raw json.RawMessage) (acceptance.Histogram, error) {
	if len(raw) == 0 {
		return nil, fmt.Errorf("%s %w", key, errMissing)
	}
	sparse, ok := decodeMembers(raw)
	if !ok {
		return nil, fmt.Errorf("%s is no object (%s)", key, clip(raw))
	}
	h := acceptance.Histogram{}
	for _, bucket := range sparse {
		j, err := parseIndex(string(bucket.key), acceptance.MaxDraftLength)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		n, err := parseCount(bucket.value)
		if err != nil {
			return nil, fmt.Errorf("%s[%d] %w", key, j, err)
		}
		for len(h) <= j {
			h = append(h, 0)
		}
		h[j] = n
	}
	return h, nil
}
