package collectorexporter

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// schemaVersion is the version of AIPerf's summary that this one follows.
const schemaVersion = "1.4"

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	key   string
	value any
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

// writeJSON writes the run's summary as one JSON object, metrics at the root by their tags.
func writeJSON(w io.Writer, s *Summary) error {
	o := object{
		{"schema_version", schemaVersion},
		{"benchmark_id", s.RunID},
	}
	if s.ToolVersion != "" {
		o.add("tool_version", s.ToolVersion)
	}
	o = append(o, members(s.Figures)...)
	if s.Histogram != nil && s.hasStats() {
		o.add("pooled_spec_decode_acceptance_histogram", s.Histogram)
	}
	o.add("spec_decode_coverage", s.Coverage)
	if s.Warmup != nil {
		o.add("warmup_metrics", members(s.Warmup))
	}
	if s.Config != nil {
		o.add("input_config", s.Config)
	}
	o.add("was_cancelled", s.Cancelled)
	o.add("is_complete", s.IncompleteReason == "")
	if s.IncompleteReason != "" {
		o.add("incomplete_reason", s.IncompleteReason)
	}
	errors := s.Errors
	if errors == nil {
		errors = []ErrorCount{}
	}
	o.add("error_summary", errors)
	if !s.Start.IsZero() {
		o.add("start_time", isoTime(s.Start))
		o.add("end_time", isoTime(s.End))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(o)
}

func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// members are the figures as members of an object.
func members(figures []Figure) object {
	var o object
	for _, f := range figures {
		value := object{{"unit", f.unit}, {"avg", f.avg()}}
		if s := f.Stats; s != nil {
			for i, q := range percents {
				value.add(fmt.Sprintf("p%d", q), s.percentiles[i])
			}
			value = append(value, object{
				{"min", s.Min}, {"max", s.Max}, {"std", s.Std}, {"count", s.Count}, {"sum", s.Sum},
			}...)
		}
		o.add(f.tag, value)
	}
	return o
}
