package instrumentation

import (
	"encoding/json"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// llama-server and mlx-vlm send the same names at the root of the response; mlx-vlm adds the number of its rounds,
// which are its verify steps.
var (
	llamaCPP = &adapter{
		engine: semconv.EngineLlamaCPP,
		keys:   []string{"timings"},
		claims: func(m members) bool { return drafted(m) && !m.has(mlxRounds) && !m.has(mlxKind) },
		decode: func(raw json.RawMessage) (*acceptance.Record, string, error) {
			// No steps: predicted_n - draft_n_accepted counts those that drafted nothing, too.
			_, r, err := decodeTimings(semconv.EngineLlamaCPP, raw)
			return r, "", err
		},
	}
	mlxVLM = &adapter{
		engine: semconv.EngineMLXVLM,
		keys:   []string{"timings"},
		claims: func(m members) bool { return drafted(m) && (m.has(mlxRounds) || m.has(mlxKind)) },
		decode: func(raw json.RawMessage) (*acceptance.Record, string, error) {
			m, r, err := decodeTimings(semconv.EngineMLXVLM, raw)
			if err != nil {
				return nil, "", err
			}
			r.Steps, err = m.optionalCount(mlxRounds)
			return r, "", err
		},
	}
)

const (
	timingsDrafted  = "draft_n"
	timingsAccepted = "draft_n_accepted"
	mlxRounds       = "draft_rounds"
	mlxKind         = "draft_kind"
)

// drafted tells timings with a draft from those without: the names stand for nothing else.
func drafted(m members) bool { return m.has(timingsDrafted) || m.has(timingsAccepted) }

func decodeTimings(engine string, raw json.RawMessage) (members, *acceptance.Record, error) {
	m, _ := decodeMembers(raw)
	r := &acceptance.Record{Engine: engine}
	var err error
	if r.Drafted, err = m.count(timingsDrafted); err != nil {
		return nil, nil, err
	}
	r.Accepted, err = m.count(timingsAccepted)
	return m, r, err
}
