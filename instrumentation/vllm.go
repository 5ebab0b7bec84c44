package instrumentation

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// vllmMerged reads vLLM's shape since pull request 48915 (server flag --per-request-spec-decode-metrics): at the root
// of the response, in a stream on the chunk that has the usage.
var vllmMerged = &adapter{
	engine: semconv.EngineVLLM,
	keys:   []string{"metrics", "speculative_decoding"},
	decode: func(raw json.RawMessage) (*acceptance.Record, string, error) {
		m, r, err := decodeVLLM(raw)
		if err != nil {
			return nil, "", err
		}
		if r.Histogram, err = m.counts("acceptance_histogram"); err != nil {
			return nil, "", err
		}
		if !m.has(joint) {
			return r, "", nil
		}
		r.ByDraftLength, err = decodeByDraftLength(m.get(joint))
		if err == nil {
			err = r.CheckByDraftLength()
		}
		if err != nil {
			r.ByDraftLength = nil
			return r, fmt.Sprintf("%s: %v", joint, err), nil
		}
		return r, "", nil
	},
}

// joint is the member of newer builds (pull request 56278) that counts steps by draft length and accepted tokens.
const joint = "acceptance_histogram_by_draft_length"

// decodeVLLM reads what both shapes of vLLM have in common. The means and rates that they send are not read: they
// follow from the counts.
func decodeVLLM(raw json.RawMessage) (members, *acceptance.Record, error) {
	m, ok := decodeMembers(raw)
	if !ok {
		return nil, nil, fmt.Errorf("is no object (%s)", clip(raw))
	}
	r := &acceptance.Record{Engine: semconv.EngineVLLM}
	steps, err := m.count("num_spec_steps")
	if err != nil {
		return nil, nil, err
	}
	r.Steps = acceptance.Some(steps)
	if r.Accepted, err = m.count("num_accepted_draft_tokens"); err != nil {
		return nil, nil, err
	}
	if r.Drafted, err = m.count("num_draft_tokens"); err != nil {
		return nil, nil, err
	}
	if r.MaxDraft, err = m.optionalCount("num_spec_tokens"); err != nil {
		return nil, nil, err
	}
	if r.StepAccepted, err = m.optionalCounts("per_step_accepted"); err != nil {
		return nil, nil, err
	}
	if r.StepDrafted, err = m.optionalCounts("per_step_drafted"); err != nil {
		return nil, nil, err
	}
	return m, r, nil
}

// maxJoint bounds the draft length of a joint histogram: its size grows with the square.
const maxJoint = 64

// decodeByDraftLength reads rows by draft length: an object with the lengths as keys, or an array from length 0.
func decodeByDraftLength(raw json.RawMessage) (acceptance.ByDraftLength, error) {
	rows, ok := decodeMembers(raw)
	if !ok {
		if len(raw) == 0 || raw[0] != '[' {
			return nil, fmt.Errorf("is no object (%s)", clip(raw))
		}
		for d, row := range elements(raw) {
			if d > maxJoint {
				return nil, fmt.Errorf("has rows above %d", maxJoint)
			}
			rows = append(rows, member{[]byte(strconv.Itoa(d)), row})
		}
	}
	var joint acceptance.ByDraftLength
	for _, row := range rows {
		d, err := parseIndex(string(row.key), maxJoint)
		if err != nil {
			return nil, err
		}
		if isNull(row.value) {
			continue
		}
		counts, err := parseCounts(string(row.key), row.value)
		if err != nil {
			return nil, err
		}
		for len(joint) <= d {
			joint = append(joint, make(acceptance.Histogram, len(joint)+1))
		}
		if len(counts) > d+1 {
			return nil, fmt.Errorf("row %d has %d columns", d, len(counts))
		}
		copy(joint[d], counts)
	}
	return joint, nil
}

// parseIndex reads a number of draft tokens that is the key of an object.
func parseIndex(key string, max int) (int, error) {
	j, err := strconv.Atoi(key)
	if err != nil || j < 0 || strconv.Itoa(j) != key {
		return 0, fmt.Errorf("key %q is no number of tokens", clip([]byte(key)))
	}
	if j > max {
		return 0, fmt.Errorf("key %d is above %d", j, max)
	}
	return j, nil
}
