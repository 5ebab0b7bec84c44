package instrumentation

import (
	"encoding/json"
	"fmt"

	"github.com/specdecode/otel/semconv"
	"github.com/specdecode/otel/semconv/acceptance"
)

// SGLang sends the same keys in three places: at the root of the OpenAI endpoints' responses when the request asks for
// them (pull request 33518), on each choice in some builds, and at the root of the native endpoint /generate.
var (
	sglangDetails = &adapter{engine: semconv.EngineSGLang, keys: []string{"sglext", "spec_tokens_details"}, claims: claimsSGLang, decode: decodeSGLang}
	sglangChoice  = &adapter{engine: semconv.EngineSGLang, onChoice: true, keys: []string{"meta_info"}, claims: claimsSGLang, decode: decodeSGLang}
	sglangNative  = &adapter{engine: semconv.EngineSGLang, keys: []string{"meta_info"}, claims: claimsSGLang, decode: decodeSGLang}
)

// The names that builds of SGLang have given each count, the newest first.
var (
	sglangAccepted  = []string{"spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num"}
	sglangDrafted   = []string{"spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num"}
	sglangHistogram = []string{"spec_correct_drafts_histogram", "spec_acceptance_histogram", "spec_accept_histogram"}
)

const sglangSteps = "spec_verify_ct"

// anyOf is the first of the names that the object has, or the newest one when it has none.
func (m members) anyOf(names []string) string {
	for _, name := range names {
		if m.has(name) {
			return name
		}
	}
	return names[0]
}

// claimsSGLang tells stats from other members of the same place. The server fills in zeros for what it does not know,
// so that no verify step means no stats.
func claimsSGLang(m members) bool {
	return m.has(sglangSteps) && string(m.get(sglangSteps)) != "0" && m.has(m.anyOf(sglangAccepted))
}

// decodeSGLang reads the counts. The rate and the length that SGLang sends are not read: older ones count the bonus
// token, and the length is of tokens per step. The bound k is not reported.
func decodeSGLang(raw json.RawMessage) (*acceptance.Record, string, error) {
	m, ok := decodeMembers(raw)
	if !ok {
		return nil, "", fmt.Errorf("is no object (%s)", clip(raw))
	}
	r := &acceptance.Record{Engine: semconv.EngineSGLang}
	steps, err := m.count(sglangSteps)
	if err != nil {
		return nil, "", err
	}
	r.Steps = acceptance.Some(steps)
	if r.Accepted, err = m.count(m.anyOf(sglangAccepted)); err != nil {
		return nil, "", err
	}
	if r.Drafted, err = m.count(m.anyOf(sglangDrafted)); err != nil {
		return nil, "", err
	}
	r.Histogram, err = m.counts(m.anyOf(sglangHistogram))
	return r, "", err
}
