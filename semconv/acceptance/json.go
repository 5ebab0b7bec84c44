package acceptance

import "encoding/json"

// MarshalJSON gives the form of the record in profile_export.jsonl. Absent figures are absent members.
func (r *Record) MarshalJSON() ([]byte, error) {
	var out struct {
		Engine           string      `json:"engine"`
		Length           *float64    `json:"mean_acceptance_length,omitempty"`
		Rate             *float64    `json:"draft_acceptance_rate,omitempty"`
		Histogram        *Histogram  `json:"acceptance_histogram,omitempty"`
		Accepted         int64       `json:"num_accepted_draft_tokens"`
		Drafted          int64       `json:"num_draft_tokens"`
		Steps            *int64      `json:"num_spec_steps,omitempty"`
		MaxDraft         *int64      `json:"num_spec_tokens,omitempty"`
		CompletionTokens *int64      `json:"completion_tokens,omitempty"`
		StepAccepted     []int64     `json:"per_step_accepted,omitempty"`
		StepDrafted      []int64     `json:"per_step_drafted,omitempty"`
		ByDraftLength    []Histogram `json:"acceptance_histogram_by_draft_length,omitempty"`
	}
	out.Engine = r.Engine
	t := r.Triple()
	out.Length = present(t.Length())
	out.Rate = present(t.Rate())
	if r.Histogram != nil {
		out.Histogram = &r.Histogram
	}
	out.Accepted, out.Drafted = r.Accepted, r.Drafted
	out.Steps = present(r.Steps.Get())
	out.MaxDraft = present(r.MaxDraft.Get())
	out.CompletionTokens = present(r.CompletionTokens.Get())
	out.StepAccepted, out.StepDrafted = r.StepAccepted, r.StepDrafted
	out.ByDraftLength = r.ByDraftLength
	return json.Marshal(out)
}

// present turns a value that may be absent into a member that may be left out.
func present[T any](v T, ok bool) *T {
	if !ok {
		return nil
	}
	return &v
}
